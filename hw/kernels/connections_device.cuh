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

/// Fills in the end towards `peer`. Waits for nothing.
/// @return  whether the peer has to take everything out first: slots have another size now, or are scrubbed
__device__ inline bool open_way_out(const KernelCall& call, const ChannelWork& work, int peer, End& end,
                                    bool& scrubs) {
  const MailboxLayout& layout = call.layout;
  const int at_peer = connection_index(layout, call.ring, work.position, work.channel);
  const int at_own = connection_index(layout, call.ring, peer, work.channel);
  std::byte* theirs = call.theirs[peer];
  end.fifo = theirs + fifo_offset(layout, call.protocol, at_peer);
  end.posts = reinterpret_cast<std::uint64_t*>(theirs + tail_offset(layout, call.protocol, at_peer));
  end.awaits =
      reinterpret_cast<std::uint64_t*>(own_mailbox(call, peer) + head_offset(layout, call.protocol, at_own));
  const ConnectionState state = call.states[state_index(layout, call.protocol, false, at_own)];
  end.credit = load_counter(end.awaits);
  end.first_step = state.step;
  end.first_slot = slot_of(call, state.step);
  scrubs = must_scrub(call, state);
  const bool changed = state.slots != 0 && state.slots != slot_cut(call);
  return scrubs || (changed && end.credit < state.step);
}

__device__ inline void open_way_in(const KernelCall& call, const ChannelWork& work, int peer, End& end) {
  const MailboxLayout& layout = call.layout;
  const int at_own = connection_index(layout, call.ring, peer, work.channel);
  const int at_peer = connection_index(layout, call.ring, work.position, work.channel);
  std::byte* own = own_mailbox(call, peer);
  end.fifo = own + fifo_offset(layout, call.protocol, at_own);
  end.posts =
      reinterpret_cast<std::uint64_t*>(call.theirs[peer] + head_offset(layout, call.protocol, at_peer));
  end.awaits = reinterpret_cast<const std::uint64_t*>(own + tail_offset(layout, call.protocol, at_own));
  end.first_step = call.states[state_index(layout, call.protocol, true, at_own)].step;
  end.first_slot = slot_of(call, end.first_step);
  end.credit = 0;
}

/// Waits until the peer has taken out all slices of earlier calls.
__device__ inline void drain(int channel, const BoundedWait& wait, int peer, End& end) {
  const Place place{channel, 0, 0, 0};
  wait.until([&] { return load_counter(end.awaits) >= end.first_step; }, KernelFault::drain, peer, place);
  end.credit = load_counter(end.awaits);
}

__device__ inline void save_state(const KernelCall& call, const ChannelWork& work, int peer, bool receive,
                                  std::uint64_t step) {
  const int connection = connection_index(call.layout, call.ring, peer, work.channel);
  ConnectionState& state = call.states[state_index(call.layout, call.protocol, receive, connection)];
  state.step = step;
  if (!receive) state.slots = slot_cut(call);
}

}  // namespace lanecast::device
