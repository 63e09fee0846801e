#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "configs/measured/measured_reading.hpp"

namespace lanecast {

/// A pairwise table as a tool prints it: which way its rows run, and its cells.
struct PrintedMatrix {
  std::string name;
  std::string kind;  // as MeasuredMatrix
  std::string engine;
  std::string unit;
  bool peer_access = true;
  bool row_is_destination = false;  // "GPU(row) <- GPU(column)"
  double scale = 1;                 // to the unit
  bool empty_diagonal = false;      // what stands on it is no copy between two GPUs
  int line = 0;
  std::size_t columns = 0;                      // that its header announces; 0: it has none
  std::vector<std::vector<std::string>> cells;  // as printed
  std::vector<int> lines;                       // of each row; empty: all `line`
};

/// Adds the table as source x destination. N/A is absent; what is no number, or not above 0, is a problem.
///
/// Pairwise tables must be square; h2d and d2h have one row.
void add_matrix(const PrintedMatrix& printed, MeasuredReading& reading);

/// Cells of a row "0   N/A  26.11" whose first word is its number, if that is `row`.
std::optional<std::vector<std::string>> numbered_row(const std::vector<std::string_view>& words, int row);

/// Whether words count up from 0: a header of columns.
bool counts_up(const std::vector<std::string_view>& words);

}  // namespace lanecast
