#pragma once
#include <optional>
#include <string>

namespace lanecast {

/// How a result is printed. All formats hold the same rows.
enum class Format { table, json, csv, markdown };

/// From "table", "json", "csv", "markdown".
std::optional<Format> format_from_string(const std::string& text);

}  // namespace lanecast
