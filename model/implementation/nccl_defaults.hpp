#pragma once
#include <optional>

#include "model/implementation/implementation.hpp"

namespace lanecast {

/// How many blocks a call starts on each GPU, and their threads.
struct BlockShape {
  int channels = 1;
  int threads = 512;
};

/// Link rate as NCCL counts it: width x class / 80 GB/s, 12 for Gen3 x16 (facts.md A8).
double nccl_link_GBps(const Link& link);

/// Slowest PCIe link that the ring crosses, as NCCL counts it; 0 for a ring on NVLink alone.
double nccl_ring_GBps(const Machine& machine, const ResolvedCall& resolved);

/// Channels and threads of a call: forced ones as they are, else the implementation's defaults, fewer for
/// small calls.
///
/// NCCL: 24 channels over NVLink from sm_90, 12 before; over PCIe 2, or 4 where every link counts 24 GB/s or
/// more and the ring stays on one NUMA node. Simple runs 512 threads, 256 where the ring counts 12 GB/s or
/// less; small calls first drop channels, then halve threads (facts.md A5). The ring search that gives NCCL's
/// true count is not here.
BlockShape block_shape(const Machine& machine, const Implementation& implementation,
                       const ResolvedCall& resolved);

/// Chunk that the implementation takes of its own accord; absent: NCCL's, from the buffer.
std::optional<Bytes> default_chunk(const Implementation& implementation, const ResolvedCall& resolved);

}  // namespace lanecast
