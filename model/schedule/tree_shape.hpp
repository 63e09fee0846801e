#pragma once
#include <vector>

#include "model/schedule/geometry.hpp"

namespace lanecast {

/// Position `position` of a chain: the root at 0, everyone below the one before.
/// NCCL's tree within a node. Source: NVIDIA/nccl src/graph/connect.cc (treeToParent, treeToChild).
TreeNode chain_node(int position, int ranks);

/// Position `position` of a binary tree in symmetric order: the root 0 has one child, leaves are the odd
/// positions, no path to the root is longer than 1 + log2(ranks).
/// Source: Sanders, Speck, Traff, Two-tree algorithms for full bandwidth broadcast, reduction and scan
/// (2009); NVIDIA/nccl src/graph/trees.cc.
TreeNode binary_tree_node(int position, int ranks);

/// Everyone below `centre`: the textbook baseline, in which one rank collects all and hands it out.
TreeNode star_node(int position, int ranks, int centre);

/// A binary tree of groups: the ranks at the same place of each group (`group_ranks` neighbouring positions)
/// make one tree of their own.
TreeNode rail_tree_node(int position, int ranks, int group_ranks);

/// NCCL's tree over several nodes of `node_ranks` neighbouring positions: a chain within each node, a binary
/// tree of nodes between. A node's first rank has the parent node and the first child node, its second rank
/// the second one ("balanced").
/// Source: NVIDIA/nccl src/graph/connect.cc (connectTrees), src/include/graph.h
/// (NCCL_TOPO_PATTERN_BALANCED_TREE).
TreeNode node_tree_node(int position, int ranks, int node_ranks);

/// The order on which the same binary tree is the complement of the one on `order`: who passes data on in one
/// is a leaf (or nearly so) in the other, so that two trees with half of the data each use every rank's links
/// both ways. Mirrored for an even number of groups, else turned by one.
/// @param group_ranks  positions that stay together
std::vector<int> complement_order(const std::vector<int>& order, int group_ranks);

/// NCCL's ring over several nodes: node after node, each along its own chain.
std::vector<int> order_across_nodes(const std::vector<std::vector<int>>& chains);

}  // namespace lanecast
