#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "configs/dumps/nvidia_smi_matrix.hpp"
#include "configs/dumps/paste_lines.hpp"

/// The parts of which nvidia_smi_matrix.cpp puts matrices together.
namespace lanecast {

struct SmiHeader {
  std::vector<std::string> names;
  std::size_t affinities = 0;  // columns behind: "CPU Affinity", "NUMA Affinity", "GPU NUMA ID"
};

struct SmiRow {
  std::string label;
  std::vector<std::string> cells;
  std::vector<std::string> after;
  bool last_is_fragment = false;  // the last cell may go on in the next line: "NO" of "NODE"
  bool unterminated = false;      // the text ends within it
};

/// One line, cut into words, and what it may be.
class SmiLine {
 public:
  SmiLine(const PasteLines& line, const SmiCellWords& vocabulary);

  int number() const { return number_; }
  const std::vector<std::string_view>& words() const { return words_; }

  /// @param goes_on  the line above is a header: names other than GPUs may begin this one
  std::optional<SmiHeader> header(bool goes_on) const;

  /// @param columns  how many cells the matrix is known to have; 0: not known
  std::optional<SmiRow> row(std::size_t columns, const std::vector<std::string>& header) const;

  /// The line as the rest of a row that was wrapped; nothing: it cannot be one.
  /// @param before  the row so far, the last word of which this line's first word may complete
  std::optional<SmiRow> rest_of_row(const SmiRow& before, std::size_t columns, std::size_t affinities) const;

  /// "r" of a command line with `-p2p r`, "" of another nvidia-smi command; nothing: no such command.
  std::optional<std::string> p2p_capability() const;

 private:
  bool is_cell(std::string_view word) const;
  bool is_fragment(std::string_view word) const;

  /// Each takes from the word `next` on. @return  the word behind the cells; whether all were affinities
  std::size_t take_cells(std::size_t next, std::size_t columns, SmiRow& row) const;
  bool take_affinities(std::size_t next, SmiRow& row) const;

  std::string text_;
  std::vector<std::string_view> words_;
  int number_ = 0;
  bool unterminated_ = false;
  const SmiCellWords& vocabulary_;
};

/// The lines of one matrix.
struct SmiBlock {
  std::vector<std::string> header;
  std::size_t affinities = 0;
  std::vector<SmiRow> rows;
  int line = 0;
  int last_line = 0;
  bool too_large = false;
  std::string capability;

  void extend_header(const SmiHeader& found);

  /// How many columns the header or, without one, the longest of the first `rows_so_far` rows has.
  std::size_t columns(std::size_t rows_so_far) const;

  bool has_row(const std::string& label) const;
  void add(SmiRow row);

  /// Takes the line as the rest of the last row. False: it is not.
  bool continue_row(const SmiLine& rest);

  /// The matrix; without names where the rows make none.
  SmiMatrix assembled() const;
};

}  // namespace lanecast
