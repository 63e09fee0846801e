#include "configs/reading.hpp"

namespace lanecast {

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
