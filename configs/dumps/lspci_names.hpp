#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "configs/dumps/facts.hpp"
#include "configs/dumps/lspci_text.hpp"

namespace lanecast {

/// What the name of a function tells, as `lspci` and `lspci -tv` print it: "NVIDIA Corporation AD102GL [RTX
/// 6000 Ada Generation]", with -nn "... [10de:26b1]", with -n "10de:26b1".
struct PciName {
  std::string name;  // without ids; "" where only ids are printed
  std::optional<std::uint32_t> vendor;
  std::optional<std::uint32_t> device;
  bool vendor_by_name = false;  // else by the number printed
  /// Good for its upper 8 bits: 0x030000 a GPU (Intel's for data centers 0x038000), 0x020000 a network
  /// adapter, 0x068000 an NVSwitch. Only where the name leaves no doubt: the audio, USB and UCSI functions of
  /// a GPU have none.
  std::optional<std::uint32_t> class_by_name;
  bool gone = false;  // ids of all ones: the function no longer answers
};

/// @param text   what follows the function's number (tree) or its class (list), without "(rev a1)"
/// @param whole  false: the text may be cut at its end
/// Source: the PCI ID database (pci.ids) of 2023 and its older spellings.
PciName read_pci_name(std::string_view text, bool whole);

/// Adds what the name tells, without its class. @param tool  what printed it: "lspci -t"
void state_name(PciFacts& function, const PciName& name, const Place& place, const std::string& tool);

}  // namespace lanecast
