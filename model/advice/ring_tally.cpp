#include "model/advice/ring_tally.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lanecast {
namespace {

constexpr double kTicksPerSecond = 1e22;

}  // namespace

Seconds seconds_of(LinkTicks ticks) { return Seconds(static_cast<double>(ticks.value()) / kTicksPerSecond); }

RingTally::RingTally(const RingHops& hops)
    : hops_(hops),
      // of the 2 (n-1) chunks that cross a hop, the sender sends one without a receive, and the receiver
      // keeps one without a send
      alone_(1.0 / (2.0 * static_cast<double>(hops.ranks() - 1))),
      ticks_(hops.resources(), 0),
      before_(hops.ranks()),
      after_(hops.ranks()) {
  std::iota(before_.begin(), before_.end(), 0);
  std::iota(after_.begin(), after_.end(), 0);
}

void RingTally::count(const std::vector<LinkUse>& uses, double packets, int sign) {
  for (const LinkUse& use : uses) {
    const std::int64_t ticks = sign * std::llround(use.per_wire_byte.value() * packets * kTicksPerSecond);
    ticks_[static_cast<std::size_t>(use.resource)] += ticks;
    total_ticks_ += ticks;
  }
}

void RingTally::count(std::size_t before, std::size_t at, std::size_t after, int sign) {
  const RingHop& in = hops_.hop(before, at);
  const RingHop& out = hops_.hop(at, after);
  const double both = std::max(in.load_packets, out.store_packets);
  count(out.stores, alone_ * out.store_packets + (1.0 - alone_) * both, sign);
  count(in.loads, alone_ * in.load_packets + (1.0 - alone_) * both, sign);
  latency_fs_ += sign * out.latency.value();
}

void RingTally::take(const RankOrder& order) {
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t at = order[i];
    const std::size_t before = order[i == 0 ? order.size() - 1 : i - 1];
    const std::size_t after = order[i + 1 == order.size() ? 0 : i + 1];
    if (before_[at] == before && after_[at] == after) continue;
    if (after_[at] != at) remove(before_[at], at, after_[at]);
    add(before, at, after);
    before_[at] = before;
    after_[at] = after;
  }
}

RingScore RingTally::score() const {
  return {LinkTicks(*std::max_element(ticks_.begin(), ticks_.end())), LinkTicks(total_ticks_),
          Femtoseconds(latency_fs_)};
}

int RingTally::most_loaded() const {
  return static_cast<int>(std::max_element(ticks_.begin(), ticks_.end()) - ticks_.begin());
}

}  // namespace lanecast
