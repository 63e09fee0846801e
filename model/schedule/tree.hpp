#pragma once
#include "model/schedule/geometry.hpp"
#include "model/schedule/turn.hpp"

namespace lanecast {

/// Kinds of a tree's turns: one for each strand.
inline constexpr int tree_kinds = 1;

/// Up and down run side by side on every rank but the root, which turns data around.
/// Source: NVIDIA/nccl src/device/all_reduce.h (runTreeSplit).
LANECAST_HD constexpr int tree_strand_count(const ChannelWork& work) {
  return work.collective == Collective::all_reduce && work.tree.up >= 0 ? 2 : 1;
}

/// Up: what the children sent, combined with the own, to the parent. The root keeps it, and hands it out.
LANECAST_HD constexpr Turn tree_up_turn(const TreeNode& node, bool hand_out) {
  Turn turn;
  turn.from = node.down;
  turn.own = Own::input;
  if (node.up >= 0) {
    turn.to = only(node.up);
    return turn;
  }
  turn.keeps = turn.finishes = true;
  if (hand_out) turn.to = node.down;
  return turn;
}

/// Down: what the parent sent, kept and passed on to the children. The root starts with its own.
LANECAST_HD constexpr Turn tree_down_turn(const TreeNode& node, bool in_place) {
  Turn turn;
  turn.to = node.down;
  turn.keeps = true;
  if (node.up >= 0) {
    turn.from = only(node.up);
    return turn;
  }
  turn.own = Own::input;
  turn.keeps = !in_place;
  return turn;
}

/// The one turn that a strand takes in each loop, for all-reduce, broadcast and reduce. What the tree is
/// (chain, double binary tree, star) is a matter of its nodes: tree_shape.hpp.
LANECAST_HD constexpr Turn tree_turn(const ChannelWork& work) {
  const bool down = work.collective == Collective::broadcast || work.strand == 1;
  return down ? tree_down_turn(work.tree, work.in_place)
              : tree_up_turn(work.tree, work.collective == Collective::all_reduce);
}

}  // namespace lanecast
