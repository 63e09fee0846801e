#pragma once
#include <string>
#include <string_view>

namespace lanecast {

/// A name or text from a file as it may stand in one line of a terminal: control characters (C0, DEL, C1),
/// characters that break lines or turn the direction of writing (U+2028, U+2029, U+200E, U+200F, U+202A to
/// U+202E, U+2066 to U+2069), and bytes that are no UTF-8 become `?`.
std::string safe_text(std::string_view text);

/// Quotes a word for a POSIX shell where it needs that.
std::string shell_quoted(const std::string& word);

}  // namespace lanecast
