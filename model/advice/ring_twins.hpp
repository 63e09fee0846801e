#pragma once
#include <cstdint>
#include <vector>

#include "model/advice/ring_hops.hpp"

namespace lanecast {

/// For each rank the smallest that can be exchanged with it, itself where there is none: exchanging the two
/// turns any ring into one that loads links of the same capacities alike and is as long.
///
/// Sound, not complete: two cards are exchanged, never two switches with all that hangs on them. The first
/// rank, at which orders begin, is nobody's twin.
std::vector<std::size_t> twins_of(const RingHops& hops);

/// Orders that begin with the first rank, twins being alike; `most` where there are more.
std::uint64_t count_orders(const std::vector<std::size_t>& twins, std::uint64_t most);

}  // namespace lanecast
