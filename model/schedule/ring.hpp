#pragma once
#include <cstdint>

#include "model/schedule/geometry.hpp"
#include "model/units.hpp"

namespace lanecast {

/// What an executor offers. Each call handles one slice and may block on the previous rank (data) and on the
/// next rank (credit). An empty slice (count 0) still takes its turn: credit and, where the flag is apart
/// from the data (Simple), flag.
///
/// | call             | takes from previous | reads own input | gives to next | writes own output |
/// | send             |                     | yes             | yes           |                   |
/// | keep_send        |                     | yes             | yes           | yes               |
/// | reduce_send      | yes                 | yes             | yes           |                   |
/// | reduce_keep_send | yes                 | yes             | yes           | yes               |
/// | reduce_keep      | yes                 | yes             |               | yes               |
/// | copy_send        | yes                 |                 | yes           | yes               |
/// | copy             | yes                 |                 |               | yes               |
///
/// `next_loop` and `next_step` let an executor skip turns that repeat (the simulator folds; others return
/// what they were given): they get the index that would run now, and return the one to go on with, at most
/// `end`.
template <class P>
concept RingPrimitives = requires(P p, const Slice& slice, std::uint64_t index) {
  p.send(slice);
  p.keep_send(slice);
  p.reduce_send(slice);
  p.reduce_keep_send(slice);
  p.reduce_keep(slice);
  p.copy_send(slice);
  p.copy(slice);
  { p.next_loop(index, index) } -> std::convertible_to<std::uint64_t>;
  { p.next_step(index, index, index) } -> std::convertible_to<std::uint64_t>;
};

enum class RingAction : std::uint8_t {
  send,
  keep_send,
  reduce_send,
  reduce_keep_send,
  reduce_keep,
  copy_send,
  copy
};

/// One turn of a rank: which chunk, and what it does with it.
struct RingStep {
  int chunk;
  RingAction action;
};

LANECAST_HD constexpr bool receives(RingAction a) {
  return a != RingAction::send && a != RingAction::keep_send;
}
LANECAST_HD constexpr bool reduces(RingAction a) {
  return a == RingAction::reduce_send || a == RingAction::reduce_keep_send || a == RingAction::reduce_keep;
}
LANECAST_HD constexpr bool sends(RingAction a) {
  return a != RingAction::copy && a != RingAction::reduce_keep;
}

/// Turns a rank takes in one loop (ranks >= 2): facts.md A1 for all-reduce.
LANECAST_HD constexpr int ring_step_count(Collective collective, int ranks) {
  switch (collective) {
    case Collective::all_reduce:
      return 2 * ranks - 1;
    case Collective::reduce_scatter:
    case Collective::all_gather:
      return ranks;
    case Collective::broadcast:
    case Collective::reduce:
      return 1;
  }
  return 0;
}

/// What the rank at ring position `position` does at turn `step` (0 <= step < ring_step_count).
///
/// Chunks are numbered by ring position for all-reduce, all-gather and reduce-scatter: position r ends the
/// reduce phase with chunk r. Broadcast and reduce have one chunk a loop and a chain that starts or ends at
/// `root`.
/// @param root  ring position of the root; broadcast and reduce only
/// @param in_place  all-gather and broadcast: the root's own part already lies in the output
/// Source: facts.md A1 (NVIDIA/nccl src/device/all_reduce.h and its siblings).
LANECAST_HD constexpr RingStep ring_step(Collective collective, int position, int ranks, int step, int root,
                                         bool in_place) {
  const int chunk = (position + 2 * ranks - 1 - step) % ranks;
  const RingAction first = in_place ? RingAction::send : RingAction::keep_send;
  switch (collective) {
    case Collective::all_reduce:
      if (step == 0) return {chunk, RingAction::send};
      if (step < ranks - 1) return {chunk, RingAction::reduce_send};
      if (step == ranks - 1) return {chunk, RingAction::reduce_keep_send};
      return {chunk, step < 2 * (ranks - 1) ? RingAction::copy_send : RingAction::copy};
    case Collective::reduce_scatter:
      if (step == 0) return {chunk, RingAction::send};
      return {chunk, step < ranks - 1 ? RingAction::reduce_send : RingAction::reduce_keep};
    case Collective::all_gather: {
      const int own = (position + ranks - step) % ranks;
      if (step == 0) return {own, first};
      return {own, step < ranks - 1 ? RingAction::copy_send : RingAction::copy};
    }
    case Collective::broadcast:
      if (position == root) return {0, first};
      return {0, (position + 1) % ranks == root ? RingAction::copy : RingAction::copy_send};
    case Collective::reduce:
      if (position == root) return {0, RingAction::reduce_keep};
      return {0, (position + ranks - 1) % ranks == root ? RingAction::send : RingAction::reduce_send};
  }
  return {0, RingAction::send};
}

template <RingPrimitives P>
LANECAST_DEV constexpr void run_ring_action(P& p, RingAction action, const Slice& slice) {
  switch (action) {
    case RingAction::send:
      p.send(slice);
      break;
    case RingAction::keep_send:
      p.keep_send(slice);
      break;
    case RingAction::reduce_send:
      p.reduce_send(slice);
      break;
    case RingAction::reduce_keep_send:
      p.reduce_keep_send(slice);
      break;
    case RingAction::reduce_keep:
      p.reduce_keep(slice);
      break;
    case RingAction::copy_send:
      p.copy_send(slice);
      break;
    case RingAction::copy:
      p.copy(slice);
      break;
  }
}

/// The ring, written once: everything that one channel of one rank does for a call.
///
/// Loops cover the channel's share; each loop is ring_step_count turns; each turn is one chunk in
/// slices_per_chunk slices. The executor blocks inside the primitives; nothing else synchronises.
/// LANECAST_DEV, not LANECAST_HD: nvcc rejects a host+device template that calls device-only members.
template <RingPrimitives P>
LANECAST_DEV constexpr void run_ring(P& p, const RingWork& work) {
  const std::uint64_t loops = loop_count(work);
  const int steps = ring_step_count(work.collective, work.ranks);
  for (std::uint64_t loop = p.next_loop(0, loops); loop < loops; loop = p.next_loop(loop + 1, loops)) {
    const auto end = static_cast<std::uint64_t>(steps);
    for (std::uint64_t s = p.next_step(loop, 0, end); s < end; s = p.next_step(loop, s + 1, end)) {
      const RingStep step = ring_step(work.collective, work.position, work.ranks, static_cast<int>(s),
                                      work.root, work.in_place);
      const Chunk chunk = chunk_of(work, loop, step.chunk);
      for (int i = 0; i < work.slices_per_chunk; ++i) {
        run_ring_action(p, step.action, slice_of(work, chunk, loop, static_cast<int>(s), i));
      }
    }
  }
}

}  // namespace lanecast
