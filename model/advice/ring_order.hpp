#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/implementation/implementation.hpp"
#include "model/profile/profile.hpp"
#include "model/topology/machine.hpp"

namespace lanecast {

/// GPUs up to which every order is looked at, whatever the machine.
inline constexpr std::size_t kMostExactOrderGpus = 10;

/// What a ring in some order asks of the links: each hop carries the same bytes, over the transport that the
/// implementation takes between its two GPUs.
struct RingLoad {
  std::vector<int> order;   // GPU indices, beginning with the smallest
  BytesPerSecond busbw{0};  // that the links allow at best
  std::string link;         // that allows no more: "uplink0"
  std::string direction;    // as `Resource::direction`: "up", "both"
  int crossings = 0;        // hops of the ring that cross it so
  Seconds total{0};         // link time for each byte that every hop carries, over all links
  Seconds latency{0};       // of one flag once around the ring
};

struct RingOrders {
  RingLoad best;
  RingLoad as_is;      // the ranks in order of their indices
  RingLoad worst;      // of those that were looked at
  bool exact = false;  // every order was looked at; of those that symmetry makes equal, one
  std::uint64_t looked_at = 0;
};

/// What a given order asks of the links.
///
/// The bandwidth is `Prediction::limit_busbw` of an all-reduce by Simple that is large enough for its last
/// chunks not to matter, in this order on all channels.
/// @param transport  as `Call::transport`
/// @param order      at least 2 GPU indices, each once
/// @throws Error     kind usage, as `connect`
RingLoad ring_load(const Machine& machine, const Profile& profile, const Implementation& implementation,
                   std::optional<Transport> transport, const std::vector<int>& order);

/// The order whose most loaded link allows most; of equals, that which loads the links least in sum, then
/// that of the shortest way around, then the first in the order of indices.
///
/// Up to `kMostExactOrderGpus` every order is looked at; above, too, where exchangeable cards leave as few of
/// them (two switches of 8); else a heuristic (docs/tune.md).
/// @param ranks   at least 2 GPU indices
/// @throws Error  kind usage, as `connect`
RingOrders best_ring_order(const Machine& machine, const Profile& profile,
                           const Implementation& implementation, std::optional<Transport> transport,
                           const std::vector<int>& ranks);

/// Why this order, in one sentence: the link that limits, how often the ring crosses it, and how often the
/// order of indices would (or, where that is as good, the worst order); or that no order differs.
std::string explain(const RingOrders& orders);

}  // namespace lanecast
