#pragma once
#include <vector>

#include "model/implementation/nccl/path_type.hpp"

namespace lanecast {

/// Shapes that NCCL searches for. Numbers as in its graph XML (facts.md A9).
enum class GraphPattern { balanced_tree = 1, split_tree = 2, tree = 3, ring = 4, nvls = 5 };

/// What NCCL's search found, in the terms of its graph XML.
struct NcclGraph {
  GraphPattern pattern = GraphPattern::ring;
  int channels = 0;        // search channels; connecting doubles them
  double speed_intra = 0;  // GB/s of one search channel, as NCCL counts
  PathType type_intra = PathType::sys;
  bool same_channels = true;
  bool fallback = false;                 // nothing fitted: plain order at 0.1 GB/s
  int hops = 0;                          // links crossed by all channels together
  std::vector<std::vector<int>> orders;  // [search channel]: GPU indices of the machine

  /// GB/s of all search channels together.
  double bus_GBps() const { return channels * speed_intra; }
};

}  // namespace lanecast
