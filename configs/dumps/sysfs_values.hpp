#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/link/pcie_rate.hpp"
#include "model/units.hpp"

namespace lanecast {

/// How the kernel writes values of a PCI function. Source: facts.md F3 (Linux ABI documents
/// sysfs-bus-pci and sysfs-bus-pci-devices-aer_stats). Nothing for any other text.

/// "16.0 GT/s PCIe"; "8 GT/s" of older kernels. "Unknown" is nothing.
std::optional<PcieRate> rate_of_link_speed(std::string_view text);

/// A width that links have; 0, 63 and 255 mean that the kernel knows none.
std::optional<int> width_of_link(std::string_view text);

/// "0x10de", "0x030200".
std::optional<std::uint32_t> hex_number(std::string_view text);

/// A decimal number of at most nine digits, possibly negative, blanks around it.
std::optional<int> whole_number(std::string_view text);

/// Of a list "BadTLP 12", one kind a line, the TOTAL line, or where there is none, the sum. Names may hold
/// blanks. Too many to count are as many as can be counted.
std::optional<std::uint64_t> error_total(std::string_view text);

/// A memory window of a PCI function.
struct Window {
  Bytes size{0};
  bool assigned = false;  // it has an address
};

/// The largest 64-bit prefetchable window of `resource` ("start end flags" a line): through it others reach a
/// GPU's memory. Nothing where there is none.
/// Source: flags of Linux's include/linux/ioport.h.
std::optional<Window> memory_window(std::string_view resource);

/// "400 Gb/sec (4X NDR)" of an InfiniBand port.
std::optional<BytesPerSecond> port_rate(std::string_view text);

}  // namespace lanecast
