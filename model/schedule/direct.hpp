#pragma once
#include "model/schedule/geometry.hpp"
#include "model/schedule/turn.hpp"

namespace lanecast {

/// One-shot all-reduce: everyone sends its whole input to everyone, and everyone reduces everything itself.
/// One flight, (n - 1) x size on every rank's way out and in.
///
/// Two-shot: everyone sends part q to rank q, which reduces it and sends the result to everyone. Two flights,
/// 2 (n - 1)/n x size as a ring. Its halves are direct reduce-scatter and all-gather.
///
/// Push or pull is not the schedule's affair: it says on which side of a connection the data lie (facts.md
/// A2: NCCL's read mode). Source: microsoft/mscclpp and vllm-project/vllm (custom_all_reduce) use both.
LANECAST_HD constexpr int direct_step_count(const ChannelWork& work) {
  if (work.schedule == Schedule::one_shot) return 2;
  return work.collective == Collective::all_reduce ? 2 * work.ranks - 1 : work.ranks;
}

/// Part of the rank at `position`, reduced from everyone's, and handed out to `to`.
LANECAST_HD constexpr Turn collect_turn(int position, int ranks, int part, const Peers& to) {
  Turn turn;
  turn.part = part;
  turn.from = all_others(position, ranks);
  turn.to = to;
  turn.own = Own::input;
  turn.keeps = turn.finishes = true;
  return turn;
}

LANECAST_HD constexpr Turn one_shot_turn(const ChannelWork& work, int step) {
  if (step == 1) return collect_turn(work.position, work.ranks, 0, nobody());
  Turn turn;
  turn.to = all_others(work.position, work.ranks);
  turn.own = Own::input;
  return turn;
}

/// First ranks - 1 turns of a reduction: each other rank's part to its owner.
LANECAST_HD constexpr Turn deal_turn(const ChannelWork& work, int step) {
  const int owner = all_others(work.position, work.ranks).at(step);
  Turn turn;
  turn.part = owner;
  turn.to = only(owner);
  turn.own = Own::input;
  return turn;
}

/// Last ranks - 1 turns of a gathering: each other rank's part from its owner, the one that began with this
/// rank first.
LANECAST_HD constexpr Turn take_turn(const ChannelWork& work, int step) {
  const int owner = (work.position + work.ranks - 1 - step) % work.ranks;
  Turn turn;
  turn.part = owner;
  turn.from = only(owner);
  turn.keeps = true;
  return turn;
}

LANECAST_HD constexpr Turn two_shot_turn(const ChannelWork& work, int step) {
  const int deals = work.collective == Collective::all_gather ? 0 : work.ranks - 1;
  if (step < deals) return deal_turn(work, step);
  if (step > deals) return take_turn(work, step - deals - 1);
  const Peers others = all_others(work.position, work.ranks);
  if (work.collective == Collective::reduce_scatter)
    return collect_turn(work.position, work.ranks, work.position, nobody());
  if (work.collective == Collective::all_reduce)
    return collect_turn(work.position, work.ranks, work.position, others);
  Turn turn;  // all-gather: its own block to everyone
  turn.part = work.position;
  turn.to = others;
  turn.own = Own::input;
  turn.keeps = !work.in_place;
  return turn;
}

/// @param step  0 <= step < direct_step_count
LANECAST_HD constexpr Turn direct_turn(const ChannelWork& work, int step) {
  Turn turn = work.schedule == Schedule::one_shot ? one_shot_turn(work, step) : two_shot_turn(work, step);
  turn.kind = step;
  return turn;
}

}  // namespace lanecast
