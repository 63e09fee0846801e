#pragma once
#include <string>

#include "model/implementation/implementation.hpp"
#include "model/topology/machine.hpp"

namespace lanecast {

/// What kind of call it is, as far as a fit to some kinds says something of others: algorithm, protocol and
/// class of path, "ring/simple/p2p-nvlink". Classes are p2p-nvlink, p2p-pcie, shm, and mixed for several.
std::string call_kind(const ResolvedCall& resolved);

/// The narrowest PCIe link of a GPU that takes part, "gen5 x16"; "nvlink" where all data cross NVLink.
std::string call_links(const Machine& machine, const ResolvedCall& resolved);

/// Whether all ranks' paths are over host memory ("shm"), none, or some.
std::string transport_name(const ResolvedCall& resolved);

}  // namespace lanecast
