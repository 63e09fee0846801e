#pragma once
#include <string>

namespace lanecast {

/// Text in double quotes, as YAML escapes it.
std::string yaml_quoted(const std::string& text);

/// Text as YAML 1.1 and 1.2 read it back: bare where that is safe, else in double quotes.
std::string yaml_text(const std::string& text);

}  // namespace lanecast
