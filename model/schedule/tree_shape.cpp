#include "model/schedule/tree_shape.hpp"

#include <algorithm>

namespace lanecast {
namespace {

void add_child(TreeNode& node, int position) {
  if (position >= 0) node.down.named[node.down.count++] = position;
}

/// Parent and children (-1: none) in the binary tree in symmetric order. A position with lowest set bit b is
/// the middle of the span of 2b - 1 positions around it.
struct BinaryNode {
  int up = -1;
  int below = -1;  // the child with the smaller number
  int above = -1;
};

BinaryNode binary_node(int position, int ranks) {
  BinaryNode node;
  if (position == 0) {
    const int largest = power_of_two_within(ranks - 1 > 0 ? ranks - 1 : 1);
    node.above = ranks > 1 ? largest : -1;
    return node;
  }
  const int bit = position & -position;
  const int middle = (position ^ bit) | (2 * bit);  // of the next larger span
  node.up = middle < ranks ? middle : position ^ bit;
  if (bit == 1) return node;
  node.below = position - bit / 2;
  for (int step = bit / 2; step > 0 && node.above < 0; step /= 2) {
    if (position + step < ranks) node.above = position + step;
  }
  return node;
}

}  // namespace

TreeNode chain_node(int position, int ranks) {
  TreeNode node;
  node.up = position - 1;
  if (position + 1 < ranks) add_child(node, position + 1);
  return node;
}

TreeNode binary_tree_node(int position, int ranks) { return rail_tree_node(position, ranks, 1); }

TreeNode star_node(int position, int ranks, int centre) {
  TreeNode node;
  if (position == centre) {
    node.down = all_others(position, ranks);
  } else {
    node.up = centre;
  }
  return node;
}

TreeNode rail_tree_node(int position, int ranks, int group_ranks) {
  const int local = position % group_ranks;
  const BinaryNode groups = binary_node(position / group_ranks, ranks / group_ranks);
  const auto at = [&](int group) { return group < 0 ? -1 : group * group_ranks + local; };
  TreeNode node;
  node.up = at(groups.up);
  add_child(node, at(groups.below));
  add_child(node, at(groups.above));
  return node;
}

TreeNode node_tree_node(int position, int ranks, int node_ranks) {
  const int node = position / node_ranks;
  const int local = position % node_ranks;
  const int nodes = ranks / node_ranks;
  const int second = std::min(1, node_ranks - 1);  // local place of the rank with the second child node
  const BinaryNode at = binary_node(node, nodes);
  const auto first_of = [&](int other) { return other < 0 ? -1 : other * node_ranks; };
  TreeNode shape;
  shape.up = position - 1;
  if (local == 0) {
    shape.up = -1;
    if (at.up >= 0) shape.up = first_of(at.up) + (at.up > node || at.up == 0 ? 0 : second);
  }
  if (local + 1 < node_ranks) add_child(shape, position + 1);
  const int first_child = node == 0 ? at.above : at.below;
  const int second_child = node == 0 ? -1 : at.above;
  if (local == 0) add_child(shape, first_of(first_child));
  if (local == second) add_child(shape, first_of(second_child));
  return shape;
}

std::vector<int> complement_order(const std::vector<int>& order, int group_ranks) {
  const auto g = static_cast<std::size_t>(group_ranks);
  const std::size_t groups = order.size() / g;
  std::vector<int> other(order.size());
  for (std::size_t p = 0; p < order.size(); ++p) {
    const std::size_t group = p / g;
    const std::size_t image = groups % 2 == 0 ? groups - 1 - group : (group + 1) % groups;
    other[p] = order[image * g + p % g];
  }
  return other;
}

std::vector<int> order_across_nodes(const std::vector<std::vector<int>>& chains) {
  std::vector<int> order;
  for (const std::vector<int>& chain : chains) order.insert(order.end(), chain.begin(), chain.end());
  return order;
}

}  // namespace lanecast
