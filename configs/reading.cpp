#include "configs/reading.hpp"

namespace lanecast {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks(" \t\r\n\v\f\0", 7);  // files of the kernel may end in a zero
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

std::string printable(const std::string& text) {
  constexpr std::size_t longest = 80;
  constexpr const char* hex = "0123456789abcdef";
  std::string shown;
  for (const char c : text.substr(0, longest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f) {
      shown += c;
    } else {
      shown += std::string("\\x") + hex[byte >> 4] + hex[byte & 15];
    }
  }
  return text.size() > longest ? shown + "..." : shown;
}

}  // namespace lanecast
