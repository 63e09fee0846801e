#include "model/advice/ring_order.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>
#include <random>
#include <utility>

#include "model/advice/ring_hops.hpp"
#include "model/topology/routes.hpp"

namespace lanecast {
namespace {

constexpr double kEqual = 1e-9;  // relative: loads that differ by less are equal
constexpr int kStarts = 6;       // of the heuristic

using Places = std::vector<std::size_t>;  // of ranks in `RingHops`, in ring order

/// What an order is judged by, first things first.
struct Score {
  double most = 0;   // seconds a byte of the most loaded link
  double total = 0;  // of all links
  double latency = 0;
};

bool clearly_less(double a, double b) { return a < b - kEqual * std::max(a, b); }

/// Negative where `a` is better, positive where `b` is, 0 where they are equal.
int compare(const Score& a, const Score& b) {
  for (const auto& [x, y] :
       {std::pair(a.most, b.most), std::pair(a.total, b.total), std::pair(a.latency, b.latency)}) {
    if (clearly_less(x, y)) return -1;
    if (clearly_less(y, x)) return 1;
  }
  return 0;
}

/// Loads of the links under an order in the making.
class Loads {
 public:
  explicit Loads(const RingHops& hops) : hops_(hops), seconds_(hops.resources(), 0.0) {}

  void add(std::size_t from, std::size_t to, double sign) {
    const RingHop& hop = hops_.hop(from, to);
    for (const auto& [resource, seconds] : hop.seconds) {
      seconds_[static_cast<std::size_t>(resource)] += sign * seconds;
      total_ += sign * seconds;
    }
    latency_ += sign * hop.latency.value();
  }

  Score score() const { return {*std::max_element(seconds_.begin(), seconds_.end()), total_, latency_}; }
  std::size_t most_loaded() const {
    return static_cast<std::size_t>(std::max_element(seconds_.begin(), seconds_.end()) - seconds_.begin());
  }

 private:
  const RingHops& hops_;
  std::vector<double> seconds_;
  double total_ = 0;
  double latency_ = 0;
};

Loads loads_of(const RingHops& hops, const Places& places) {
  Loads loads(hops);
  for (std::size_t i = 0; i < places.size(); ++i) loads.add(places[i], places[(i + 1) % places.size()], 1.0);
  return loads;
}

RingLoad described(const RingHops& hops, Places places) {
  std::rotate(places.begin(), std::min_element(places.begin(), places.end()), places.end());
  const Loads loads = loads_of(hops, places);
  const Score score = loads.score();
  const std::size_t most = loads.most_loaded();
  RingLoad load;
  for (const std::size_t place : places) load.order.push_back(hops.gpu(place));
  load.busbw = BytesPerSecond(1.0 / score.most);
  load.link = hops.resource(most).link;
  load.direction = hops.resource(most).direction;
  load.total = score.total;
  load.latency = Seconds(score.latency);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto& seconds = hops.hop(places[i], places[(i + 1) % places.size()]).seconds;
    load.crossings +=
        std::any_of(seconds.begin(), seconds.end(),
                    [&](const auto& one) { return static_cast<std::size_t>(one.first) == most; })
            ? 1
            : 0;
  }
  return load;
}

/// Best and worst of what was looked at.
struct Found {
  Places best;
  Places worst;
  Score best_score;
  Score worst_score;
  std::uint64_t looked_at = 0;

  /// Orders come in lexical order where they tie, so that the first stays.
  void look_at(const Places& places, const Score& score) {
    ++looked_at;
    if (best.empty() || compare(score, best_score) < 0) {
      best = places;
      best_score = score;
    }
    if (worst.empty() || clearly_less(worst_score.most, score.most)) {
      worst = places;
      worst_score = score;
    }
  }
};

/// Every order that begins with the first rank, depth first; of ranks that can be exchanged, the smaller goes
/// first.
class AllOrders {
 public:
  explicit AllOrders(const RingHops& hops) : hops_(hops), loads_(hops), placed_(hops.ranks(), false) {
    for (std::size_t b = 0; b < hops.ranks(); ++b) {
      earlier_twin_.push_back(b);  // none
      for (std::size_t a = 1; a < b; ++a) {
        if (hops.interchangeable(a, b)) earlier_twin_.back() = a;
      }
    }
    places_.push_back(0);
    placed_[0] = true;
  }

  Found run() {
    extend();
    return std::move(found_);
  }

 private:
  void extend() {
    if (places_.size() == hops_.ranks()) {
      loads_.add(places_.back(), 0, 1.0);
      found_.look_at(places_, loads_.score());
      loads_.add(places_.back(), 0, -1.0);
      return;
    }
    for (std::size_t next = 1; next < hops_.ranks(); ++next) {
      const std::size_t twin = earlier_twin_[next];
      if (placed_[next] || (twin != next && !placed_[twin])) continue;
      const std::size_t last = places_.back();
      loads_.add(last, next, 1.0);
      places_.push_back(next);
      placed_[next] = true;
      extend();
      placed_[next] = false;
      places_.pop_back();
      loads_.add(last, next, -1.0);
    }
  }

  const RingHops& hops_;
  Loads loads_;
  std::vector<bool> placed_;
  std::vector<std::size_t> earlier_twin_;
  Places places_;
  Found found_;
};

/// Ranks as a walk down the PCIe tree meets them: socket by socket, root by root, switch by switch.
Places tree_walk(const Machine& machine, const RingHops& hops) {
  std::vector<std::vector<int>> keys;
  for (std::size_t place = 0; place < hops.ranks(); ++place) {
    const NodeId gpu{NodeKind::gpu, hops.gpu(place)};
    std::vector<int> key{cpu_of(machine, gpu).value_or(-1), root_of(machine, gpu).value_or(-1)};
    std::vector<int> up = links_to_root(machine, gpu);
    key.insert(key.end(), up.rbegin(), up.rend());
    keys.push_back(std::move(key));
  }
  Places places(hops.ranks());
  std::iota(places.begin(), places.end(), 0);
  std::stable_sort(places.begin(), places.end(),
                   [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
  return places;
}

/// Reverses stretches, and moves single ranks, as long as the order gets better by it.
void improve(const RingHops& hops, Places& places, Found& found) {
  Score score = loads_of(hops, places).score();
  found.look_at(places, score);
  const auto take_if_better = [&](const Places& changed) {
    const Score after = loads_of(hops, changed).score();
    found.look_at(changed, after);
    if (compare(after, score) >= 0) return false;
    places = changed;
    score = after;
    return true;
  };
  bool better = true;
  while (better) {
    better = false;
    for (std::size_t i = 0; i + 1 < places.size(); ++i) {
      for (std::size_t j = i + 1; j < places.size(); ++j) {
        Places changed = places;
        std::reverse(changed.begin() + static_cast<std::ptrdiff_t>(i),
                     changed.begin() + static_cast<std::ptrdiff_t>(j) + 1);
        better = take_if_better(changed) || better;
        changed = places;
        std::rotate(changed.begin() + static_cast<std::ptrdiff_t>(i),
                    changed.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                    changed.begin() + static_cast<std::ptrdiff_t>(j) + 1);
        better = take_if_better(changed) || better;
      }
    }
  }
}

/// The walk, the order of indices, and some shuffled orders, each improved.
Found some_orders(const Machine& machine, const RingHops& hops) {
  Found found;
  Places by_index(hops.ranks());
  std::iota(by_index.begin(), by_index.end(), 0);
  std::vector<Places> starts{tree_walk(machine, hops), by_index};
  std::minstd_rand random(1);
  for (Places shuffled = by_index; static_cast<int>(starts.size()) < kStarts; starts.push_back(shuffled)) {
    for (std::size_t i = shuffled.size() - 1; i > 0; --i)
      std::swap(shuffled[i], shuffled[random() % (i + 1)]);
  }
  const bool small = hops.ranks() <= 32;  // above, the shuffled starts take too long
  for (std::size_t s = 0; s < (small ? starts.size() : 2); ++s) improve(hops, starts[s], found);
  for (const Places& start : starts) found.look_at(start, loads_of(hops, start).score());
  return found;
}

std::string order_text(const std::vector<int>& order) {
  std::string text;
  for (const int gpu : order) text += (text.empty() ? "" : "-") + std::to_string(gpu);
  return text;
}

std::string rate_text(BytesPerSecond rate) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f GB/s", rate.value() / 1e9);
  return text.data();
}

std::string times_text(int count) {
  return count == 1 ? "once" : count == 2 ? "twice" : std::to_string(count) + " times";
}

std::string crossing_text(const RingLoad& load) {
  return "crosses " + load.link + ":" + load.direction + " " + times_text(load.crossings) +
         ", which allows " + rate_text(load.busbw);
}

}  // namespace

RingLoad ring_load(const Machine& machine, const Profile& profile, const Implementation& implementation,
                   std::optional<Transport> transport, const std::vector<int>& order) {
  const RingHops hops(machine, profile, implementation, transport, order);
  Places places(order.size());
  std::iota(places.begin(), places.end(), 0);
  RingLoad load = described(hops, places);
  std::rotate(load.order.begin(), std::min_element(load.order.begin(), load.order.end()), load.order.end());
  return load;
}

RingOrders best_ring_order(const Machine& machine, const Profile& profile,
                           const Implementation& implementation, std::optional<Transport> transport,
                           const std::vector<int>& ranks) {
  std::vector<int> sorted = ranks;
  std::sort(sorted.begin(), sorted.end());
  const RingHops hops(machine, profile, implementation, transport, sorted);
  RingOrders orders;
  orders.exact = sorted.size() <= kMostExactOrderGpus;
  const Found found = orders.exact ? AllOrders(hops).run() : some_orders(machine, hops);
  Places by_index(sorted.size());
  std::iota(by_index.begin(), by_index.end(), 0);
  orders.as_is = described(hops, by_index);
  const bool as_good = compare(loads_of(hops, by_index).score(), found.best_score) <= 0;
  orders.best = as_good ? orders.as_is : described(hops, found.best);
  orders.worst = described(hops, found.worst);
  orders.looked_at = found.looked_at;
  return orders;
}

std::string explain(const RingOrders& orders) {
  const RingLoad& best = orders.best;
  std::string text = order_text(best.order) + " " + crossing_text(best);
  if (clearly_less(orders.as_is.busbw.value(), best.busbw.value()))
    return text + "; the order of the cards' numbers " + crossing_text(orders.as_is);
  if (clearly_less(orders.worst.busbw.value(), best.busbw.value()))
    return text + "; the worst order, " + order_text(orders.worst.order) + ", " + crossing_text(orders.worst);
  return text + (orders.exact ? "; every other order is limited alike"
                              : "; no order that was tried is limited otherwise");
}

}  // namespace lanecast
