#pragma once
#include "model/schedule/geometry.hpp"
#include "model/schedule/turn.hpp"

namespace lanecast {

inline constexpr int ring_kinds = 7;  // a ring's turns differ by what they do only: TurnAction

/// `position` modulo `ranks`, for a position that is a few times around at most: a GPU subtracts faster than
/// it divides.
LANECAST_HD constexpr int around_ring(int position, int ranks) {
  while (position >= ranks) position -= ranks;
  return position;
}

/// A turn within a ring: which chunk, and what is done with it.
struct RingStep {
  int chunk;
  TurnAction action;
};

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
  const int chunk = around_ring(position + 2 * ranks - 1 - step, ranks);
  const TurnAction first = in_place ? TurnAction::send : TurnAction::keep_send;
  switch (collective) {
    case Collective::all_reduce:
      if (step == 0) return {chunk, TurnAction::send};
      if (step < ranks - 1) return {chunk, TurnAction::reduce_send};
      if (step == ranks - 1) return {chunk, TurnAction::reduce_keep_send};
      return {chunk, step < 2 * (ranks - 1) ? TurnAction::copy_send : TurnAction::copy};
    case Collective::reduce_scatter:
      if (step == 0) return {chunk, TurnAction::send};
      return {chunk, step < ranks - 1 ? TurnAction::reduce_send : TurnAction::reduce_keep};
    case Collective::all_gather: {
      const int own = around_ring(position + ranks - step, ranks);
      if (step == 0) return {own, first};
      return {own, step < ranks - 1 ? TurnAction::copy_send : TurnAction::copy};
    }
    case Collective::broadcast:
      if (position == root) return {0, first};
      return {0, around_ring(position + 1, ranks) == root ? TurnAction::copy : TurnAction::copy_send};
    case Collective::reduce:
      if (position == root) return {0, TurnAction::reduce_keep};
      return {0,
              around_ring(position + ranks - 1, ranks) == root ? TurnAction::send : TurnAction::reduce_send};
  }
  return {0, TurnAction::send};
}

/// A ring step as a turn between two neighbours.
LANECAST_HD constexpr Turn ring_turn(const RingStep& step, int previous, int next) {
  Turn turn;
  turn.kind = static_cast<int>(step.action);
  turn.part = step.chunk;
  if (receives(step.action)) turn.from = only(previous);
  if (sends(step.action)) turn.to = only(next);
  turn.own = !receives(step.action) || reduces(step.action) ? Own::input : Own::nothing;
  turn.keeps = step.action != TurnAction::send && step.action != TurnAction::reduce_send;
  turn.finishes = step.action == TurnAction::reduce_keep_send || step.action == TurnAction::reduce_keep;
  return turn;
}

LANECAST_HD constexpr Turn ring_turn(const ChannelWork& work, int step) {
  return ring_turn(ring_step(work.collective, work.position, work.ranks, step, work.root, work.in_place),
                   around_ring(work.position + work.ranks - 1, work.ranks),
                   around_ring(work.position + 1, work.ranks));
}

}  // namespace lanecast
