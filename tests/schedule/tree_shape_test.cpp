// Who is above and below whom in the trees.
#include "model/schedule/tree_shape.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

namespace lanecast {
namespace {

constexpr int max_positions = 300;

using Tree = std::vector<TreeNode>;  // [position]

Tree tree_of(int ranks, const std::function<TreeNode(int)>& node_of) {
  Tree tree;
  for (int position = 0; position < ranks; ++position) tree.push_back(node_of(position));
  return tree;
}

const TreeNode& at(const Tree& tree, int position) { return tree.at(static_cast<std::size_t>(position)); }

std::vector<int> children(const TreeNode& node) {
  std::vector<int> all;
  for (int i = 0; i < node.down.count; ++i) all.push_back(node.down.at(i));
  return all;
}

/// Steps from a position up to a root; -1 if there is no way to one.
int depth_of(const Tree& tree, int position) {
  const int ranks = static_cast<int>(tree.size());
  int depth = 0;
  for (; at(tree, position).up >= 0; position = at(tree, position).up) {
    if (++depth > ranks) return -1;
  }
  return depth;
}

int depth_of(const Tree& tree) {
  int depth = 0;
  for (int position = 0; position < static_cast<int>(tree.size()); ++position)
    depth = std::max(depth, depth_of(tree, position));
  return depth;
}

int roots_of(const Tree& tree) {
  return static_cast<int>(
      std::count_if(tree.begin(), tree.end(), [](const TreeNode& node) { return node.up < 0; }));
}

/// Each is among the children of its parent and the parent of its children, and has a way up to a root.
void expect_tree(const Tree& tree, int max_children, const std::string& name) {
  for (int position = 0; position < static_cast<int>(tree.size()); ++position) {
    const TreeNode& node = at(tree, position);
    ASSERT_LE(node.down.count, max_children) << name;
    if (node.up >= 0) {
      const std::vector<int> siblings = children(at(tree, node.up));
      ASSERT_EQ(std::count(siblings.begin(), siblings.end(), position), 1) << name << ", " << position;
    }
    for (const int child : children(node)) ASSERT_EQ(at(tree, child).up, position) << name;
    ASSERT_GE(depth_of(tree, position), 0) << name << ": a circle at " << position;
  }
}

int floor_log2(int value) { return std::bit_width(static_cast<unsigned>(value)) - 1; }

Tree binary_tree(int ranks) {
  return tree_of(ranks, [=](int position) { return binary_tree_node(position, ranks); });
}

TEST(TreeShape, AChainHasEveryoneBelowTheOneBefore) {
  for (int ranks = 1; ranks <= max_positions; ++ranks) {
    const Tree chain = tree_of(ranks, [=](int position) { return chain_node(position, ranks); });
    expect_tree(chain, 1, "chain of " + std::to_string(ranks));
    ASSERT_EQ(roots_of(chain), 1);
    ASSERT_EQ(depth_of(chain), ranks - 1);
    for (int position = 0; position < ranks; ++position) ASSERT_EQ(depth_of(chain, position), position);
  }
}

TEST(TreeShape, AStarHasEveryoneBelowAnyCentre) {
  for (int ranks = 1; ranks <= 40; ++ranks) {
    for (int centre = 0; centre < ranks; ++centre) {
      const Tree star = tree_of(ranks, [=](int position) { return star_node(position, ranks, centre); });
      expect_tree(star, ranks - 1, "star of " + std::to_string(ranks));
      ASSERT_EQ(at(star, centre).up, -1);
      ASSERT_EQ(at(star, centre).down.count, ranks - 1);
      ASSERT_EQ(depth_of(star), ranks > 1 ? 1 : 0);
    }
  }
}

TEST(TreeShape, ABinaryTreeIsConnectedHasTheRoot0WithOneChildAndIsNoDeeperThan1PlusLog2) {
  for (int ranks = 1; ranks <= max_positions; ++ranks) {
    const Tree tree = binary_tree(ranks);
    expect_tree(tree, 2, "binary tree of " + std::to_string(ranks));
    ASSERT_EQ(roots_of(tree), 1);
    ASSERT_EQ(at(tree, 0).up, -1);
    ASSERT_EQ(at(tree, 0).down.count, ranks > 1 ? 1 : 0);
    ASSERT_LE(depth_of(tree), 1 + floor_log2(ranks));
  }
}

TEST(TreeShape, TheLeavesOfABinaryTreeAreTheOddPositions) {
  for (int ranks = 2; ranks <= max_positions; ++ranks) {
    const Tree tree = binary_tree(ranks);
    for (int position = 0; position < ranks; ++position)
      ASSERT_EQ(at(tree, position).down.count == 0, position % 2 == 1) << ranks << ", " << position;
  }
}

TEST(TreeShape, ABinaryTreeOfFourteenIsTheOneThatNcclDraws) {
  // NVIDIA/nccl src/graph/trees.cc, the drawing above ncclGetBtree.
  const Tree tree = binary_tree(14);
  const std::vector<int> ups = {-1, 2, 4, 2, 8, 6, 4, 6, 0, 10, 12, 10, 8, 12};
  for (int position = 0; position < 14; ++position)
    EXPECT_EQ(at(tree, position).up, ups[static_cast<std::size_t>(position)]) << position;
  EXPECT_EQ(children(at(tree, 8)), (std::vector<int>{4, 12}));
  EXPECT_EQ(children(at(tree, 12)), (std::vector<int>{10, 13}));
}

std::vector<int> plain(int ranks) {
  std::vector<int> order(static_cast<std::size_t>(ranks));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

/// In how many of the two trees each rank has children.
std::vector<int> times_inner(const std::vector<int>& order, const std::vector<int>& other) {
  const Tree tree = binary_tree(static_cast<int>(order.size()));
  std::vector<int> times(order.size(), 0);
  for (std::size_t p = 0; p < order.size(); ++p) {
    if (tree[p].down.count == 0) continue;
    ++times[static_cast<std::size_t>(order[p])];
    ++times[static_cast<std::size_t>(other[p])];
  }
  return times;
}

TEST(TreeShape, OfAnEvenNumberEveryRankIsInnerInExactlyOneOfTheTwoTrees) {
  for (int ranks = 2; ranks <= max_positions; ranks += 2) {
    for (const int times : times_inner(plain(ranks), complement_order(plain(ranks), 1))) ASSERT_EQ(times, 1);
  }
}

TEST(TreeShape, OfAnOddNumberOnlyTheRootOfTheFirstTreeIsInnerInBoth) {
  for (int ranks = 3; ranks < max_positions; ranks += 2) {
    const std::vector<int> times = times_inner(plain(ranks), complement_order(plain(ranks), 1));
    for (int rank = 0; rank < ranks; ++rank)
      ASSERT_EQ(times[static_cast<std::size_t>(rank)], rank == 0 ? 2 : 1) << ranks << ", " << rank;
  }
}

TEST(TreeShape, TheTwoTreesHaveDifferentRoots) {
  for (int ranks = 2; ranks <= max_positions; ++ranks)
    ASSERT_NE(complement_order(plain(ranks), 1)[0], 0) << ranks;
}

TEST(TreeShape, AComplementIsMirroredForAnEvenNumberOfGroupsAndTurnedByOneForAnOddOne) {
  // NVIDIA/nccl src/graph/trees.cc, ncclGetDtree: the same for ranks.
  EXPECT_EQ(complement_order({7, 5, 6, 4}, 1), (std::vector<int>{4, 6, 5, 7}));
  EXPECT_EQ(complement_order({7, 5, 6}, 1), (std::vector<int>{5, 6, 7}));
  EXPECT_EQ(complement_order({0, 1, 2, 3}, 2), (std::vector<int>{2, 3, 0, 1}));
  EXPECT_EQ(complement_order({0, 1, 2, 3, 4, 5}, 2), (std::vector<int>{2, 3, 4, 5, 0, 1}));
}

TEST(TreeShape, AComplementIsAPermutationThatKeepsGroupsAndPlacesWithinThem) {
  for (int ranks = 1; ranks <= 96; ++ranks) {
    for (int g = 1; g <= ranks; ++g) {
      if (ranks % g != 0) continue;
      std::vector<int> order = plain(ranks);
      std::rotate(order.begin(), order.begin() + ranks / 3, order.end());
      std::vector<int> other = complement_order(order, g);
      for (int p = 0; p < ranks; ++p) {
        const auto rank_at = [&](const std::vector<int>& o, int i) { return o[static_cast<std::size_t>(i)]; };
        const auto was = std::find(order.begin(), order.end(), rank_at(other, p)) - order.begin();
        ASSERT_EQ(was % g, p % g);
        ASSERT_EQ(rank_at(other, p / g * g), order[static_cast<std::size_t>(was / g * g)]);
      }
      std::sort(other.begin(), other.end());
      ASSERT_EQ(other, plain(ranks));
    }
  }
}

TEST(TreeShape, ARailTreeIsOneBinaryTreeOfGroupsForEachPlaceWithinThem) {
  for (int ranks = 1; ranks <= 96; ++ranks) {
    for (int g = 1; g <= ranks; ++g) {
      if (ranks % g != 0) continue;
      const Tree tree = tree_of(ranks, [=](int position) { return rail_tree_node(position, ranks, g); });
      expect_tree(tree, 2, std::to_string(ranks) + " in groups of " + std::to_string(g));
      ASSERT_EQ(roots_of(tree), g);
      ASSERT_LE(depth_of(tree), 1 + floor_log2(ranks / g));
      const Tree groups = binary_tree(ranks / g);
      for (int position = 0; position < ranks; ++position) {
        const int up = at(groups, position / g).up;
        ASSERT_EQ(at(tree, position).up, up < 0 ? -1 : up * g + position % g);
      }
    }
  }
}

TEST(TreeShape, ATreeOfNodesIsAChainWithinEachNodeAndABinaryTreeBetween) {
  for (int ranks = 1; ranks <= 96; ++ranks) {
    for (int node_ranks = 1; node_ranks <= ranks; ++node_ranks) {
      if (ranks % node_ranks != 0) continue;
      const Tree tree = tree_of(ranks, [=](int p) { return node_tree_node(p, ranks, node_ranks); });
      expect_tree(tree, 2, std::to_string(ranks) + " in nodes of " + std::to_string(node_ranks));
      ASSERT_EQ(roots_of(tree), 1);
      const Tree nodes = binary_tree(ranks / node_ranks);
      for (int p = 0; p < ranks; ++p) {
        if (p % node_ranks > 0) {
          ASSERT_EQ(at(tree, p).up, p - 1);
        } else {
          const int up = at(tree, p).up;
          ASSERT_EQ(up < 0 ? -1 : up / node_ranks, at(nodes, p / node_ranks).up);
        }
      }
      // Down each level at most from a node's first rank to its second and on; then along the last chain.
      const int levels = 1 + floor_log2(ranks / node_ranks);
      ASSERT_LE(depth_of(tree), 2 * levels + node_ranks - 1);
    }
  }
}

TEST(TreeShape, ANodesFirstRankHasTheParentAndTheFirstChildItsSecondRankTheOtherChild) {
  // Seven nodes of four. Node 4 lies between 2 and 6, node 2 between 1 and 3.
  const Tree tree = tree_of(28, [](int position) { return node_tree_node(position, 28, 4); });
  EXPECT_EQ(at(tree, 4 * 4).up, 0);
  EXPECT_EQ(children(at(tree, 0)), (std::vector<int>{1, 4 * 4}));
  EXPECT_EQ(children(at(tree, 4 * 4)), (std::vector<int>{4 * 4 + 1, 2 * 4}));
  EXPECT_EQ(children(at(tree, 4 * 4 + 1)), (std::vector<int>{4 * 4 + 2, 6 * 4}));
  EXPECT_EQ(at(tree, 2 * 4).up, 4 * 4);
  EXPECT_EQ(at(tree, 6 * 4).up, 4 * 4 + 1);
}

TEST(TreeShape, ARingOverNodesRunsThroughNodeAfterNode) {
  EXPECT_EQ(order_across_nodes({{2, 0, 1}, {5, 3, 4}}), (std::vector<int>{2, 0, 1, 5, 3, 4}));
  EXPECT_EQ(order_across_nodes({{0, 1}}), (std::vector<int>{0, 1}));
}

}  // namespace
}  // namespace lanecast
