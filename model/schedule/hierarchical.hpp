#pragma once
#include "model/schedule/ring.hpp"
#include "model/schedule/tree.hpp"

namespace lanecast {

/// All-reduce by groups of `group_ranks` neighbouring positions (GPUs of a node, of a socket, below a
/// switch): a ring reduce-scatter within each group, a ring or tree all-reduce between the ranks that have
/// the same place in their groups (a rail), and a ring all-gather within each group.
///
/// The links between groups carry 1/g of the data for each rank instead of all of it for two of them.
struct Hierarchy {
  int group;   // of this rank
  int local;   // its place within
  int groups;  // how many
};

LANECAST_HD constexpr Hierarchy hierarchy_of(const ChannelWork& work) {
  return {work.position / work.group_ranks, work.position % work.group_ranks, work.ranks / work.group_ranks};
}

/// Turns between groups in one loop.
LANECAST_HD constexpr int outer_step_count(const ChannelWork& work) {
  const int groups = hierarchy_of(work).groups;
  if (groups == 1) return 0;
  if (work.outer_tree) return work.tree.up < 0 ? 1 : 2;
  return ring_step_count(Collective::all_reduce, groups);
}

/// Turns within the group, for the reduce-scatter and again for the all-gather.
LANECAST_HD constexpr int inner_step_count(const ChannelWork& work) {
  return work.group_ranks == 1 ? 0 : ring_step_count(Collective::reduce_scatter, work.group_ranks);
}

LANECAST_HD constexpr int hierarchical_step_count(const ChannelWork& work) {
  return 2 * inner_step_count(work) + outer_step_count(work);
}

inline constexpr int hierarchical_kinds = 3 * ring_kinds;

/// Within the group. A chunk of the inner ring is one part for each group (one part with an outer tree).
LANECAST_HD constexpr Turn inner_turn(const ChannelWork& work, Collective half, int step) {
  const Hierarchy at = hierarchy_of(work);
  const int g = work.group_ranks;
  const int first = at.group * g;
  const bool gather = half == Collective::all_gather;
  Turn turn = ring_turn(ring_step(half, at.local, g, step, 0, /*in_place=*/gather),
                        first + (at.local + g - 1) % g, first + (at.local + 1) % g);
  turn.parts = work.outer_tree ? 1 : at.groups;
  turn.part *= turn.parts;
  turn.kind += gather ? 2 * ring_kinds : 0;
  if (gather && turn.own == Own::input) turn.own = Own::output;
  if (!gather) turn.finishes = turn.finishes && at.groups == 1;
  return turn;
}

/// Between the groups, about the chunk that this rank has reduced within its own.
LANECAST_HD constexpr Turn outer_turn(const ChannelWork& work, int step) {
  const Hierarchy at = hierarchy_of(work);
  const int g = work.group_ranks;
  Turn turn;
  if (work.outer_tree) {
    turn = step == 0 ? tree_up_turn(work.tree, true) : tree_down_turn(work.tree, true);
    turn.part = at.local;
    turn.kind = ring_kinds + step;
  } else {
    const int previous = (at.group + at.groups - 1) % at.groups;
    const int next = (at.group + 1) % at.groups;
    turn = ring_turn(ring_step(Collective::all_reduce, at.group, at.groups, step, 0, false),
                     previous * g + at.local, next * g + at.local);
    turn.part += at.local * at.groups;
    turn.kind += ring_kinds;
  }
  if (turn.own == Own::input && g > 1) turn.own = Own::output;
  return turn;
}

/// @param step  0 <= step < hierarchical_step_count
LANECAST_HD constexpr Turn hierarchical_turn(const ChannelWork& work, int step) {
  const int inner = inner_step_count(work);
  const int outer = outer_step_count(work);
  if (step < inner) return inner_turn(work, Collective::reduce_scatter, step);
  if (step < inner + outer) return outer_turn(work, step - inner);
  return inner_turn(work, Collective::all_gather, step - inner - outer);
}

}  // namespace lanecast
