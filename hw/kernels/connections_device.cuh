#pragma once
#include <cstdint>

#include "hw/engine/kernel_call.hpp"
#include "hw/kernels/memory_device.cuh"
#include "hw/kernels/wait_device.cuh"
#include "model/protocol/protocol.hpp"
#include "model/schedule/schedule.hpp"

namespace lanecast::device {

/// One end of a connection, as a block uses it.
struct End {
  std::byte* fifo;              // of the slots
  std::uint64_t* posts;         // way out: the receiver's tail; way in: the sender's head
  const std::uint64_t* awaits;  // way out: own head; way in: own tail
  std::uint64_t first_step;     // number of the call's first slice
  std::uint64_t credit;         // way out: head as read at the start
  std::uint32_t first_slot;     // slot of that slice
};

/// All ends that a block may use, by peer; in shared memory.
struct Ends {
  End out[kMostEngineRanks];
  End in[kMostEngineRanks];
};

/// This rank's mailbox on the path to a peer, and the peer's.
__device__ inline std::byte* own_mailbox(const KernelCall& call, int peer) {
  return (call.staged >> peer & 1u) != 0 ? call.own_host : call.own_device;
}

/// Slots of a call follow one another from the call's first slice on. 64-bit remainders are slow, so that
/// they are taken of small numbers where that will do.
__device__ inline std::uint32_t slot_of(const KernelCall& call, std::uint64_t step) {
  const auto slots = static_cast<std::uint32_t>(call.fifo_slices);
  if (step >> 32 == 0) return static_cast<std::uint32_t>(step) % slots;
  return static_cast<std::uint32_t>(step % slots);
}

/// 32-bit flags of LL come round after 2^32 slices. Twice a round all lines get a flag that no coming slice
/// has; NCCL does the like (NCCL_LL_CLEAN_MASK).
__device__ inline bool must_scrub(const KernelCall& call, const ConnectionState& state) {
  if (call.protocol != static_cast<int>(Protocol::ll)) return false;
  const bool first_use = state.slots == 0 && state.step != 0;
  return first_use || state.step >> 31 != (state.step + call.most_slices + kMostSlots) >> 31;
}

/// Where a way lies: what is known of an End before the kernel ahead in the stream is done.
struct Way {
  int peer = -1;  // -1: none
  bool receives = false;
  std::byte* fifo = nullptr;
  std::uint64_t* posts = nullptr;
  const std::uint64_t* awaits = nullptr;
  ConnectionState* state = nullptr;
};

/// Counts of connections from the first one of the call's protocol and class.
__device__ inline int connection_of(const KernelCall& call, int peer, int channel) {
  return peer * call.places.per_peer + channel;
}

__device__ inline ConnectionState* state_of(const KernelCall& call, int peer, int channel, bool receives) {
  return call.states + (receives ? call.places.receiving : call.places.sending) +
         connection_of(call, peer, channel);
}

__device__ inline Way way_of(const KernelCall& call, const ChannelWork& work, int peer, bool receives) {
  const ConnectionPlaces& places = call.places;
  const auto at_peer = static_cast<std::uint64_t>(connection_of(call, work.position, work.channel));
  const auto at_own = static_cast<std::uint64_t>(connection_of(call, peer, work.channel));
  std::byte* theirs = call.theirs[peer];
  std::byte* own = own_mailbox(call, peer);
  const std::uint64_t tail = places.tail + kFlagBytes * (receives ? at_own : at_peer);
  const std::uint64_t head = places.head + kFlagBytes * (receives ? at_peer : at_own);
  Way way;
  way.peer = peer;
  way.receives = receives;
  way.fifo = (receives ? own : theirs) + places.fifo + places.fifo_bytes * (receives ? at_own : at_peer);
  way.posts = reinterpret_cast<std::uint64_t*>(theirs + (receives ? head : tail));
  way.awaits = reinterpret_cast<const std::uint64_t*>(own + (receives ? tail : head));
  way.state = state_of(call, peer, work.channel, receives);
  return way;
}

/// Fills in an end; a way in also gives back what earlier calls have taken (gives_back). Waits for nothing.
/// Both ways do the same loads, so that threads of one warp do them at once.
/// @return  bit 0: the peer has to take everything out first, because slots have another size now, or are
///          scrubbed; bit 1: scrubbed
__device__ inline int open_way(const KernelCall& call, const Way& way, End& end) {
  const ConnectionState state = *way.state;
  const std::uint64_t counter = load_counter(way.awaits);
  end.fifo = way.fifo;
  end.posts = way.posts;
  end.awaits = way.awaits;
  end.credit = counter;
  end.first_step = state.step;
  end.first_slot = slot_of(call, state.step);
  if (way.receives) {
    store_counter(way.posts, state.step);
    return 0;
  }
  const bool scrubs = must_scrub(call, state);
  const bool changed = state.slots != 0 && state.slots != slot_cut(call);
  return (scrubs || (changed && counter < state.step) ? 1 : 0) | (scrubs ? 2 : 0);
}

/// Waits until the peer has taken out all slices of earlier calls.
__device__ inline void drain(int channel, const BoundedWait& wait, int peer, End& end) {
  const Place place{channel, 0, 0, 0};
  wait.until([&] { return load_counter(end.awaits) >= end.first_step; }, KernelFault::drain, peer, place);
  end.credit = load_counter(end.awaits);
}

__device__ inline void save_state(const KernelCall& call, const ChannelWork& work, int peer, bool receive,
                                  std::uint64_t step) {
  ConnectionState& state = *state_of(call, peer, work.channel, receive);
  state.step = step;
  if (!receive) state.slots = slot_cut(call);
}

}  // namespace lanecast::device
