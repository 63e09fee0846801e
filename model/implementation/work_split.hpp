#pragma once
#include <vector>

#include "model/predict/call.hpp"
#include "model/schedule/geometry.hpp"
#include "model/units.hpp"

namespace lanecast {

/// Sizes of one connection and of the pieces that go through it.
struct ChunkGeometry {
  Bytes buffsize{0};   // wire
  Bytes chunk{0};      // payload of a full chunk
  Bytes slice{0};      // payload of a full slice
  Bytes odd_chunk{0};  // of channels of odd number; 0: as of the others
  int slices_per_chunk = 1;
  int fifo_slices = 8;  // slices that fit the buffer
  Bytes min_slice{0};   // payload floor of a slice
  Bytes grain{16};
};

/// NCCL's chunk and slice sizes: FIFO of 8 steps, chunks of 4 steps in 2 slices for Simple all-reduce,
/// reduce-scatter and all-gather by anything but a tree, else one step.
///
/// @param buffsize  wire bytes of a connection; absent: the protocol's default, or what a larger chunk needs
/// at least
/// @param chunk     payload of a chunk; absent: NCCL's. Slices keep their number a chunk, FIFO depth =
/// buffsize / slice
/// @throws Error    kind usage: a buffer below one step's grain, or that doesn't hold a chunk (the ring would
/// lock up) Source: facts.md A2.
ChunkGeometry chunk_geometry(Protocol protocol, Collective collective, Schedule schedule,
                             std::optional<Bytes> buffsize, std::optional<Bytes> chunk);

/// The same connection with smaller chunks of one slice; the FIFO keeps its number of slots.
ChunkGeometry with_chunk(ChunkGeometry geometry, Bytes chunk);

/// NCCL halves the chunks of Tree with LL128, so that small calls fill the pipeline: at least 64/n of them a
/// channel down to 128 KiB, 16/n down to 32 KiB, each times 1 + n/10.
/// @param ranks  of one node
/// Source: NVIDIA/nccl src/enqueue.cc (calcCollChunking).
Bytes tree_ll128_chunk(Bytes chunk, Bytes size, int channels, int ranks);

/// How many elements each channel gets: NCCL's cells.
///
/// Cells are dealt out in equal runs; the last channel takes the rest, so that small calls use fewer
/// channels.
/// @param count        elements to split (of one rank's block for all-gather and reduce-scatter)
/// @param min_traffic  of a cell, which LL counts four times (see `NcclRules::min_traffic`)
/// @return       at most `channels` counts, none of them 0 unless count is 0
/// Source: facts.md A5.4 (NVIDIA/nccl src/enqueue.cc scheduleCollTasksToPlan).
std::vector<std::uint64_t> split_over_channels(std::uint64_t count, int element_bytes, Collective collective,
                                               int ranks, Protocol protocol, int channels, Bytes min_traffic);

}  // namespace lanecast
