#include "model/advice/ring_order.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>
#include <utility>

#include "model/advice/ring_order_moves.hpp"
#include "model/advice/ring_order_search.hpp"
#include "model/advice/ring_twins.hpp"

namespace lanecast {
namespace {

constexpr std::uint64_t kMostOrders = 362'880;  // of `kMostExactOrderGpus`: 9!
constexpr std::size_t kMostTwinGpus = 16;       // beyond, twins take long to tell and seldom suffice
constexpr double kEqual = 1e-9;                 // relative: bandwidths that differ by less are equal

RingLoad described(const RingHops& hops, RankOrder order) {
  std::rotate(order.begin(), std::min_element(order.begin(), order.end()), order.end());
  RingTally tally(hops);
  tally.take(order);
  const RingScore score = tally.score();
  const int most = tally.most_loaded();
  const Resource& link = hops.resource(static_cast<std::size_t>(most));
  RingLoad load;
  for (const std::size_t rank : order) load.order.push_back(hops.gpu(rank));
  load.busbw = BytesPerSecond(1.0 / seconds_of(score.most).value());
  load.link = link.link;
  load.direction = link.direction;
  load.total = seconds_of(score.total);
  load.latency = Seconds(static_cast<double>(score.latency.value()) * 1e-15);
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (hops.hop(order[i], order[(i + 1) % order.size()]).crosses(most)) ++load.crossings;
  }
  return load;
}

/// Twins of the ranks, where every order but those that they make equal is to be looked at.
std::optional<std::vector<std::size_t>> twins_of_few_orders(const RingHops& hops) {
  if (hops.ranks() > kMostTwinGpus) return std::nullopt;
  std::vector<std::size_t> twins = twins_of(hops);
  if (count_orders(twins, kMostOrders + 1) > kMostOrders) return std::nullopt;
  return twins;
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

bool clearly_slower(const RingLoad& load, const RingLoad& than) {
  return load.busbw.value() < than.busbw.value() * (1.0 - kEqual);
}

}  // namespace

RingLoad ring_load(const Machine& machine, const Profile& profile, const Implementation& implementation,
                   std::optional<Transport> transport, const std::vector<int>& order) {
  std::vector<int> from_smallest = order;
  std::rotate(from_smallest.begin(), std::min_element(from_smallest.begin(), from_smallest.end()),
              from_smallest.end());
  const RingHops hops(machine, profile, implementation, transport, from_smallest);
  RankOrder ranks(order.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  return described(hops, ranks);
}

RingOrders best_ring_order(const Machine& machine, const Profile& profile,
                           const Implementation& implementation, std::optional<Transport> transport,
                           const std::vector<int>& ranks) {
  std::vector<int> sorted = ranks;
  std::sort(sorted.begin(), sorted.end());
  const RingHops hops(machine, profile, implementation, transport, sorted);
  const auto twins = twins_of_few_orders(hops);
  const FoundOrders found = twins ? search_all_orders(hops, *twins) : search_some_orders(machine, hops);
  RankOrder by_index(sorted.size());
  std::iota(by_index.begin(), by_index.end(), 0);
  RingOrders orders;
  orders.best = described(hops, found.best);
  orders.as_is = described(hops, by_index);
  orders.worst = described(hops, found.worst);
  orders.exact = twins.has_value();
  orders.looked_at = found.looked_at;
  return orders;
}

std::string explain(const RingOrders& orders) {
  const RingLoad& best = orders.best;
  if (!clearly_slower(orders.worst, best)) {
    return std::string(orders.exact ? "every order" : "every order that was tried") +
           " loads the links alike: " + best.link + ":" + best.direction + " allows " + rate_text(best.busbw);
  }
  const std::string text = order_text(best.order) + " " + crossing_text(best);
  if (clearly_slower(orders.as_is, best))
    return text + "; the order of the cards' numbers " + crossing_text(orders.as_is);
  return text + "; the worst order, " + order_text(orders.worst.order) + ", " + crossing_text(orders.worst);
}

}  // namespace lanecast
