#pragma once
#include <cstdint>

#include "hw/kernels/connections_device.cuh"
#include "hw/kernels/line_primitives_device.cuh"
#include "hw/kernels/lines_device.cuh"
#include "hw/kernels/simple_primitives_device.cuh"

namespace lanecast::device {

template <Protocol P, class T, bool Sum, KernelShape Shape>
struct PrimitivesOf;
template <class T, bool Sum, KernelShape Shape>
struct PrimitivesOf<Protocol::simple, T, Sum, Shape> {
  using type = SimplePrimitives<T, Sum, Shape>;
};
template <class T, bool Sum, KernelShape Shape>
struct PrimitivesOf<Protocol::ll, T, Sum, Shape> {
  using type = LinePrimitives<T, Sum, Shape, LlLines>;
};
template <class T, bool Sum, KernelShape Shape>
struct PrimitivesOf<Protocol::ll128, T, Sum, Shape> {
  using type = LinePrimitives<T, Sum, Shape, Ll128Lines>;
};

/// Most threads of a block: workers, and for Simple a warp for flags.
template <Protocol P>
inline constexpr int kMostThreads = P == Protocol::simple ? 512 + 32
                                    : P == Protocol::ll   ? 512
                                                          : 640;

/// With a GPU of its own, a rank's next kernel comes onto it while this one still runs, and reads its
/// arguments meanwhile (programmatic dependent launch: CudaDevice::launch). Here it waits for all that the
/// stream holds before it.
__device__ inline void wait_for_stream() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// A block's share of the work: blocks are strands within channels.
template <KernelShape Shape>
__device__ inline ChannelWork work_of_block(const KernelCall& call) {
  ChannelWork work = call.work;
  int channel = static_cast<int>(blockIdx.x);
  work.strand = 0;
  if constexpr (Shape == KernelShape::ring) {
    work.schedule = Schedule::ring;
  } else if constexpr (Shape == KernelShape::one_shot) {
    work.schedule = Schedule::one_shot;
    work.collective = Collective::all_reduce;
  } else {
    work.strand = channel % call.strands;
    channel /= call.strands;
    work.tree = call.trees[channel % 2];
  }
  work.channel = channel;
  work.offset = share_begin(call, channel);
  work.count = share_count(call, channel);
  work.chunk_count = chunk_count(call, channel);
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
template <KernelShape Shape>
__device__ inline int peer_of_thread(const ChannelWork& work) {
  const int thread = static_cast<int>(threadIdx.x);
  const int peer = thread % kMostEngineRanks;
  if (thread >= 2 * kMostEngineRanks || peer >= work.ranks || peer == work.position) return -1;
  const bool receive = thread >= kMostEngineRanks;
  if constexpr (Shape == KernelShape::ring)
    return peer == (work.position + (receive ? work.ranks - 1 : 1)) % work.ranks ? peer : -1;
  if constexpr (Shape == KernelShape::one_shot) return peer;
  return uses(work, peer, receive) ? peer : -1;
}

template <KernelShape Shape>
__device__ inline Way way_of_thread(const KernelCall& call, const ChannelWork& work) {
  const int peer = peer_of_thread<Shape>(work);
  return peer < 0 ? Way{} : way_of(call, work, peer, threadIdx.x >= kMostEngineRanks);
}

/// The rare case: connections are emptied, and the lines of older calls overwritten before the flags of this
/// one could be taken for theirs. All threads.
/// @param peer   whose way out this thread opened, if `found` is not 0
/// @param found  what open_way said
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
  const std::uint64_t bytes = call->places.fifo_bytes;
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
template <Protocol P, class T, bool Sum, KernelShape Shape>
__global__ void __launch_bounds__(kMostThreads<P>, 1)
    collective_kernel(const __grid_constant__ KernelCall call) {
  __shared__ Ends ends;
  __shared__ BlockTrouble trouble;
  __shared__ int
      was_broken;  // before this kernel; unlike `trouble` it never changes, so that all threads agree
  const ChannelWork work = work_of_block<Shape>(call);
  if constexpr (Shape == KernelShape::any) {
    if (work.strand >= strand_count(work)) return;  // the root of this channel's tree has one strand only
  }
  const int threads = static_cast<int>(blockDim.x) - (P == Protocol::simple ? 32 : 0);
  const Way way = way_of_thread<Shape>(call, work);
  wait_for_stream();
  if (threadIdx.x == 0 && call.recording.records != nullptr) call.recording.counts[blockIdx.x] = 0;
  if (threadIdx.x == blockDim.x - 1) trouble.gave_up = was_broken = load_flag(call.broken) != 0 ? 1 : 0;
  int found = 0;
  if (way.peer >= 0) found = open_way(call, way, (way.receives ? ends.in : ends.out)[way.peer]);
  const bool late = __syncthreads_or(found) != 0;
  const BoundedWait wait(call, trouble);
  if (was_broken != 0) return;
  if (late) clear_connections(&call, &trouble, &ends, work.channel, way.peer, found);
  typename PrimitivesOf<P, T, Sum, Shape>::type primitives(call, work, ends, trouble, threads);
  run_schedule(primitives, work);
  const int peer = static_cast<int>(threadIdx.x);
  if constexpr (Shape == KernelShape::ring) {
    if (peer == 0) primitives.save_ring();
  } else {
    if (peer < work.ranks && peer != work.position) primitives.save(peer);
  }
}

}  // namespace lanecast::device
