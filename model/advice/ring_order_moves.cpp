#include "model/advice/ring_order_moves.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <tuple>
#include <utility>

#include "model/topology/routes.hpp"

namespace lanecast {
namespace {

constexpr int kShuffledStarts = 3;
constexpr int kDisplacedStarts = 12;
constexpr std::size_t kLongestMoved = 3;            // ranks that are moved elsewhere together
constexpr std::uint64_t kMostLookedAt = 1'000'000;  // seconds, of 64 ranks

RankOrder by_index(const RingHops& hops) {
  RankOrder order(hops.ranks());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

/// Socket by socket, root by root, switch by switch.
RankOrder along_the_tree(const Machine& machine, const RingHops& hops) {
  std::vector<std::vector<int>> places;
  for (std::size_t rank = 0; rank < hops.ranks(); ++rank) {
    const NodeId gpu{NodeKind::gpu, hops.gpu(rank)};
    const auto cpu = cpu_of(machine, gpu);
    const int socket = cpu ? machine.cpus[static_cast<std::size_t>(*cpu)].socket : -1;
    std::vector<int> place{socket, cpu.value_or(-1), root_of(machine, gpu).value_or(-1)};
    const std::vector<int> up = links_to_root(machine, gpu);
    place.insert(place.end(), up.rbegin(), up.rend());
    places.push_back(std::move(place));
  }
  RankOrder order = by_index(hops);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return places[a] < places[b]; });
  return order;
}

/// Link time of a hop, both ways' worth of it being one rank's turns.
Seconds hop_time(const RingHop& hop) {
  Seconds sum(0);
  for (const LinkUse& use : hop.stores) sum += use.per_wire_byte * hop.store_packets;
  for (const LinkUse& use : hop.loads) sum += use.per_wire_byte * hop.load_packets;
  return sum;
}

/// Always on to the nearest rank that is left.
RankOrder along_nearest(const RingHops& hops) {
  RankOrder order = by_index(hops);
  for (std::size_t i = 1; i < order.size(); ++i) {
    const auto nearest = std::min_element(
        order.begin() + static_cast<std::ptrdiff_t>(i), order.end(), [&](std::size_t a, std::size_t b) {
          const RingHop& to_a = hops.hop(order[i - 1], a);
          const RingHop& to_b = hops.hop(order[i - 1], b);
          return std::tuple(hop_time(to_a), to_a.latency, a) < std::tuple(hop_time(to_b), to_b.latency, b);
        });
    std::iter_swap(order.begin() + static_cast<std::ptrdiff_t>(i), nearest);
  }
  return order;
}

class Walks {
 public:
  Walks(const Machine& machine, const RingHops& hops) : machine_(machine), hops_(hops), tally_(hops) {}

  FoundOrders run() {
    walk(along_the_tree(machine_, hops_));
    walk(by_index(hops_));
    walk(along_nearest(hops_));
    for (int i = 0; i < kShuffledStarts; ++i) walk(shuffled(hops_.ranks()));
    for (int i = 0; i < kDisplacedStarts; ++i) walk(displaced(found_.best));
    return std::move(found_);
  }

 private:
  /// From `start`, step by step, to an order that no step makes better.
  void walk(RankOrder start) {
    std::rotate(start.begin(), std::find(start.begin(), start.end(), std::size_t{0}), start.end());
    order_ = std::move(start);
    score_ = looked_at(order_);
    for (bool better = true; better && found_.looked_at < kMostLookedAt;) {
      better = reverse_stretches();
      better = move_stretches() || better;
    }
  }

  RingScore looked_at(const RankOrder& order) {
    tally_.take(order);
    const RingScore score = tally_.score();
    found_.look_at(order, score);
    return score;
  }

  bool step_to(const RankOrder& next) {
    const RingScore score = looked_at(next);
    if (!(score < score_)) return false;
    order_ = next;
    score_ = score;
    return true;
  }

  bool reverse_stretches() {
    bool better = false;
    for (std::size_t i = 1; i < order_.size(); ++i) {
      for (std::size_t j = i + 2; j <= order_.size() && found_.looked_at < kMostLookedAt; ++j) {
        RankOrder next = order_;
        std::reverse(at(next, i), at(next, j));
        better = step_to(next) || better;
      }
    }
    return better;
  }

  /// Each stretch of up to `kLongestMoved` ranks to every other place, as it is and reversed.
  bool move_stretches() {
    bool better = false;
    for (std::size_t length = 1; length <= kLongestMoved; ++length) {
      for (std::size_t from = 1; from + length <= order_.size(); ++from) {
        for (std::size_t to = 1; to + length <= order_.size() && found_.looked_at < kMostLookedAt; ++to) {
          if (to == from) continue;
          RankOrder next = moved(from, length, to);
          better = step_to(next) || better;
          if (length == 1) continue;
          next = moved(from, length, to);
          std::reverse(at(next, to), at(next, to + length));
          better = step_to(next) || better;
        }
      }
    }
    return better;
  }

  RankOrder moved(std::size_t from, std::size_t length, std::size_t to) const {
    RankOrder next = order_;
    if (from < to) {
      std::rotate(at(next, from), at(next, from + length), at(next, to + length));
    } else {
      std::rotate(at(next, to), at(next, from), at(next, from + length));
    }
    return next;
  }

  static RankOrder::iterator at(RankOrder& order, std::size_t place) {
    return order.begin() + static_cast<std::ptrdiff_t>(place);
  }

  RankOrder shuffled(std::size_t ranks) {
    RankOrder order(ranks);
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t i = ranks - 1; i > 0; --i) std::swap(order[i], order[random_() % (i + 1)]);
    return order;
  }

  /// Two neighbouring stretches change places: no reversal and no short move undoes it.
  RankOrder displaced(RankOrder order) {
    std::vector<std::size_t> cuts;
    for (int i = 0; i < 3; ++i) cuts.push_back(1 + random_() % order.size());
    std::sort(cuts.begin(), cuts.end());
    std::rotate(at(order, cuts[0]), at(order, cuts[1]), at(order, cuts[2]));
    return order;
  }

  const Machine& machine_;
  const RingHops& hops_;
  RingTally tally_;
  std::minstd_rand random_{1};
  RankOrder order_;  // where the walk is
  RingScore score_;
  FoundOrders found_;
};

}  // namespace

FoundOrders search_some_orders(const Machine& machine, const RingHops& hops) {
  return Walks(machine, hops).run();
}

}  // namespace lanecast
