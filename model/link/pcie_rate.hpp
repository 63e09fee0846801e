#pragma once
#include <optional>
#include <string>

#include "model/units.hpp"

namespace lanecast {

/// PCIe generation of a link.
enum class PcieRate { gen1 = 1, gen2, gen3, gen4, gen5, gen6 };

/// "gen4"
std::string to_string(PcieRate rate);

/// From "gen4" (any case); nothing for any other text.
std::optional<PcieRate> pcie_rate_from_string(const std::string& text);

/// True for x1, x2, x4, x8, x12 and x16: the widths that the specification knows and that machines use.
bool is_pcie_width(int width);

/// Bytes per second and direction before packets: symbol rate x width x line code.
///
/// Gen1 and 2: 8b/10b. Gen3 to 5: 128b/130b. Gen6: 242 of 256 flit bytes.
/// @param width  1 to 16
/// Source: facts.md C1 (pcie-bench/pcie-model, PCI Express Base Specification).
BytesPerSecond pcie_raw_rate(PcieRate rate, int width);

}  // namespace lanecast
