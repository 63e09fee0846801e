#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lanecast {

/// A whole number as XML dumps print it: decimal or `0x` hexadecimal, with a sign or without. Nothing for
/// other texts and for what an `int` cannot hold.
std::optional<int> xml_number(std::string_view text);

/// A PCI class of 24 bits from "0x030200"; shorter texts, which NCCL writes where the system tells nothing,
/// hold the upper bits: "0x03" is 0x030000.
std::optional<std::uint32_t> pci_class(std::string_view text);

/// A core list ("0-23,48-71") from a mask as Linux prints it: groups of 32 bits, highest first
/// ("000000ff,ffff0000,00ffffff"). @param offset  number of the lowest bit
/// Nothing for texts that are no mask, or of more than 8192 bits; "" for an empty mask.
std::optional<std::string> core_list_of_mask(std::string_view mask, int offset = 0);

}  // namespace lanecast
