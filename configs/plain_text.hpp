#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace lanecast {

/// How to make plain text of a file, from what its first bytes give away (compressed, UTF-16); "" for text.
///
/// @param command  the command that would read the unpacked text from a pipe
std::string mend_for_start(std::string_view start, const std::string& command);

/// Reads a whole file that must be plain text; "-" is standard input. A UTF-8 mark at its begin is left out.
///
/// @param most_bytes  a larger file is refused without being held
/// @param command     as above
/// @throws Error  kind usage: cannot be read, too large, compressed, UTF-16, or with a zero byte
std::string read_plain_text(const std::string& path, std::uint64_t most_bytes, const std::string& command);

/// Refuses text that is none, as `read_plain_text` does. @param name  as messages name it
void expect_plain_text(std::string_view text, const std::string& name, const std::string& command);

}  // namespace lanecast
