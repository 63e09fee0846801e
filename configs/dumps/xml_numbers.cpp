#include "configs/dumps/xml_numbers.hpp"

#include <algorithm>
#include <charconv>

namespace lanecast {
namespace {

constexpr std::size_t kGroupBits = 32;

template <class T>
bool whole_text(std::string_view text, T& value, int base) {
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc() && stop == text.data() + text.size();
}

bool begins_with_0x(std::string_view text) {
  return text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
}

}  // namespace

std::optional<int> xml_number(std::string_view text) {
  int value = 0;
  const bool hexadecimal = begins_with_0x(text);
  if (hexadecimal && text[2] == '-') return std::nullopt;
  if (!whole_text(hexadecimal ? text.substr(2) : text, value, hexadecimal ? 16 : 10)) return std::nullopt;
  return value;
}

std::optional<std::uint32_t> pci_class(std::string_view text) {
  if (begins_with_0x(text)) text.remove_prefix(2);
  std::uint32_t value = 0;
  if (text.empty() || text.size() > 6 || text.size() % 2 != 0 || !whole_text(text, value, 16))
    return std::nullopt;
  return value << (4 * (6 - text.size()));
}

std::optional<std::string> core_list_of_mask(std::string_view mask, int offset) {
  constexpr std::size_t kMostGroups = 256;
  std::string bits;  // lowest first
  while (!mask.empty()) {
    const std::size_t comma = mask.rfind(',');
    const std::string_view group = comma == std::string_view::npos ? mask : mask.substr(comma + 1);
    std::uint32_t value = 0;
    if (group.size() > 8 || !whole_text(group, value, 16)) return std::nullopt;
    for (std::size_t bit = 0; bit < kGroupBits; ++bit) bits += ((value >> bit) & 1u) != 0 ? '1' : '0';
    if (bits.size() > kMostGroups * kGroupBits || comma == 0) return std::nullopt;
    mask = comma == std::string_view::npos ? std::string_view{} : mask.substr(0, comma);
  }
  std::string list;
  for (std::size_t at = bits.find('1'); at != std::string::npos; at = bits.find('1', at)) {
    const std::size_t end = std::min(bits.find('0', at), bits.size());
    const auto core = [&](std::size_t bit) { return std::to_string(static_cast<std::size_t>(offset) + bit); };
    list += (list.empty() ? "" : ",") + core(at);
    if (end - at > 1) list += "-" + core(end - 1);
    at = end;
  }
  return list;
}

}  // namespace lanecast
