#pragma once
#include <concepts>
#include <cstdint>

#include "model/units.hpp"

namespace lanecast {

enum class Collective : std::uint8_t { all_reduce, reduce_scatter, all_gather, broadcast, reduce };

/// What one channel of one rank has to do: a plain value that a kernel can take by copy.
///
/// Counts and offsets are elements. The share is that of one *rank's part*: for all-reduce, broadcast and
/// reduce the channel's part of the whole buffer; for all-gather and reduce-scatter the channel's part of one
/// rank's block
/// (`block_stride` elements apart in the larger buffer).
struct RingWork {
  Collective collective = Collective::all_reduce;
  int channel = 0;
  int position = 0;  // of this rank in the ring of this channel
  int ranks = 2;
  int root = 0;  // ring position; broadcast and reduce
  bool in_place = false;
  int element_bytes = 4;
  std::uint64_t offset = 0;        // where the channel's share begins
  std::uint64_t count = 0;         // how many elements the share has
  std::uint64_t block_stride = 0;  // all-gather, reduce-scatter: elements of one rank's block
  std::uint64_t chunk_count = 0;   // elements of a full chunk, a multiple of grain_count
  std::uint64_t grain_count = 1;   // chunk sizes of the last loop are rounded up to this
  int slices_per_chunk = 1;
  const int* order = nullptr;  // rank at each ring position (block numbers); null: position = rank
  std::uint64_t min_slice_count =
      1;  // slices are not made smaller than this (facts.md A2: 1/32 of the step's slice)
};

/// A chunk of one loop: where it lies in the buffers, in elements. Trailing chunks of the last loop may be
/// short or empty.
struct Chunk {
  int index = 0;  // chunk number within the loop
  std::uint64_t offset =
      0;  // in the larger buffer (all-gather output, reduce-scatter input), else in the buffer
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

LANECAST_HD constexpr std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }
LANECAST_HD constexpr std::uint64_t round_up(std::uint64_t a, std::uint64_t b) { return ceil_div(a, b) * b; }

/// Chunks that a loop moves through the ring: `ranks` for all-reduce, else one chunk of each block.
LANECAST_HD constexpr std::uint64_t chunks_per_loop(const RingWork& work) {
  return work.collective == Collective::all_reduce ? static_cast<std::uint64_t>(work.ranks) : 1;
}

/// Loops over the share; 0 for an empty share.
LANECAST_HD constexpr std::uint64_t loop_count(const RingWork& work) {
  return ceil_div(work.count, chunks_per_loop(work) * work.chunk_count);
}

/// Elements of a full chunk in this loop: the last loop divides what remains evenly, rounded up to the grain.
/// Source: facts.md A1.
LANECAST_HD constexpr std::uint64_t chunk_count_of(const RingWork& work, std::uint64_t loop) {
  const std::uint64_t chunks = chunks_per_loop(work);
  const std::uint64_t remaining = work.count - loop * chunks * work.chunk_count;
  if (remaining >= chunks * work.chunk_count) return work.chunk_count;
  return round_up(ceil_div(remaining, chunks), work.grain_count);
}

LANECAST_HD constexpr Chunk chunk_of(const RingWork& work, std::uint64_t loop, int index) {
  const std::uint64_t chunks = chunks_per_loop(work);
  const std::uint64_t base = loop * chunks * work.chunk_count;
  const std::uint64_t size = chunk_count_of(work, loop);
  const std::uint64_t within = base + (chunks > 1 ? static_cast<std::uint64_t>(index) * size : 0);
  Chunk chunk;
  chunk.index = index;
  chunk.block_offset = work.offset + within;
  const int block = work.order == nullptr ? index : work.order[index];
  chunk.offset = chunk.block_offset + work.block_stride * static_cast<std::uint64_t>(block);
  chunk.count = within >= work.count ? 0 : (work.count - within < size ? work.count - within : size);
  return chunk;
}

/// The i-th slice of a chunk. All of a chunk's slices are handed out; those behind its end are empty.
/// Source: facts.md A2 (slice = max(ceil(n / (16 slices)) x 16, floor)).
LANECAST_HD constexpr Slice slice_of(const RingWork& work, const Chunk& chunk, std::uint64_t loop, int step,
                                     int i) {
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
