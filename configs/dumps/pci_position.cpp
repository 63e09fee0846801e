#include "configs/dumps/pci_position.hpp"

#include <charconv>

#include "configs/dumps/facts.hpp"

namespace lanecast {
namespace {

/// Takes a hexadecimal number and the character behind it off the front of `text`.
bool take_number(std::string_view& text, std::uint32_t& number, char behind) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, 16);
  if (error != std::errc() || (behind == '\0' ? stop != end : stop == end || *stop != behind)) return false;
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()) + (behind == '\0' ? 0 : 1));
  return true;
}

}  // namespace

std::optional<PciPosition> pci_position(const std::string& address) {
  PciPosition position;
  std::string_view rest = address;
  if (take_number(rest, position.domain, ':') && take_number(rest, position.bus, ':') &&
      take_number(rest, position.device, '.') && take_number(rest, position.function, '\0'))
    return position;
  return std::nullopt;
}

bool is_before(const std::string& a, const std::string& b) {
  const auto first = pci_position(a), second = pci_position(b);
  if (first && second && *first != *second) return *first < *second;
  if (first.has_value() != second.has_value()) return first.has_value();
  return a < b;
}

std::string card_of(const std::string& address) { return address.substr(0, address.rfind('.')); }

std::string bus_in_domain_of(const std::string& address, int bus) {
  constexpr const char* digits = "0123456789abcdef";
  const std::string domain = address.substr(0, address.find(':'));
  const unsigned number = static_cast<unsigned>(bus) & 0xffU;
  return domain + ":" + digits[number / 16] + digits[number % 16];
}

}  // namespace lanecast
