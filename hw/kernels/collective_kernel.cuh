#pragma once
#include <cstdint>

#include "hw/kernels/connections_device.cuh"
#include "hw/kernels/line_primitives_device.cuh"
#include "hw/kernels/lines_device.cuh"
#include "hw/kernels/simple_primitives_device.cuh"

namespace lanecast::device {

template <Protocol P, class T, bool Sum, bool Ring>
struct PrimitivesOf;
template <class T, bool Sum, bool Ring>
struct PrimitivesOf<Protocol::simple, T, Sum, Ring> {
  using type = SimplePrimitives<T, Sum, Ring>;
};
template <class T, bool Sum, bool Ring>
struct PrimitivesOf<Protocol::ll, T, Sum, Ring> {
  using type = LinePrimitives<T, Sum, Ring, LlLines>;
};
template <class T, bool Sum, bool Ring>
struct PrimitivesOf<Protocol::ll128, T, Sum, Ring> {
  using type = LinePrimitives<T, Sum, Ring, Ll128Lines>;
};

/// Most threads of a block: workers, and for Simple a warp for flags.
template <Protocol P>
inline constexpr int kMostThreads = P == Protocol::simple ? 512 + 32
                                    : P == Protocol::ll   ? 512
                                                          : 640;

/// Fetches all of the call at once. A launch's arguments lie in constant memory that no cache has yet:
/// fetched line by line, where each is first needed, they cost a third of a microsecond each (measured on
/// H200: docs/micro-benchmarks.md, graph_kernel_arguments).
__device__ inline void touch(const KernelCall& call) {
  constexpr unsigned kLine = 64;
  if (threadIdx.x * kLine + sizeof(std::uint32_t) > sizeof(KernelCall)) return;
  const auto* words = reinterpret_cast<const std::uint32_t*>(&call);
  asm volatile("" ::"r"(words[threadIdx.x * (kLine / sizeof(std::uint32_t))]));
}

/// A block's share of the work: blocks are strands within channels.
template <bool Ring>
__device__ inline ChannelWork work_of_block(const KernelCall& call) {
  ChannelWork work = call.work;
  if constexpr (Ring) work.schedule = Schedule::ring;
  const int channel = Ring ? static_cast<int>(blockIdx.x) : static_cast<int>(blockIdx.x) / call.strands;
  work.channel = channel;
  work.strand = Ring ? 0 : static_cast<int>(blockIdx.x) % call.strands;
  if constexpr (!Ring) work.tree = call.trees[channel % 2];
  work.offset = call.share_begins[channel];
  work.count = call.share_begins[channel + 1] - work.offset;
  return work;
}

/// Whether a strand exchanges data with a peer, this way round.
__device__ inline bool uses(const ChannelWork& work, int peer, bool receive) {
  const int steps = step_count(work);
  for (int step = 0; step < steps; ++step) {
    const Turn turn = turn_of(work, step);
    const Peers& peers = receive ? turn.from : turn.to;
    for (int i = 0; i < peers.count; ++i) {
      if (peers.at(i) == peer) return true;
    }
  }
  return false;
}

/// The way that this thread opens: the first `kMostEngineRanks` those out, the next those in; -1: none.
template <bool Ring>
__device__ inline int peer_of_thread(const ChannelWork& work) {
  const int thread = static_cast<int>(threadIdx.x);
  const int peer = thread % kMostEngineRanks;
  if (thread >= 2 * kMostEngineRanks || peer >= work.ranks || peer == work.position) return -1;
  const bool receive = thread >= kMostEngineRanks;
  if constexpr (Ring)
    return peer == (work.position + (receive ? work.ranks - 1 : 1)) % work.ranks ? peer : -1;
  return uses(work, peer, receive) ? peer : -1;
}

/// @return  bit 0: a peer is late; bit 1: its lines are scrubbed, too
template <bool Ring>
__device__ inline int open_end(const KernelCall& call, const ChannelWork& work, Ends& ends) {
  const int peer = peer_of_thread<Ring>(work);
  if (peer < 0) return 0;
  if (threadIdx.x >= kMostEngineRanks) {
    open_way_in(call, work, peer, ends.in[peer]);
    return 0;
  }
  bool scrubs = false;
  const bool late = open_way_out(call, work, peer, ends.out[peer], scrubs);
  return (late ? 1 : 0) | (scrubs ? 2 : 0);
}

/// The rare case: connections are emptied, and the lines of older calls overwritten before the flags of this
/// one could be taken for theirs. All threads.
/// @param peer   whose way out this thread opened, if `found` is not 0
__device__ __noinline__ static void clear_connections(const KernelCall* call, BlockTrouble* trouble,
                                                      Ends* ends, int channel, int peer, int found) {
  __shared__ std::uint32_t scrubs;
  if (threadIdx.x == 0) scrubs = 0;
  __syncthreads();
  if (found != 0) {
    drain(channel, BoundedWait(*call, *trouble), peer, ends->out[peer]);
    if ((found & 2) != 0) atomicOr(&scrubs, 1u << peer);
  }
  __syncthreads();
  const std::uint64_t bytes =
      call->ring ? call->layout.ring_bytes[call->protocol] : call->layout.any_bytes[call->protocol];
  for (int to = 0; to < call->work.ranks; ++to) {
    if ((scrubs >> to & 1u) == 0) continue;
    const End& end = ends->out[to];
    for (std::uint64_t at = threadIdx.x * 16; at + 16 <= bytes; at += blockDim.x * 16)
      store_line(end.fifo + at, 0, static_cast<std::uint32_t>(end.first_step));
  }
  if (scrubs != 0) fence_system();
  __syncthreads();
}

/// Runs the shared schedule: one rank's part of a call, a block for each strand of each channel.
template <Protocol P, class T, bool Sum, bool Ring>
__global__ void __launch_bounds__(kMostThreads<P>, 1)
    collective_kernel(const __grid_constant__ KernelCall call) {
  __shared__ Ends ends;
  __shared__ BlockTrouble trouble;
  __shared__ int
      was_broken;  // before this kernel; unlike `trouble` it never changes, so that all threads agree
  touch(call);
  if (threadIdx.x == 0 && call.recording.records != nullptr) call.recording.counts[blockIdx.x] = 0;
  const ChannelWork work = work_of_block<Ring>(call);
  if constexpr (!Ring) {
    if (work.strand >= strand_count(work)) return;  // the root of this channel's tree has one strand only
  }
  const int threads = static_cast<int>(blockDim.x) - (P == Protocol::simple ? 32 : 0);
  if (threadIdx.x == blockDim.x - 1) trouble.gave_up = was_broken = load_flag(call.broken) != 0 ? 1 : 0;
  const int found = open_end<Ring>(call, work, ends);
  const bool late = __syncthreads_or(found) != 0;
  const BoundedWait wait(call, trouble);
  if (was_broken != 0) return;
  if (late) clear_connections(&call, &trouble, &ends, work.channel, peer_of_thread<Ring>(work), found);
  typename PrimitivesOf<P, T, Sum, Ring>::type primitives(call, work, ends, trouble, threads);
  run_schedule(primitives, work);
  const int peer = static_cast<int>(threadIdx.x);
  if constexpr (Ring) {
    if (peer == 0) primitives.save_ring();
  } else {
    if (peer < work.ranks && peer != work.position) primitives.save(peer);
  }
}

}  // namespace lanecast::device
