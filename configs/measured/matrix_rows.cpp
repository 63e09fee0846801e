#include "configs/measured/matrix_rows.hpp"

#include "configs/quantity.hpp"
#include "configs/reading.hpp"

namespace lanecast {
namespace {

constexpr std::size_t kMostGpus = 1024;

bool is_pairwise(const PrintedMatrix& printed) { return printed.kind != "h2d" && printed.kind != "d2h"; }

/// Whether the shape is right; else it is a problem.
bool has_shape(const PrintedMatrix& printed, MeasuredReading& reading) {
  const std::size_t rows = printed.cells.size();
  if (rows == 0) {
    reading.problem(printed.line, "a table without rows", "copy all of it");
    return false;
  }
  const std::size_t columns = printed.columns != 0 ? printed.columns : printed.cells.front().size();
  bool right = columns > 0 && rows <= kMostGpus && columns <= kMostGpus;
  for (const auto& row : printed.cells) right = right && row.size() == columns;
  if (is_pairwise(printed)) right = right && rows == columns;
  if (!is_pairwise(printed)) right = right && rows == 1;
  if (right) return true;
  reading.problem(printed.line,
                  "a table of " + std::to_string(rows) + " rows and " + std::to_string(columns) +
                      " columns is not complete",
                  is_pairwise(printed) ? "copy all of it: it has as many rows as columns"
                                       : "copy all of it: it has one row");
  return false;
}

}  // namespace

void add_matrix(const PrintedMatrix& printed, MeasuredReading& reading) {
  if (!has_shape(printed, reading)) return;
  const std::size_t rows = printed.cells.size(), columns = printed.cells.front().size();
  const bool turned = printed.row_is_destination && is_pairwise(printed);
  MeasuredMatrix matrix{printed.name, printed.kind, printed.engine,          printed.peer_access,
                        printed.unit, {},           reading.at(printed.line)};
  matrix.rows.assign(rows, std::vector<std::optional<double>>(columns));
  for (std::size_t row = 0; row < rows; ++row) {
    const int line = row < printed.lines.size() ? printed.lines[row] : printed.line;
    for (std::size_t column = 0; column < columns; ++column) {
      const std::string& text = printed.cells[row][column];
      if (text == "N/A" || text.empty() || (printed.empty_diagonal && row == column)) continue;
      const Reading<double> value = parse_number(text);
      if (!value || *value.value <= 0) {
        reading.problem(line, "`" + printable(text) + "` in a table is not a number above 0",
                        "give the table as the tool printed it; N/A is what was not measured");
        continue;
      }
      matrix.rows[turned ? column : row][turned ? row : column] = *value.value * printed.scale;
    }
  }
  reading.data.matrices.push_back(std::move(matrix));
}

std::optional<std::vector<std::string>> numbered_row(const std::vector<std::string_view>& words, int row) {
  if (words.size() < 2 || words.front() != std::to_string(row)) return std::nullopt;
  return std::vector<std::string>(words.begin() + 1, words.end());
}

bool counts_up(const std::vector<std::string_view>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] != std::to_string(i)) return false;
  }
  return !words.empty();
}

}  // namespace lanecast
