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

/// A block's share of the work: blocks are strands within channels.
template <bool Ring>
__device__ inline ChannelWork work_of_block(const KernelCall& call) {
  ChannelWork work = call.work;
  if constexpr (Ring) work.schedule = Schedule::ring;
  const int channel = Ring ? static_cast<int>(blockIdx.x) : static_cast<int>(blockIdx.x) / call.strands;
  work.channel = channel;
  work.strand = Ring ? 0 : static_cast<int>(blockIdx.x) % call.strands;
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

/// One thread a way opens it: the first `kMostEngineRanks` those out, the next those in.
template <bool Ring>
__device__ inline void open_ends(const KernelCall& call, const ChannelWork& work, const BoundedWait& wait,
                                 Ends& ends) {
  const int thread = static_cast<int>(threadIdx.x);
  const int peer = thread % kMostEngineRanks;
  if (thread >= 2 * kMostEngineRanks || peer >= work.ranks || peer == work.position) return;
  const bool receive = thread >= kMostEngineRanks;
  if constexpr (Ring) {
    const int neighbour = (work.position + (receive ? work.ranks - 1 : 1)) % work.ranks;
    if (peer != neighbour) return;
  } else {
    if (!uses(work, peer, receive)) return;
  }
  if (receive) {
    open_way_in(call, work, peer, ends.in[peer]);
  } else {
    open_way_out(call, work, wait, peer, ends.out[peer]);
  }
}

/// Overwrites the lines of older calls, before the flags of this one could be taken for theirs.
template <bool Ring>
__device__ inline void scrub(const KernelCall& call, const ChannelWork& work, const Ends& ends) {
  bool any = false;
  for (int peer = 0; peer < work.ranks; ++peer) {
    if (peer == work.position || ends.out[peer].scrub == 0) continue;
    any = true;
    const End& end = ends.out[peer];
    const std::uint64_t bytes =
        Ring ? call.layout.ring_bytes[call.protocol] : call.layout.any_bytes[call.protocol];
    for (std::uint64_t at = threadIdx.x * 16; at + 16 <= bytes; at += blockDim.x * 16)
      store_line(end.fifo + at, 0, static_cast<std::uint32_t>(end.first_step));
  }
  if (any) fence_system();
}

/// Runs the shared schedule: one rank's part of a call, a block for each strand of each channel.
template <Protocol P, class T, bool Sum, bool Ring>
__global__ void __launch_bounds__(kMostThreads<P>, 1)
    collective_kernel(const __grid_constant__ KernelCall call) {
  __shared__ Ends ends;
  __shared__ BlockTrouble trouble;
  const ChannelWork work = work_of_block<Ring>(call);
  const int threads = static_cast<int>(blockDim.x) - (P == Protocol::simple ? 32 : 0);
  if (threadIdx.x < kMostEngineRanks) ends.out[threadIdx.x].scrub = 0;
  if (threadIdx.x == 0) trouble.gave_up = 0;
  __syncthreads();
  if (threadIdx.x == blockDim.x - 1 && load_flag(call.broken) != 0) trouble.gave_up = 1;
  const BoundedWait wait(call, trouble);
  open_ends<Ring>(call, work, wait, ends);
  __syncthreads();
  if (wait.gave_up()) return;
  if constexpr (P == Protocol::ll) {
    scrub<Ring>(call, work, ends);
    __syncthreads();
  }
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
