#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/schedule/geometry.hpp"

namespace lanecast::support {

using RankOrder = std::vector<int>;  // rank at each position

enum class TreeShape : std::uint8_t { chain, binary, star, nodes };

/// A schedule, and what shapes it.
struct ScheduleShape {
  Schedule schedule = Schedule::ring;
  TreeShape tree = TreeShape::chain;  // of Schedule::tree
  int group_ranks = 1;  // neighbouring positions of a group (hierarchical) or a node (ring, tree of nodes)
  bool outer_tree = false;  // hierarchical
};

/// "ring", "tree of nodes of 4", "hierarchical of groups of 2 with an outer tree".
std::string describe(const ScheduleShape& shape);

/// Every shape in which `ranks` ranks (2 or more) can do this collective, each group size that divides them
/// included.
std::vector<ScheduleShape> shapes_for(Collective collective, int ranks);

/// How a channel cuts its share; the fields of ChannelWork, in elements.
struct ShareGeometry {
  std::uint64_t chunk_count = 64;
  std::uint64_t grain_count = 1;
  int slices_per_chunk = 1;
  std::uint64_t min_slice_count = 1;
};

/// The work of every rank on every channel. `orders` owns what ChannelWork::order points to; a plan that was
/// made elsewhere may leave it empty and look after its pointers itself.
struct ChannelWorks {
  std::vector<std::vector<ChannelWork>> works;  // [rank][channel]
  std::shared_ptr<const std::vector<RankOrder>> orders;
};

/// What `split_evenly` needs to know of a call.
struct ShareSplit {
  Collective collective = Collective::all_reduce;
  ScheduleShape shape;
  std::vector<RankOrder> orders;  // one a channel; all of the same ranks
  int root = 0;                   // rank; at position 0 of every channel's tree, unless that is a star
  bool in_place = false;
  int element_bytes = 4;
  std::uint64_t count =
      0;  // elements of one rank's part: all-gather's input, reduce-scatter's output, else the buffer
  ShareGeometry geometry;
};

/// Gives every channel an equal number of grains, the remainder spread; a channel may get nothing. (NCCL's
/// own split is the business of model/implementation.)
ChannelWorks split_evenly(const ShareSplit& split);

/// Rank at each position of one channel, read from a plan.
RankOrder order_of(const ChannelWorks& plan, int channel);

/// A channel's works by position, each once for every strand: what its threads run.
std::vector<ChannelWork> strands_of(const ChannelWorks& plan, int channel);

/// 0, 1, ... ranks - 1.
RankOrder plain_order(int ranks);
/// An order that is neither plain nor the same for each seed.
RankOrder shuffled_order(int ranks, std::uint64_t seed);
/// Node after node of `node_ranks` consecutive ranks, each in a shuffled order.
RankOrder shuffled_within_nodes(int ranks, int node_ranks, std::uint64_t seed);

}  // namespace lanecast::support
