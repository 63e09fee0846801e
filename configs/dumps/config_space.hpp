#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "configs/dumps/facts.hpp"

namespace lanecast {

/// What the configuration space of a PCI function says. Absent: it does not, or the bytes end before it.
struct ConfigSpace {
  bool gone = false;                 // all ones: nothing answers at this address any more
  bool capabilities_hidden = false;  // it has capabilities, but the bytes end before them: root reads them

  // Bridges: the first bus below, and the last
  std::optional<int> secondary_bus;
  std::optional<int> subordinate_bus;

  // PCI Express capability
  std::optional<PciePort> port;
  std::optional<Bytes> max_payload_capability;
  std::optional<Bytes> max_payload;
  std::optional<Bytes> max_read_request;
  std::optional<PcieRate> max_rate;
  std::optional<int> max_width;
  std::optional<PcieRate> rate;
  std::optional<int> width;
  std::optional<Aspm> aspm;        // in force
  std::optional<Seconds> l1_exit;  // at most so long; nothing where L1 is not supported or has no bound
  std::optional<int> slot;         // physical slot below this port, where there is one with a number

  /// Access Control Services: redirection of requests or completions is on. A port whose whole configuration
  /// space is there and lacks the capability redirects nothing.
  std::optional<bool> acs_redirect;

  // Advanced Error Reporting: one bit a kind of error since somebody cleared it; not how often
  std::optional<std::uint32_t> corrected_status;
  std::optional<std::uint32_t> uncorrected_status;
};

/// Decodes what sysfs's `config` holds: 64 bytes without root, else 256 or 4096. Any bytes are taken; walks
/// along capabilities are bounded.
/// Source: PCI Express Base Specification 5.0, sections 7.5 and 7.7, with the offsets and bits of Linux's
/// include/uapi/linux/pci_regs.h.
ConfigSpace decode_config_space(std::string_view bytes);

}  // namespace lanecast
