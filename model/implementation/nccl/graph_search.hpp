#pragma once
#include <vector>

#include "model/implementation/nccl/graph.hpp"
#include "model/implementation/nccl/system.hpp"

namespace lanecast {

/// What a release tries, and for how long.
struct SearchRules {
  std::vector<long> speeds;      // tried downwards, thousandths of GB/s for one channel
  int most_channels = 32;        // of a search; connecting doubles them
  bool amd = false;              // the first CPU is AMD's
  bool ring_second_pass = true;  // splits fast channels, then tries more speed for rings; on AMD only equal
                                 // channels cross sockets
  bool two_for_split_nvlink = false;  // NVLink islands with a slower link between: two channels at least
  bool intel_overhead = true;         // peer traffic through an Intel host bridge takes 6/5 of PCIe links
};

/// NCCL's search for rings, or for the chains of its trees.
///
/// GPUs are placed one after the other, each directed link's budget lessened by a channel's speed on the way;
/// channels are added as long as they fit. Relaxed in order until something fits well: equal channels, class
/// of path, speed. A channel of 25 GB/s or more is split in two. A second pass tries higher speeds for the
/// same channels. Steps are counted as NCCL does: a search that runs out of them keeps what it has found.
/// @param min_channels, most_channels  of the result; for trees the ring's count
/// @return  fallback (plain order, 0.1 GB/s, SYS, one channel) where nothing fits
/// Source: facts.md A10 (NVIDIA/nccl src/graph/search.cc).
NcclGraph search_graph(const NcclSystem& system, const SearchRules& rules, GraphPattern pattern,
                       int min_channels, int most_channels);

/// What NCCL falls back to: the GPUs' order, one channel counted 0.1 GB/s, SYS.
NcclGraph plain_order(const std::vector<int>& gpus, GraphPattern pattern);

/// Heads and speed of NVLink multicast: one channel a GPU; channels 0 where there are no switches or fewer
/// than three GPUs, or they cannot multicast (below sm_90).
NcclGraph nvls_graph(const NcclSystem& system, const SearchRules& rules);

}  // namespace lanecast
