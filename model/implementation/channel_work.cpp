#include "model/implementation/channel_work.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "model/error.hpp"
#include "model/schedule/tree_shape.hpp"

namespace lanecast {
namespace {

bool in_blocks(const Call& call) {
  return call.collective == Collective::all_gather || call.collective == Collective::reduce_scatter;
}

/// 0 where the collective has no root: the centre of a star is then the first rank.
int root_position(const Call& call, const Ring& ring) {
  if (call.collective != Collective::broadcast && call.collective != Collective::reduce) return 0;
  const auto at = std::find(ring.order.begin(), ring.order.end(), call.root);
  if (at == ring.order.end()) {
    throw Error(ErrorKind::usage, "root " + std::to_string(call.root) + " is not among the ranks", "--root",
                "name a GPU that takes part");
  }
  return static_cast<int>(at - ring.order.begin());
}

/// NCCL's trees are chains within a node; the engine's are binary over all ranks.
TreeNode tree_node(const ResolvedCall& resolved, const ChannelWork& work) {
  switch (resolved.algorithm) {
    case Algorithm::tree:
      return resolved.chains ? chain_node(work.position, work.ranks)
                             : binary_tree_node(work.position, work.ranks);
    case Algorithm::star:
      return star_node(work.position, work.ranks, work.root);
    case Algorithm::hierarchical_tree:
      return rail_tree_node(work.position, work.ranks, work.group_ranks);
    default:
      return {};
  }
}

/// A turn's region is whole parts of a grain at least: a chunk has to hold them.
void check_chunk(const ChannelWork& work, Bytes chunk, bool chunk_given) {
  const std::uint64_t least = parts_per_chunk(work) * work.grain_count;
  if (work.chunk_count >= least) return;
  const std::uint64_t bytes = least * static_cast<std::uint64_t>(work.element_bytes);
  throw Error(ErrorKind::usage,
              "a chunk of " + std::to_string(chunk.value()) + " B cannot be divided into " +
                  std::to_string(parts_per_chunk(work)) + " parts of 16 B",
              chunk_given ? "--chunk" : "--buffsize",
              std::string(chunk_given ? "take " : "take a buffer whose chunks have ") +
                  std::to_string(bytes) + " B or more");
}

}  // namespace

std::uint64_t elements_of(const Call& call, int ranks) {
  const auto element = static_cast<std::uint64_t>(element_bytes(call.datatype));
  const bool blocks = in_blocks(call);
  const std::uint64_t unit = blocks ? element * static_cast<std::uint64_t>(ranks) : element;
  if (call.size.value() == 0 || call.size.value() % unit != 0) {
    throw Error(ErrorKind::usage,
                "a size of " + std::to_string(call.size.value()) + " B is no positive multiple of " +
                    std::to_string(unit) + " B (" + to_string(call.datatype) + (blocks ? " x ranks)" : ")"),
                "size", "round it down");
  }
  if (call.size.value() > (std::uint64_t{1} << 42)) {
    throw Error(ErrorKind::usage, "a size of " + std::to_string(call.size.value()) + " B", "size",
                "take at most 4 TiB");
  }
  return call.size.value() / unit;
}

void split_work(ResolvedCall& resolved, const ChunkGeometry& geometry, std::uint64_t count,
                Bytes min_traffic) {
  const Call& call = resolved.call;
  const auto ranks = static_cast<int>(resolved.order().size());
  const auto element = static_cast<std::uint64_t>(element_bytes(call.datatype));
  const std::vector<std::uint64_t> shares =
      split_over_channels(count, element_bytes(call.datatype), call.collective, ranks, resolved.protocol,
                          resolved.channels, min_traffic);
  ChannelWork work;
  work.schedule = schedule_of(resolved.algorithm);
  work.collective = call.collective;
  work.ranks = ranks;
  work.in_place = call.in_place;
  work.element_bytes = static_cast<int>(element);
  work.block_stride = in_blocks(call) ? count : 0;
  work.grain_count = std::max<std::uint64_t>(1, 16 / element);
  work.chunk_count = std::max<std::uint64_t>(1, geometry.chunk.value() / element);
  work.slices_per_chunk = geometry.slices_per_chunk;
  work.min_slice_count = std::max<std::uint64_t>(1, geometry.min_slice.value() / element);
  work.group_ranks = resolved.group_ranks;
  work.outer_tree = resolved.algorithm == Algorithm::hierarchical_tree;
  check_chunk(work, geometry.chunk, call.chunk.has_value());
  const std::uint64_t chunk = work.chunk_count;
  const std::uint64_t odd_chunk = geometry.odd_chunk.value() == 0
                                      ? chunk
                                      : std::max<std::uint64_t>(1, geometry.odd_chunk.value() / element);
  for (std::size_t c = 0; c < shares.size(); ++c) {
    work.channel = static_cast<int>(c);
    work.chunk_count = c % 2 == 0 ? chunk : odd_chunk;
    work.root = root_position(call, resolved.ring(c));
    work.count = shares[c];
    std::vector<ChannelWork> positions;
    for (int position = 0; position < ranks; ++position) {
      work.position = position;
      work.tree = tree_node(resolved, work);
      positions.push_back(work);
    }
    resolved.work.push_back(std::move(positions));
    work.offset += shares[c];
  }
  resolved.channels = static_cast<int>(shares.size());
}

}  // namespace lanecast
