#include "reports/safe_text.hpp"

#include <cstddef>
#include <cstdint>

namespace lanecast {
namespace {

/// A character and how many bytes encode it; size 0: no UTF-8.
struct Decoded {
  std::uint32_t point = 0;
  std::size_t size = 0;
};

Decoded decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < size) return {};
  std::uint32_t point = lead & (0x7fU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return {};
    point = point << 6 | (byte(i) & 0x3fU);
  }
  const bool overlong = (size == 3 && point < 0x800) || (size == 4 && point < 0x10000);
  const bool surrogate = point >= 0xd800 && point <= 0xdfff;
  return overlong || surrogate || point > 0x10ffff ? Decoded{} : Decoded{point, size};
}

bool is_harmless(std::uint32_t point) {
  if (point < 0x20 || (point >= 0x7f && point < 0xa0)) return false;
  return point != 0x200e && point != 0x200f && (point < 0x2028 || point > 0x202e) &&
         (point < 0x2066 || point > 0x2069);
}

}  // namespace

std::string safe_text(std::string_view text) {
  std::string safe;
  while (!text.empty()) {
    const Decoded next = decode(text);
    const std::size_t size = next.size == 0 ? 1 : next.size;
    if (next.size != 0 && is_harmless(next.point)) {
      safe += text.substr(0, size);
    } else {
      safe += '?';
    }
    text.remove_prefix(size);
  }
  return safe;
}

std::string shell_quoted(const std::string& word) {
  const char* plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@%+=:,./_-";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace lanecast
