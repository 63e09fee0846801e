#include "reports/grid.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lanecast {
namespace {

constexpr std::size_t kWidestColumn = 40;

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

/// Characters, not bytes: every byte of UTF-8 that does not continue a character begins one.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

std::string padded(const std::string& text, std::size_t width) {
  const std::size_t have = width_of(text);
  return (have < width ? std::string(width - have, ' ') : std::string()) + text;
}

std::string without_controls(const std::string& text) {
  std::string clean = text;
  std::replace_if(clean.begin(), clean.end(), is_control, '?');
  return clean;
}

std::string single_word(const std::string& text) {
  std::string word = without_controls(text);
  std::replace(word.begin(), word.end(), ' ', '_');
  return word.empty() ? "-" : word;
}

std::string markdown_cell(const std::string& text) {
  static constexpr const char* kSpecial = "\\|*`<>[]";
  std::string cell;
  for (const char c : text) {
    if (is_control(c)) {
      cell += ' ';
      continue;
    }
    if (std::string_view(kSpecial).find(c) != std::string_view::npos) cell += '\\';
    cell += c;
  }
  return cell;
}

std::string csv_field(const nlohmann::ordered_json& value) {
  if (value.is_null()) return "";
  if (value.is_array()) {
    std::string joined;
    for (const auto& item : value) joined += (joined.empty() ? "" : "-") + csv_field(item);
    return joined;
  }
  if (!value.is_string()) return value.dump();
  const std::string text = value.get<std::string>();
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string aligned_line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) line += (i == 0 ? "" : "  ") + padded(cells[i], widths[i]);
  return line;
}

}  // namespace

std::string aligned_text(const Grid& grid) {
  std::vector<std::string> names;
  std::vector<std::string> units;
  std::vector<std::size_t> widths;
  for (const Column& column : grid.columns) {
    names.push_back(column.name);
    units.push_back(column.unit);
    widths.push_back(std::max({column.min_width, width_of(column.name), width_of(column.unit)}));
  }
  std::vector<std::vector<std::string>> rows = grid.rows;
  for (auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] = single_word(row[i]);
      widths[i] = std::max(widths[i], width_of(row[i]));
    }
  }
  widths.front() += 1;  // room for the `#` of the head
  std::string text;
  for (std::vector<std::string>* head : {&names, &units}) {
    std::string line = aligned_line(*head, widths);
    line.front() = '#';
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  for (const auto& row : rows) text += aligned_line(row, widths) + "\n";
  return text;
}

std::string left_aligned_text(const Grid& grid) {
  std::vector<std::size_t> widths(grid.columns.size());
  for (const auto& row : grid.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (width_of(row[i]) <= kWidestColumn) widths[i] = std::max(widths[i], width_of(row[i]));
    }
  }
  std::string text;
  for (const auto& row : grid.rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::size_t width = width_of(row[i]);
      line += without_controls(row[i]) + std::string(2 + (width < widths[i] ? widths[i] - width : 0), ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string markdown_text(const std::string& caption, const Grid& grid) {
  std::string head = "|";
  std::string rule = "|";
  for (const Column& column : grid.columns) {
    head += " " + markdown_cell(column.unit.empty() ? column.name : column.name + " " + column.unit) + " |";
    rule += column.number ? " ---: |" : " --- |";
  }
  std::string text = markdown_cell(caption) + "\n\n" + head + "\n" + rule + "\n";
  for (const auto& row : grid.rows) {
    text += "|";
    for (const std::string& cell : row) text += " " + markdown_cell(cell) + " |";
    text += "\n";
  }
  return text;
}

std::string markdown_item(const std::string& line) {
  const bool inner = line.rfind("  ", 0) == 0;
  return (inner ? "  - " + markdown_cell(line.substr(2)) : "- " + markdown_cell(line)) + "\n";
}

std::string comment_line(const std::string& text) {
  return (text.empty() ? "#" : "# ") + without_controls(text) + "\n";
}

std::string csv_line(const std::vector<nlohmann::ordered_json>& fields) {
  std::string line;
  for (std::size_t i = 0; i < fields.size(); ++i) line += (i == 0 ? "" : ",") + csv_field(fields[i]);
  return line + "\n";
}

}  // namespace lanecast
