#pragma once
#include "model/implementation/nccl/environment.hpp"
#include "model/implementation/nccl/version_rules.hpp"
#include "model/units.hpp"

namespace lanecast {

/// Most threads of a block, without Simple's sync warps: 512, LL128, NVLS and PAT 640; Ring with Simple 256
/// where the ring's bus counts 12 GB/s or less. NCCL_NTHREADS and NCCL_LL128_NTHREADS go before that.
///
/// @param ring_bus  of all search channels together
/// Source: facts.md A2, A5.2.
int most_threads(const NcclRules& rules, NcclAlgorithm algorithm, Protocol protocol, BytesPerSecond ring_bus,
                 const NcclEnvironment& environment);

/// Bytes for each thread of each channel below which a call gets fewer of them: LL 8 a rank on Ring, 8 on
/// Tree, LL128 8, Simple 64; or NCCL_THREAD_THRESHOLDS (facts.md A5.3).
Bytes thread_threshold(NcclAlgorithm algorithm, Protocol protocol, int ranks,
                       const NcclEnvironment& environment);

/// Blocks of one call on each GPU.
struct NcclBlocks {
  int channels = 1;      // before the work is split, which may leave some of them empty
  int threads = 512;     // that move data: Simple's sync warps are apart
  int sync_threads = 0;  // Ring Simple 32, Tree Simple 128
};

/// What NCCL starts for a call: channels go down to 1 first, then threads are halved while 128 divides them,
/// as long as there is less than the threshold for each thread. No block has fewer than 96 threads, sync
/// warps included; Tree's always have the most. NVLS keeps its channels and threads.
///
/// @param size      as Call::size
/// @param channels  connected ones (Ring, Tree), or NVLS's own
/// @param ring_bus  of all search channels together
/// Source: facts.md A5.3 (NVIDIA/nccl src/enqueue.cc topoGetAlgoInfo).
NcclBlocks nccl_blocks(const NcclRules& rules, NcclAlgorithm algorithm, Protocol protocol, Bytes size,
                       int ranks, int channels, BytesPerSecond ring_bus, const NcclEnvironment& environment);

/// Threads of one strand of a block in which data go up and down a tree at the same time: with Simple half
/// go up (64 more from 256 on), with LL and LL128 70 % in whole warps, for reducing from up to three is the
/// heavier part.
/// @param threads  of the block
/// @param strand   0: up; 1: down. A single strand has all threads.
/// Source: NVIDIA/nccl src/device/all_reduce.h (runTreeSplit).
int strand_threads(Protocol protocol, int threads, int strand, int strands);

}  // namespace lanecast
