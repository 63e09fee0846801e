#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace lanecast {

/// The class code of the words that `lspci` prints before a name: 0x030200 of "3D controller", of "3D
/// controller [0302]" and of "0302". Its lowest 8 bits, the programming interface, are left 0: most outputs
/// do not show them. Source: the PCI ID database (pci.ids), class section.
std::optional<std::uint32_t> pci_class_of(std::string_view words);

/// Whether a class is one of GPUs and other accelerators: display controllers and processing accelerators.
bool is_accelerator_class(std::uint32_t class_code);

}  // namespace lanecast
