#pragma once
#include <string>

#include "model/topology/machine.hpp"

namespace lanecast {

/// The machine as a tree of lines, as lstopo's text form nests them: CPUs, below them root complexes,
/// switches, GPUs and network adapters; NVSwitches and socket links last.
///
/// A PCIe link stands behind the part below it: what it does and, where it differs, what it could do,
/// payload, ASPM, error counters that are not zero. Values that only a rule chose (Machine::assumed) are
/// marked
/// "(assumed)", cards that are gone "gone", links of cards that slept when read "idle". NVLinks stand below
/// their GPU. Plain ASCII but for names and models, which are made harmless (safe_text).
std::string topology_tree_text(const Machine& machine);

/// What a PCIe link does, with the marks of the tree: "Gen4 x8 (can x16), payload 256 B (assumed)".
std::string pcie_link_text(const Machine& machine, const Link& link);

/// Whether it runs below what both of its ends could do. A card that slept when its link was read is no
/// degraded one.
bool is_degraded(const Link& link);

}  // namespace lanecast
