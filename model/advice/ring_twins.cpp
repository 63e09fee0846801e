#include "model/advice/ring_twins.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace lanecast {
namespace {

/// One use of a resource: from, to, 0 for the stores of a hop and 1 for its loads, times.
using Use = std::array<std::size_t, 4>;

/// A resource as hops see it: what a byte costs, and who uses it.
using Profiles = std::vector<std::pair<double, std::vector<Use>>>;

/// All resources, sorted, with ranks `a` and `b` exchanged: equal to those without wherever some pairing of
/// the resources makes the exchange invisible.
Profiles profiles(const RingHops& hops, std::size_t a, std::size_t b) {
  const auto exchanged = [&](std::size_t rank) { return rank == a ? b : rank == b ? a : rank; };
  Profiles found(hops.resources());
  for (std::size_t r = 0; r < hops.resources(); ++r) found[r].first = hops.resource(r).capacity.value();
  for (std::size_t from = 0; from < hops.ranks(); ++from) {
    for (std::size_t to = 0; to < hops.ranks(); ++to) {
      const RingHop& hop = hops.hop(from, to);
      for (const auto& [uses, role] :
           {std::pair(&hop.stores, std::size_t{0}), std::pair(&hop.loads, std::size_t{1})}) {
        for (const LinkUse& use : *uses) {
          found[static_cast<std::size_t>(use.resource)].second.push_back(
              {exchanged(from), exchanged(to), role, static_cast<std::size_t>(use.times)});
        }
      }
    }
  }
  for (auto& resource : found) std::sort(resource.second.begin(), resource.second.end());
  std::sort(found.begin(), found.end());
  return found;
}

/// Whether hops keep their packets and latencies when `a` and `b` are exchanged.
bool hops_alike(const RingHops& hops, std::size_t a, std::size_t b) {
  const auto alike = [](const RingHop& x, const RingHop& y) {
    return x.store_packets == y.store_packets && x.load_packets == y.load_packets && x.latency == y.latency;
  };
  for (std::size_t other = 0; other < hops.ranks(); ++other) {
    if (other == a || other == b) continue;
    if (!alike(hops.hop(a, other), hops.hop(b, other))) return false;
    if (!alike(hops.hop(other, a), hops.hop(other, b))) return false;
  }
  return alike(hops.hop(a, b), hops.hop(b, a));
}

}  // namespace

std::vector<std::size_t> twins_of(const RingHops& hops) {
  const Profiles as_is = profiles(hops, 0, 0);
  std::vector<std::size_t> twins;
  for (std::size_t b = 0; b < hops.ranks(); ++b) {
    twins.push_back(b);
    for (std::size_t a = 1; a < b && twins[b] == b; ++a) {
      if (twins[a] == a && hops_alike(hops, a, b) && profiles(hops, a, b) == as_is) twins[b] = a;
    }
  }
  return twins;
}

std::uint64_t count_orders(const std::vector<std::size_t>& twins, std::uint64_t most) {
  std::vector<std::uint64_t> alike(twins.size(), 0);
  std::uint64_t orders = 1;
  for (std::size_t rank = 1; rank < twins.size(); ++rank) {
    orders = orders * rank / ++alike[twins[rank]];  // the multinomial of the first ranks: whole, never less
    if (orders >= most) return most;
  }
  return orders;
}

}  // namespace lanecast
