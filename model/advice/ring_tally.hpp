#pragma once
#include <compare>
#include <cstdint>
#include <vector>

#include "model/advice/ring_hops.hpp"

namespace lanecast {

/// Time that a link is busy with one payload byte of every hop, in 1e-22 s; whole for the reason of
/// `Femtoseconds`.
using LinkTicks = Quantity<struct LinkTicksTag, std::int64_t>;

Seconds seconds_of(LinkTicks ticks);

/// What an order is judged by, first things first; less is better.
struct RingScore {
  LinkTicks most;        // of the most loaded link
  LinkTicks total;       // of all links
  Femtoseconds latency;  // of a flag once around
  auto operator<=>(const RingScore&) const = default;
};

/// Adds up what the ranks of an all-reduce by Simple ask of the links, rank by rank: a block that loads and
/// stores in one turn is charged the heavier packets for both, which rests on both neighbours.
class RingTally {
 public:
  explicit RingTally(const RingHops& hops);

  /// The turns of the rank `at` between its neighbours, and its hop to the next.
  void add(std::size_t before, std::size_t at, std::size_t after) { count(before, at, after, 1); }
  void remove(std::size_t before, std::size_t at, std::size_t after) { count(before, at, after, -1); }

  /// All turns of a ring in place of that which was taken before; only ranks with new neighbours are counted
  /// anew. Not to be mixed with `add`.
  void take(const RankOrder& order);

  RingScore score() const;
  int most_loaded() const;  // the first resource of those that are loaded most

 private:
  void count(std::size_t before, std::size_t at, std::size_t after, int sign);
  void count(const std::vector<LinkUse>& uses, double packets, int sign);

  const RingHops& hops_;
  double alone_;  // share of a hop's bytes that a block only stores, or only loads
  std::vector<std::int64_t> ticks_;
  std::int64_t total_ticks_ = 0;
  std::int64_t latency_fs_ = 0;
  std::vector<std::size_t> before_;  // [rank] of the ring that was taken; itself: none
  std::vector<std::size_t> after_;
};

}  // namespace lanecast
