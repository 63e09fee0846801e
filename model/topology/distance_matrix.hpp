#pragma once
#include <vector>

#include "model/topology/machine.hpp"

namespace lanecast {

/// How far two nodes are apart: by the PCIe tree alone, and how many NVLinks join them besides.
struct DistanceCell {
  Distance distance = Distance::loc;  // never `nvl`
  int nvlinks = 0;                    // bonded links of the way that traffic takes; 0: none. The N of `NVN`
  bool operator==(const DistanceCell&) const = default;
};

/// What `nvidia-smi topo -m` tells of a machine, as values. Symmetric; the diagonal is `loc`.
struct TopologyMatrix {
  std::vector<NodeId> nodes;                     // GPUs that are present, then network adapters
  std::vector<std::vector<DistanceCell>> cells;  // nodes x nodes
};

/// The distances of all GPUs that are present and of all network adapters, as `pcie_distance` and
/// `nvlink_route` define them.
///
/// NVLinks of a pair: all that join the two directly; where there are none, and NVSwitches connect them,
/// those of the end that has fewer towards NVSwitches.
/// @param machine  one that check_machine accepts; the time grows as nodes squared
TopologyMatrix topology_matrix(const Machine& machine);

}  // namespace lanecast
