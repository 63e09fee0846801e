#include "tests/support/channel_works.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

#include "model/schedule/schedule.hpp"
#include "model/schedule/tree_shape.hpp"

namespace lanecast::support {
namespace {

int position_of(const RankOrder& order, int rank) {
  return static_cast<int>(std::find(order.begin(), order.end(), rank) - order.begin());
}

TreeNode node_of(const ScheduleShape& shape, int position, int ranks, int root) {
  if (shape.schedule == Schedule::hierarchical) return rail_tree_node(position, ranks, shape.group_ranks);
  switch (shape.tree) {
    case TreeShape::chain:
      return chain_node(position, ranks);
    case TreeShape::binary:
      return binary_tree_node(position, ranks);
    case TreeShape::star:
      return star_node(position, ranks, root);
    case TreeShape::nodes:
      break;
  }
  return node_tree_node(position, ranks, shape.group_ranks);
}

ChannelWork work_of(const ShareSplit& split, const RankOrder& order, int rank) {
  ChannelWork work;
  work.schedule = split.shape.schedule;
  work.collective = split.collective;
  work.position = position_of(order, rank);
  work.ranks = static_cast<int>(order.size());
  work.root = position_of(order, split.root);
  work.in_place = split.in_place;
  work.element_bytes = split.element_bytes;
  work.chunk_count = split.geometry.chunk_count;
  work.grain_count = split.geometry.grain_count;
  work.slices_per_chunk = split.geometry.slices_per_chunk;
  work.min_slice_count = split.geometry.min_slice_count;
  work.order = order.data();
  work.tree = node_of(split.shape, work.position, work.ranks, work.root);
  work.group_ranks = split.shape.group_ranks;
  work.outer_tree = split.shape.outer_tree;
  const bool blocks =
      split.collective == Collective::all_gather || split.collective == Collective::reduce_scatter;
  work.block_stride = blocks ? split.count : 0;
  return work;
}

std::string name_of(const ScheduleShape& shape) {
  switch (shape.schedule) {
    case Schedule::ring:
      return "ring";
    case Schedule::tree:
      break;
    case Schedule::one_shot:
      return "one-shot";
    case Schedule::two_shot:
      return "two-shot";
    case Schedule::halving_doubling:
      return "halving-doubling";
    case Schedule::hierarchical:
      return shape.outer_tree ? "hierarchical with an outer tree" : "hierarchical";
  }
  switch (shape.tree) {
    case TreeShape::chain:
      return "chain";
    case TreeShape::binary:
      return "binary tree";
    case TreeShape::star:
      return "star";
    case TreeShape::nodes:
      break;
  }
  return "tree of nodes";
}

void add_trees(std::vector<ScheduleShape>& shapes, int ranks) {
  for (const TreeShape tree : {TreeShape::chain, TreeShape::binary, TreeShape::star})
    shapes.push_back({Schedule::tree, tree});
  for (int g = 1; g <= ranks; ++g) {
    if (ranks % g == 0) shapes.push_back({Schedule::tree, TreeShape::nodes, g});
  }
}

void add_hierarchies(std::vector<ScheduleShape>& shapes, int ranks) {
  for (int g = 1; g <= ranks; ++g) {
    if (ranks % g != 0) continue;
    shapes.push_back({Schedule::hierarchical, TreeShape::chain, g, false});
    shapes.push_back({Schedule::hierarchical, TreeShape::chain, g, true});
  }
}

}  // namespace

std::string describe(const ScheduleShape& shape) {
  return name_of(shape) + (shape.group_ranks > 1 ? " of " + std::to_string(shape.group_ranks) : "");
}

std::vector<ScheduleShape> shapes_for(Collective collective, int ranks) {
  std::vector<ScheduleShape> shapes;
  for (int g = 1; g < ranks; ++g) {
    if (ranks % g == 0) shapes.push_back({Schedule::ring, TreeShape::chain, g});
  }
  const bool rooted = collective == Collective::broadcast || collective == Collective::reduce;
  if (rooted || collective == Collective::all_reduce) add_trees(shapes, ranks);
  if (!rooted) shapes.push_back({Schedule::two_shot});
  if (collective == Collective::all_gather && power_of_two_within(ranks) == ranks)
    shapes.push_back({Schedule::halving_doubling});
  if (collective != Collective::all_reduce) return shapes;
  shapes.push_back({Schedule::one_shot});
  shapes.push_back({Schedule::halving_doubling});
  add_hierarchies(shapes, ranks);
  return shapes;
}

ChannelWorks split_evenly(const ShareSplit& split) {
  ChannelWorks plan;
  plan.orders = std::make_shared<const std::vector<RankOrder>>(split.orders);
  const std::uint64_t channels = split.orders.size();
  const std::uint64_t grains = ceil_div(split.count, split.geometry.grain_count);
  const int ranks = static_cast<int>(split.orders.at(0).size());
  for (int rank = 0; rank < ranks; ++rank) {
    std::vector<ChannelWork> works;
    for (std::uint64_t channel = 0; channel < channels; ++channel) {
      ChannelWork work = work_of(split, (*plan.orders)[channel], rank);
      work.channel = static_cast<int>(channel);
      work.offset = std::min(split.count, grains * channel / channels * split.geometry.grain_count);
      const std::uint64_t end = grains * (channel + 1) / channels * split.geometry.grain_count;
      work.count = std::min(split.count, end) - work.offset;
      works.push_back(work);
    }
    plan.works.push_back(std::move(works));
  }
  return plan;
}

RankOrder order_of(const ChannelWorks& plan, int channel) {
  RankOrder order(plan.works.size(), -1);
  for (std::size_t rank = 0; rank < plan.works.size(); ++rank) {
    const ChannelWork& work = plan.works[rank].at(static_cast<std::size_t>(channel));
    order.at(static_cast<std::size_t>(work.position)) = static_cast<int>(rank);
  }
  return order;
}

std::vector<ChannelWork> strands_of(const ChannelWorks& plan, int channel) {
  std::vector<ChannelWork> strands;
  for (const int rank : order_of(plan, channel)) {
    ChannelWork work = plan.works.at(static_cast<std::size_t>(rank)).at(static_cast<std::size_t>(channel));
    for (work.strand = 0; work.strand < strand_count(work); ++work.strand) strands.push_back(work);
  }
  return strands;
}

RankOrder plain_order(int ranks) {
  RankOrder order(static_cast<std::size_t>(ranks));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

RankOrder shuffled_order(int ranks, std::uint64_t seed) {
  RankOrder order = plain_order(ranks);
  std::mt19937_64 random(seed);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  return order;
}

RankOrder shuffled_within_nodes(int ranks, int node_ranks, std::uint64_t seed) {
  std::vector<RankOrder> chains;
  for (int first = 0; first < ranks; first += node_ranks) {
    RankOrder chain = shuffled_order(node_ranks, seed + static_cast<std::uint64_t>(first));
    for (int& rank : chain) rank += first;
    chains.push_back(std::move(chain));
  }
  return order_across_nodes(chains);
}

}  // namespace lanecast::support
