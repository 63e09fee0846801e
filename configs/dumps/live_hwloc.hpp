#pragma once
#include "configs/dumps/facts.hpp"

namespace lanecast {

/// Adds what hwloc says about the running machine: the tree that sysfs shows and, where hwloc has plugins for
/// that, links between GPUs that only their drivers know. Nothing in a build of the engine alone.
void add_live_hwloc(MachineFacts& facts);

}  // namespace lanecast
