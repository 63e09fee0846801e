#pragma once
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lanecast {

/// One column of a table that people read.
struct Column {
  std::string name;
  std::string unit;           // "(us)"; may be empty
  std::size_t min_width = 0;  // of the aligned text form
  bool number = true;         // markdown aligns numbers to the right
};

/// Cells as text: what the table and the markdown form print.
struct Grid {
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;  // each as long as `columns`
};

/// Right aligned columns two blanks apart, after a head of two lines that begin with `#`, as nccl-tests
/// prints it. Blanks within a cell become `_`, so that splitting a line at blanks finds the columns.
std::string aligned_text(const Grid& grid);

/// Left aligned columns two blanks apart without a head, for text that people read. A cell beyond forty
/// characters pushes the rest of its line to the right, not that of all lines.
std::string left_aligned_text(const Grid& grid);

/// A table of GitHub's markdown below a line that says what it is. Characters that would break a cell are
/// escaped.
std::string markdown_text(const std::string& caption, const Grid& grid);

/// A line as an item of a markdown list; one that is set in by two blanks belongs to the item above it.
std::string markdown_item(const std::string& line);

/// A comment line of a table: "# text"; control characters (a name may hold them) become `?`.
std::string comment_line(const std::string& text);

/// One line of a CSV file by RFC 4180, CRLF left to the reader's taste: it ends with LF.
/// Null is an empty field, an array is joined by `-`.
std::string csv_line(const std::vector<nlohmann::ordered_json>& fields);

}  // namespace lanecast
