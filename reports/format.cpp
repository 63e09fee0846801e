#include "reports/format.hpp"

namespace lanecast {

std::optional<Format> format_from_string(const std::string& text) {
  if (text == "table") return Format::table;
  if (text == "json") return Format::json;
  if (text == "csv") return Format::csv;
  if (text == "markdown") return Format::markdown;
  return std::nullopt;
}

}  // namespace lanecast
