#pragma once
#include <cstdint>
#include <vector>

#include "model/advice/ring_tally.hpp"

namespace lanecast {

/// Best and worst of the orders that were looked at. Of equals the first in the order of indices.
struct FoundOrders {
  RankOrder best;
  RankOrder worst;
  RingScore best_score;
  RingScore worst_score;
  std::uint64_t looked_at = 0;

  void look_at(const RankOrder& order, const RingScore& score);
};

/// Every order that begins with the first rank; of those that exchanged twins make equal, the first.
///
/// No bound cuts branches off, as the worst order is sought as well: 10 ranks have 362 880 orders.
/// @param twins  from `twins_of`
FoundOrders search_all_orders(const RingHops& hops, const std::vector<std::size_t>& twins);

}  // namespace lanecast
