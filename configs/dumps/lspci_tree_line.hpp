#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "configs/dumps/lspci_text.hpp"

namespace lanecast {

/// A line of `lspci -t` as columns, one character each: tabs expanded to multiples of 8, box-drawing
/// characters as `-`, `|`, `+` and `\`, no-break spaces as blanks.
std::string tree_columns(std::string_view line);

/// The column at which a line branches off the trunks (`|`) to its left, or at which a whole tree or a part
/// of one (`lspci -t -s`) begins. Nothing for a line that is none of a tree's.
std::optional<std::size_t> tree_begin(std::string_view columns);

/// Whether a line that begins like one of a tree ends within a word or within brackets.
bool is_unfinished(std::string_view columns);

/// Joins the lines of a tree that a terminal or a mail program has wrapped. Hard wrapping shows itself by
/// lines of exactly one width that are followed by what is no line of a tree.
class TreeLines {
 public:
  struct Line {
    std::string columns;
    int number = 1;
    bool whole = true;
  };

  explicit TreeLines(std::string_view text);

  /// The next line that begins like one of a tree, with its continuations.
  std::optional<Line> next();

 private:
  std::optional<Line> take();
  bool continues(const std::string& columns) const;

  PastedLines lines_;
  std::size_t width_ = 0;  // of hard-wrapped lines; 0: none
  std::optional<Line> pending_;
  std::size_t last_piece_ = 0;  // width of the last piece of the pending line
  int pieces_ = 0;
};

/// `[0000:80]`, or `[80]` of releases before domains.
struct TreeBus {
  std::string domain;  // as printed; "" where it is not
  unsigned number = 0;
  std::size_t end = 0;  // the column after it
};
std::optional<TreeBus> read_tree_bus(std::string_view columns, std::size_t at);

/// `01.0`: device and function.
struct TreeFunction {
  std::string_view text;
  std::size_t end = 0;
};
std::optional<TreeFunction> read_tree_function(std::string_view columns, std::size_t at);

/// `-[81-83]` or `-[81]`: the first and the last bus below a bridge.
struct TreeRange {
  unsigned first = 0;
  unsigned last = 0;
  std::size_t end = 0;
};
std::optional<TreeRange> read_tree_range(std::string_view columns, std::size_t at);

}  // namespace lanecast
