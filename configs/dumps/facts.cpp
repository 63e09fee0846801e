#include "configs/dumps/facts.hpp"

#include <string_view>

namespace lanecast {
namespace {

constexpr std::size_t most_domain_digits = 8;  // PCI domains have 32 bits

std::optional<int> hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

bool all_hex(std::string_view text) {
  for (const char c : text) {
    if (!hex_digit(c)) return false;
  }
  return !text.empty();
}

/// "0000" of "00000000", "10000" of "00010000": at least four digits, lower case.
std::string domain_of(std::string_view digits) {
  while (digits.size() > 4 && digits.front() == '0') digits.remove_prefix(1);
  std::string domain(digits.size() < 4 ? 4 - digits.size() : 0, '0');
  domain += digits;
  return domain;
}

}  // namespace

std::optional<std::string> pci_address(const std::string& text) {
  constexpr std::size_t tail = 7;  // "3b:00.0"
  if (text.size() < tail || text.size() > most_domain_digits + 1 + tail) return std::nullopt;
  std::string_view domain = "0000";
  const std::string_view rest = std::string_view(text).substr(text.size() - tail);
  if (text.size() > tail) {
    const std::size_t colon = text.size() - tail - 1;
    if (text[colon] != ':') return std::nullopt;
    domain = std::string_view(text).substr(0, colon);
  }
  if (!all_hex(domain) || !all_hex(rest.substr(0, 2)) || rest[2] != ':' || !all_hex(rest.substr(3, 2)) ||
      rest[5] != '.') {
    return std::nullopt;
  }
  const bool device_fits = rest[3] == '0' || rest[3] == '1';    // 5 bits
  const bool function_fits = rest[6] >= '0' && rest[6] <= '7';  // 3 bits
  if (!device_fits || !function_fits) return std::nullopt;
  std::string address = domain_of(domain) + ":" + std::string(rest);
  for (char& c : address) {
    if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
  }
  return address;
}

std::string bus_of(const std::string& address) { return address.substr(0, address.rfind(':')); }

}  // namespace lanecast
