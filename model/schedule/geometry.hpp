#pragma once
#include <cstdint>

#include "model/schedule/turn.hpp"
#include "model/units.hpp"

namespace lanecast {

enum class Collective : std::uint8_t { all_reduce, reduce_scatter, all_gather, broadcast, reduce };

/// The ways in which ranks can work together; each is written once, in a header of this folder.
enum class Schedule : std::uint8_t {
  ring,              // ring.hpp
  tree,              // tree.hpp: chain, binary tree, star; what it is says the tree's shape
  one_shot,          // direct.hpp: everyone sends everything to everyone
  two_shot,          // direct.hpp: everyone collects one part, and hands it out
  halving_doubling,  // halving_doubling.hpp
  hierarchical       // hierarchical.hpp
};

/// A rank's place in a tree, as ring positions.
struct TreeNode {
  int up = -1;  // -1: the root
  Peers down;
};

/// What one channel of one rank has to do: a plain value that a kernel can take by copy.
///
/// Counts and offsets are elements. The share is that of one *rank's part*: for all-reduce, broadcast and
/// reduce the channel's part of the whole buffer; for all-gather and reduce-scatter the channel's part of one
/// rank's block (`block_stride` elements apart in the larger buffer).
struct ChannelWork {
  Schedule schedule = Schedule::ring;
  Collective collective = Collective::all_reduce;
  int channel = 0;
  int position = 0;  // of this rank in the order of this channel
  int ranks = 2;
  int root = 0;  // position; broadcast and reduce
  bool in_place = false;
  int element_bytes = 4;
  std::uint64_t offset = 0;        // where the channel's share begins
  std::uint64_t count = 0;         // how many elements the share has
  std::uint64_t block_stride = 0;  // all-gather, reduce-scatter: elements of one rank's block
  std::uint64_t chunk_count = 0;   // most elements that a turn is about, a multiple of grain_count
  std::uint64_t grain_count = 1;   // part sizes are rounded up to this
  int slices_per_chunk = 1;
  const int* order = nullptr;  // rank at each position (block numbers); null: position = rank
  std::uint64_t min_slice_count =
      1;                    // slices are not made smaller than this (facts.md A2: 1/32 of the step's slice)
  int strand = 0;           // which of the concurrent halves of this channel's work: see strand_count
  TreeNode tree;            // tree; hierarchical with a tree between groups
  int group_ranks = 1;      // hierarchical: ranks of a group, which have consecutive positions
  bool outer_tree = false;  // hierarchical: a tree between groups instead of a ring
};

/// Consecutive parts of one loop: where they lie in the buffers, in elements. The last loop's may be short or
/// empty.
struct Chunk {
  int index = 0;             // of the first part within the loop
  std::uint64_t offset = 0;  // in the larger buffer (all-gather output, reduce-scatter input), else in the
                             // buffer
  std::uint64_t block_offset = 0;  // within one rank's block (reduce-scatter output, all-gather input)
  std::uint64_t count = 0;
};

/// One slice: the unit of data in flight, of posting and of credit. `slice_bytes` is payload.
struct Slice {
  std::uint64_t loop = 0;
  int step = 0;
  int chunk = 0;
  int slice = 0;
  std::uint64_t offset = 0;
  std::uint64_t block_offset = 0;
  std::uint64_t count = 0;
};

LANECAST_HD constexpr std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) {
#if defined(__CUDA_ARCH__)
  if (a <= b) return a == 0 ? 0 : 1;  // a small call: no division at all
  if ((a + b) >> 32 == 0)             // GPUs divide 64-bit numbers by a long routine
    return (static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b) - 1) /
           static_cast<std::uint32_t>(b);
#endif
  return (a + b - 1) / b;
}
LANECAST_HD constexpr std::uint64_t round_up(std::uint64_t a, std::uint64_t b) { return ceil_div(a, b) * b; }

/// The largest power of two that is no larger than `ranks` (1 or more).
LANECAST_HD constexpr int power_of_two_within(int ranks) {
  int power = 1;
  while (2 * power <= ranks) power *= 2;
  return power;
}

/// Equal parts that a loop is divided into; regions of turns are made of whole parts. 1 where the data are
/// already in blocks (all-gather, reduce-scatter), of which a loop takes a piece of each.
LANECAST_HD constexpr std::uint64_t parts_per_loop(const ChannelWork& work) {
  if (work.collective != Collective::all_reduce) return 1;
  switch (work.schedule) {
    case Schedule::ring:
    case Schedule::two_shot:
      return static_cast<std::uint64_t>(work.ranks);
    case Schedule::halving_doubling:
      return static_cast<std::uint64_t>(power_of_two_within(work.ranks));
    case Schedule::hierarchical:
      return static_cast<std::uint64_t>(work.outer_tree ? work.group_ranks : work.ranks);
    case Schedule::tree:
    case Schedule::one_shot:
      return 1;
  }
  return 1;
}

/// Parts of the largest region that one turn is about: together no more than a chunk.
LANECAST_HD constexpr std::uint64_t parts_per_chunk(const ChannelWork& work) {
  if (work.collective != Collective::all_reduce) return 1;
  if (work.schedule == Schedule::halving_doubling) return parts_per_loop(work);
  if (work.schedule == Schedule::hierarchical && !work.outer_tree)
    return static_cast<std::uint64_t>(work.ranks / work.group_ranks);
  return 1;
}

/// Elements of a part of a full loop, a multiple of the grain and at least one.
LANECAST_HD constexpr std::uint64_t full_part_count(const ChannelWork& work) {
  const std::uint64_t parts = parts_per_chunk(work);
  if (parts == 1) return work.chunk_count;
  const std::uint64_t part = work.chunk_count / parts / work.grain_count * work.grain_count;
  return part == 0 ? work.grain_count : part;
}

/// Loops over the share; 0 for an empty share.
LANECAST_HD constexpr std::uint64_t loop_count(const ChannelWork& work) {
  return ceil_div(work.count, parts_per_loop(work) * full_part_count(work));
}

/// Elements of a part in this loop: the last loop divides what remains evenly, rounded up to the grain.
/// Source: facts.md A1.
LANECAST_HD constexpr std::uint64_t part_count_of(const ChannelWork& work, std::uint64_t loop) {
  const std::uint64_t parts = parts_per_loop(work);
  const std::uint64_t full = full_part_count(work);
  const std::uint64_t remaining = work.count - loop * parts * full;
  if (remaining >= parts * full) return full;
  return round_up(ceil_div(remaining, parts), work.grain_count);
}

/// @param part   part_count_of(work, loop)
/// @param index  of the first part; where the data are in blocks, the position whose block it is
/// @param parts  how many, side by side
LANECAST_HD constexpr Chunk chunk_of(const ChannelWork& work, std::uint64_t loop, std::uint64_t part,
                                     int index, int parts) {
  const std::uint64_t in_loop = parts_per_loop(work);
  const std::uint64_t base = loop * in_loop * full_part_count(work);
  const std::uint64_t size = part * static_cast<std::uint64_t>(parts);
  const std::uint64_t within = base + (in_loop > 1 ? static_cast<std::uint64_t>(index) * part : 0);
  Chunk chunk;
  chunk.index = index;
  chunk.block_offset = work.offset + within;
  const int block = work.order == nullptr ? index : work.order[index];
  chunk.offset = chunk.block_offset + work.block_stride * static_cast<std::uint64_t>(block);
  chunk.count = within >= work.count ? 0 : (work.count - within < size ? work.count - within : size);
  return chunk;
}

LANECAST_HD constexpr Chunk chunk_of(const ChannelWork& work, std::uint64_t loop, int index, int parts = 1) {
  return chunk_of(work, loop, part_count_of(work, loop), index, parts);
}

/// The i-th slice of a chunk. All of a chunk's slices are handed out; those behind its end are empty.
/// Source: facts.md A2 (slice = max(ceil(n / (16 slices)) x 16, floor)).
LANECAST_HD constexpr Slice slice_of(const ChannelWork& work, const Chunk& chunk, std::uint64_t loop,
                                     int step, int i) {
  const auto slices = static_cast<std::uint64_t>(work.slices_per_chunk);
  std::uint64_t size = slices == 1 ? chunk.count : ceil_div(chunk.count, 16 * slices) * 16;
  if (size < work.min_slice_count) size = work.min_slice_count;
  const std::uint64_t begin = static_cast<std::uint64_t>(i) * size;
  Slice slice;
  slice.loop = loop;
  slice.step = step;
  slice.chunk = chunk.index;
  slice.slice = i;
  slice.offset = chunk.offset + begin;
  slice.block_offset = chunk.block_offset + begin;
  slice.count = begin >= chunk.count ? 0 : (chunk.count - begin < size ? chunk.count - begin : size);
  return slice;
}

}  // namespace lanecast
