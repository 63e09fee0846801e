#include "tests/support/ring_works.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

namespace lanecast::support {
namespace {

int position_of(const RingOrder& order, int rank) {
  return static_cast<int>(std::find(order.begin(), order.end(), rank) - order.begin());
}

RingWork work_of(const RingSplit& split, const RingOrder& order, int rank) {
  RingWork work;
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
  const bool blocks =
      split.collective == Collective::all_gather || split.collective == Collective::reduce_scatter;
  work.block_stride = blocks ? split.count : 0;
  return work;
}

}  // namespace

RingWorks split_evenly(const RingSplit& split) {
  RingWorks plan;
  plan.orders = std::make_shared<const std::vector<RingOrder>>(split.orders);
  const std::uint64_t channels = split.orders.size();
  const std::uint64_t grains = ceil_div(split.count, split.geometry.grain_count);
  const int ranks = static_cast<int>(split.orders.at(0).size());
  for (int rank = 0; rank < ranks; ++rank) {
    std::vector<RingWork> works;
    for (std::uint64_t channel = 0; channel < channels; ++channel) {
      RingWork work = work_of(split, (*plan.orders)[channel], rank);
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

RingOrder ring_order(const RingWorks& plan, int channel) {
  RingOrder order(plan.works.size(), -1);
  for (std::size_t rank = 0; rank < plan.works.size(); ++rank) {
    const RingWork& work = plan.works[rank].at(static_cast<std::size_t>(channel));
    order.at(static_cast<std::size_t>(work.position)) = static_cast<int>(rank);
  }
  return order;
}

RingOrder plain_order(int ranks) {
  RingOrder order(static_cast<std::size_t>(ranks));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

RingOrder shuffled_order(int ranks, std::uint64_t seed) {
  RingOrder order = plain_order(ranks);
  std::mt19937_64 random(seed);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  return order;
}

}  // namespace lanecast::support
