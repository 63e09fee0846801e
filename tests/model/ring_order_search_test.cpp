#include "model/advice/ring_order_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "model/advice/ring_order_moves.hpp"
#include "model/advice/ring_twins.hpp"
#include "tests/support/machine_builders.hpp"

namespace lanecast {
namespace {

RankOrder by_index(std::size_t ranks) {
  RankOrder order(ranks);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

RingHops hops_of(const Machine& machine, std::size_t most_ranks, std::optional<Transport> transport = {}) {
  std::vector<int> gpus = present_gpus(machine);
  gpus.resize(std::min(gpus.size(), most_ranks));
  return {machine, Profile(), implementation_from_string("nccl"), transport, gpus};
}

RingScore score_of(const RingHops& hops, const RankOrder& order) {
  RingTally tally(hops);
  tally.take(order);
  return tally.score();
}

FoundOrders searched(const RingHops& hops) { return search_all_orders(hops, twins_of(hops)); }

TEST(AllOrdersProperty, HaveTheBestAndTheWorstOfAPlainEnumeration) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto transport = seed % 3 == 0 ? std::optional(Transport::shm) : std::nullopt;
    const RingHops hops = hops_of(support::random_machine(seed), 7, transport);
    RankOrder order = by_index(hops.ranks());
    RingScore best = score_of(hops, order);
    RingScore worst = best;
    while (std::next_permutation(order.begin() + 1, order.end())) {
      const RingScore score = score_of(hops, order);
      best = std::min(best, score);
      worst = std::max(worst, score);
    }
    const FoundOrders found = searched(hops);
    EXPECT_EQ(found.best_score, best) << "seed " << seed;
    EXPECT_EQ(found.worst_score, worst) << "seed " << seed;
    EXPECT_EQ(score_of(hops, found.best), best) << "seed " << seed;
    EXPECT_EQ(score_of(hops, found.worst), worst) << "seed " << seed;
  }
}

TEST(AllOrdersProperty, AreTheFirstOfEqualsInTheOrderOfIndices) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const RingHops hops = hops_of(support::random_machine(seed), 6);
    const FoundOrders found = searched(hops);
    RankOrder order = by_index(hops.ranks());
    while (score_of(hops, order) != found.best_score) std::next_permutation(order.begin() + 1, order.end());
    EXPECT_EQ(found.best, order) << "seed " << seed;
  }
}

TEST(Tally, OfARingTakenAfterAnotherIsThatOfTheRingAlone) {
  std::minstd_rand random(3);
  const RingHops hops = hops_of(support::random_machine(11), 16);
  RingTally tally(hops);
  RankOrder order = by_index(hops.ranks());
  for (int i = 0; i < 50; ++i) {
    std::swap(order[random() % order.size()], order[random() % order.size()]);
    tally.take(order);
    EXPECT_EQ(tally.score(), score_of(hops, order));
  }
}

TEST(Twins, AreCardsBelowOneSwitchOnEqualLinks) {
  EXPECT_EQ(twins_of(hops_of(support::one_switch(4), 4)), (std::vector<std::size_t>{0, 1, 1, 1}));
  EXPECT_EQ(twins_of(hops_of(support::two_switches(3), 6)), (std::vector<std::size_t>{0, 1, 1, 3, 3, 3}));
  Machine machine = support::one_switch(5);
  support::link_named(machine, "gpu2").width = 8;
  EXPECT_EQ(twins_of(hops_of(machine, 5)), (std::vector<std::size_t>{0, 1, 2, 1, 1}));
}

TEST(Twins, AreNoCardsThatNvlinksJoinToDifferentOthers) {
  Machine machine = support::one_switch(5);
  support::add_nvlink(machine, {NodeKind::gpu, 1}, {NodeKind::gpu, 3});
  support::add_nvlink(machine, {NodeKind::gpu, 2}, {NodeKind::gpu, 4});
  EXPECT_EQ(twins_of(hops_of(machine, 5)), (std::vector<std::size_t>{0, 1, 2, 1, 2}));
}

TEST(TwinsProperty, ExchangeWithoutChangingWhatAnyOrderCosts) {
  std::minstd_rand random(5);
  int exchanged = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const RingHops hops = hops_of(support::random_machine(seed), 12);
    const std::vector<std::size_t> twins = twins_of(hops);
    for (std::size_t rank = 1; rank < twins.size(); ++rank) {
      if (twins[rank] == rank) continue;
      RankOrder order = by_index(hops.ranks());
      for (std::size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[random() % (i + 1)]);
      const RingScore before = score_of(hops, order);
      std::iter_swap(std::find(order.begin(), order.end(), rank),
                     std::find(order.begin(), order.end(), twins[rank]));
      EXPECT_EQ(score_of(hops, order), before) << "seed " << seed << ", rank " << rank;
      ++exchanged;
    }
  }
  EXPECT_GT(exchanged, 100);
}

TEST(CountedOrders, AreThePermutationsThatTwinsLeave) {
  EXPECT_EQ(count_orders({0, 1, 2, 3}, 100), 6u);
  EXPECT_EQ(count_orders({0, 1, 1, 3}, 100), 3u);
  EXPECT_EQ(count_orders({0, 1, 1, 1}, 100), 1u);
  EXPECT_EQ(count_orders(by_index(16), 1000), 1000u);
}

TEST(SomeOrdersProperty, HaveTheBestOfAllInNearlyEveryMachine) {
  int machines = 0;
  int as_good = 0;
  for (std::uint64_t seed = 0; machines < 100; ++seed) {
    const Machine machine = support::random_machine(seed);
    const RingHops hops = hops_of(machine, 9);
    if (hops.ranks() < 5) continue;
    ++machines;
    const LinkTicks best = searched(hops).best_score.most;
    const LinkTicks found = search_some_orders(machine, hops).best_score.most;
    EXPECT_GE(found, best) << "seed " << seed;
    as_good += found == best ? 1 : 0;
  }
  EXPECT_GE(as_good, 95);
  RecordProperty("as_good", as_good);
}

TEST(SomeOrdersProperty, AreTheSameEachTime) {
  const Machine machine = support::random_machine(11);
  const RingHops hops = hops_of(machine, 16);
  const FoundOrders once = search_some_orders(machine, hops);
  const FoundOrders again = search_some_orders(machine, hops);
  EXPECT_EQ(once.best, again.best);
  EXPECT_EQ(once.worst, again.worst);
  EXPECT_EQ(once.looked_at, again.looked_at);
}

}  // namespace
}  // namespace lanecast
