#include "configs/dumps/live_hwloc.hpp"

#include <hwloc.h>

#include <memory>

#include "configs/dumps/hwloc_facts.hpp"

namespace lanecast {
namespace {

/// Plugins of hwloc that would start a graphics or compute driver, for nothing that is needed here.
constexpr const char* kUnwanted[] = {"opencl", "gl", "levelzero"};

}  // namespace

void add_live_hwloc(MachineFacts& facts) {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return facts.notes.push_back("live: hwloc does not start");
  const std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)> owner(topology,
                                                                                 hwloc_topology_destroy);
  for (const char* plugin : kUnwanted) {
    hwloc_topology_set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, plugin);
  }
  hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL);
  if (hwloc_topology_load(topology) != 0)
    return facts.notes.push_back("live: hwloc cannot read this machine");
  add_hwloc_facts(topology, "live (hwloc)", facts);
}

}  // namespace lanecast
