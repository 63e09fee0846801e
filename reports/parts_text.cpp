#include "reports/parts_text.hpp"

#include <fmt/format.h>

namespace lanecast {

std::string parts_as_table(const std::vector<std::string>& head, const std::vector<ReportPart>& parts) {
  std::string text;
  for (const std::string& line : head) text += comment_line(line);
  for (const ReportPart& part : parts) {
    if (!part.lines.empty()) text += comment_line("");
    for (const std::string& line : part.lines) text += comment_line(line);
    for (const auto& [caption, grid] : part.tables)
      text += comment_line("") + comment_line(caption) + aligned_text(grid);
  }
  return text;
}

std::string parts_as_markdown(const std::vector<std::string>& head, const std::vector<ReportPart>& parts) {
  std::string text = fmt::format("{}; {}; {}\n", head.at(0), head.at(1), head.at(2));
  for (const ReportPart& part : parts) {
    if (!part.lines.empty()) text += "\n";
    for (const std::string& line : part.lines) text += markdown_item(line);
    for (const auto& [caption, grid] : part.tables) text += "\n" + markdown_text(caption, grid);
  }
  return text;
}

}  // namespace lanecast
