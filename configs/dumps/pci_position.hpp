#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace lanecast {

/// The numbers of a PCI address. Their order is the one in which nvidia-smi numbers GPUs.
struct PciPosition {
  std::uint32_t domain = 0;
  std::uint32_t bus = 0;
  std::uint32_t device = 0;
  std::uint32_t function = 0;
  auto operator<=>(const PciPosition&) const = default;
};

/// From "0000:3b:00.0"; nothing for other texts.
std::optional<PciPosition> pci_position(const std::string& address);

/// Whether `a` comes before `b` on the bus; texts that are no addresses come last, in their own order.
bool is_before(const std::string& a, const std::string& b);

/// The card part: "0000:3b:00" of "0000:3b:00.0", which all functions of a card share.
std::string card_of(const std::string& address);

/// The bus "0000:3b", from the domain of `address` and a bus number.
std::string bus_in_domain_of(const std::string& address, int bus);

}  // namespace lanecast
