#pragma once
#include <vector>

#include "model/topology/machine.hpp"

namespace lanecast {

/// Ranks arranged so that those who are near each other are neighbours.
struct Groups {
  std::vector<int> order;  // GPU indices, group after group
  int group_ranks = 1;     // of each; all of them where no level divides them equally

  int groups() const { return static_cast<int>(order.size()) / group_ranks; }
};

/// Groups for a hierarchical algorithm: the coarsest level at which there are two groups or more, all of the
/// same size and of two ranks or more. Levels, coarsest first: sockets, NUMA nodes, NVLink islands, root
/// complexes, and three levels of switches below the root. One group where there is none.
/// @param keep_order  the ranks' order stands: groups have to be neighbours in it already
Groups equal_groups(const Machine& machine, const std::vector<int>& ranks, bool keep_order);

}  // namespace lanecast
