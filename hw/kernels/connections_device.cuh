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
  std::uint32_t scrub;          // way out: lines of older calls must be overwritten first
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

__device__ inline std::uint64_t slices_of_call(const KernelCall& call, const ChannelWork& work) {
  return loop_count(work) * static_cast<std::uint64_t>(step_count(work) * work.slices_per_chunk) +
         static_cast<std::uint64_t>(call.fifo_slices);
}

/// 32-bit flags of LL come round after 2^32 slices. Twice a round, and where the slots' size changes, all
/// lines get a flag that no coming slice has; NCCL does the like (NCCL_LL_CLEAN_MASK).
__device__ inline bool must_scrub(const KernelCall& call, const ChannelWork& work,
                                  const ConnectionState& state) {
  if (call.protocol != static_cast<int>(Protocol::ll)) return false;
  const bool first_use = state.slot_bytes == 0 && state.step != 0;
  return first_use || state.step >> 31 != (state.step + slices_of_call(call, work)) >> 31;
}

/// Fills in the end towards `peer`; where slots change their size or are scrubbed, waits until the peer has
/// taken everything out.
__device__ inline void open_way_out(const KernelCall& call, const ChannelWork& work, const BoundedWait& wait,
                                    int peer, End& end) {
  const MailboxLayout& layout = call.layout;
  const int own = work.position;
  const int at_peer = connection_index(layout, call.ring, own, work.channel);
  const int at_own = connection_index(layout, call.ring, peer, work.channel);
  std::byte* theirs = call.theirs[peer];
  end.fifo = theirs + fifo_offset(layout, call.protocol, at_peer);
  end.posts = reinterpret_cast<std::uint64_t*>(theirs + tail_offset(layout, call.protocol, at_peer));
  end.awaits =
      reinterpret_cast<std::uint64_t*>(own_mailbox(call, peer) + head_offset(layout, call.protocol, at_own));
  const ConnectionState state = call.states[state_index(layout, call.protocol, false, at_own)];
  end.first_step = state.step;
  end.credit = load_counter(end.awaits);
  end.scrub = must_scrub(call, work, state) ? 1 : 0;
  const bool changed = state.slot_bytes != 0 && state.slot_bytes != call.slot_bytes;
  if ((changed || end.scrub != 0) && end.credit != state.step) {
    const Place place{work.channel, 0, 0, 0};
    wait.until([&] { return load_counter(end.awaits) == state.step; }, KernelFault::drain, peer, place);
    end.credit = state.step;
  }
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
  end.credit = 0;
  end.scrub = 0;
}

__device__ inline void save_state(const KernelCall& call, const ChannelWork& work, int peer, bool receive,
                                  std::uint64_t step) {
  const int connection = connection_index(call.layout, call.ring, peer, work.channel);
  ConnectionState& state = call.states[state_index(call.layout, call.protocol, receive, connection)];
  state.step = step;
  if (!receive) state.slot_bytes = call.slot_bytes;
}

}  // namespace lanecast::device
