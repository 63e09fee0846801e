#pragma once
#include <map>
#include <string>

#include "model/topology/machine.hpp"

namespace lanecast {

/// The machine as a machine file. What equals its default is left out; read_machine_text gives the same
/// machine back.
///
/// @param machine  one that check_machine accepts
std::string write_machine(const Machine& machine);

/// The same for a reader who wants to know where the values come from: each on a line of its own with a
/// comment behind it.
///
/// @param comments  by path ("links.gpu0.width", "p2p.iommu", "driver"): what stands after `# `. A value that
///                  has one is written even where it equals its default.
std::string write_machine(const Machine& machine, const std::map<std::string, std::string>& comments);

}  // namespace lanecast
