#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "model/schedule/geometry.hpp"

namespace lanecast::support {

using RingOrder = std::vector<int>;  // rank at each ring position

/// How a channel cuts its share; the fields of RingWork, in elements.
struct RingGeometry {
  std::uint64_t chunk_count = 64;
  std::uint64_t grain_count = 1;
  int slices_per_chunk = 1;
  std::uint64_t min_slice_count = 1;
};

/// The work of every rank on every channel. `orders` owns what RingWork::order points to; a plan that was
/// made elsewhere may leave it empty and look after its pointers itself.
struct RingWorks {
  std::vector<std::vector<RingWork>> works;  // [rank][channel]
  std::shared_ptr<const std::vector<RingOrder>> orders;
};

/// What `split_evenly` needs to know of a call.
struct RingSplit {
  Collective collective = Collective::all_reduce;
  std::vector<RingOrder> orders;  // one a channel; all of the same ranks
  int root = 0;                   // rank
  bool in_place = false;
  int element_bytes = 4;
  std::uint64_t count =
      0;  // elements of one rank's part: all-gather's input, reduce-scatter's output, else the buffer
  RingGeometry geometry;
};

/// Gives every channel an equal number of grains, the remainder spread; a channel may get nothing. (NCCL's
/// own split is the business of model/implementation.)
RingWorks split_evenly(const RingSplit& split);

/// Rank at each position of one channel, read from a plan.
RingOrder ring_order(const RingWorks& plan, int channel);

/// 0, 1, ... ranks - 1.
RingOrder plain_order(int ranks);
/// A ring order that is neither plain nor the same for each seed.
RingOrder shuffled_order(int ranks, std::uint64_t seed);

}  // namespace lanecast::support
