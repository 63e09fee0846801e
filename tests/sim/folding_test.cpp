// Folding against exact runs: over random machines and calls, and where it must not happen.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <random>

#include "sim/folder.hpp"
#include "tests/support/machine_builders.hpp"
#include "tests/support/simulated.hpp"

namespace lanecast::support {
namespace {

constexpr double kBound = 1e-3;  // design.md section 3

struct Case {
  Machine machine;
  Call call;
};

/// A machine and a call that is long enough to fold: small chunks, many loops.
Case random_case(std::uint64_t seed) {
  std::mt19937_64 bits(seed);
  Case made{random_machine(seed), {}};
  const auto pick = [&](std::uint64_t n) { return bits() % n; };
  made.call.protocol = std::vector<Protocol>{Protocol::simple, Protocol::simple, Protocol::ll,
                                             Protocol::ll128}[pick(4)];
  made.call.collective = std::vector<Collective>{Collective::all_reduce, Collective::all_reduce,
                                                 Collective::all_gather, Collective::reduce_scatter,
                                                 Collective::broadcast, Collective::reduce}[pick(6)];
  made.call.channels = static_cast<int>(1 + pick(4));
  made.call.threads = std::vector<int>{128, 256, 512}[pick(3)];
  made.call.chunk = Bytes(std::vector<std::uint64_t>{16384, 65536, 131072, 400000}[pick(4)]);
  made.call.in_place = pick(2) == 0;
  std::vector<int> ranks;
  for (std::size_t g = 0; g < made.machine.gpus.size(); ++g) {
    if (made.machine.gpus[g].present) ranks.push_back(static_cast<int>(g));
  }
  std::shuffle(ranks.begin(), ranks.end(), bits);  // a ring order of its own
  made.call.ranks = ranks;
  made.call.order_given = true;
  made.call.root = ranks.front();
  const std::uint64_t loops = 12 + pick(60);
  const std::uint64_t chunks = made.call.collective == Collective::all_reduce ? ranks.size() : 1;
  std::uint64_t size = loops * chunks * made.call.chunk->value() * static_cast<std::uint64_t>(*made.call.channels);
  if (made.call.collective == Collective::all_gather || made.call.collective == Collective::reduce_scatter) {
    size *= ranks.size();
  }
  const std::uint64_t unit = 4 * ranks.size();
  made.call.size = Bytes((size + pick(100'000)) / unit * unit);
  return made;
}

TEST(Folding, DiffersFromExactByLessThanOneInAThousandOnRandomMachinesAndCalls) {
  constexpr std::uint64_t kCases = 500;
  std::vector<RingPlan> plans;
  for (std::uint64_t seed = 1; seed <= kCases; ++seed) {
    const Case made = random_case(seed);
    plans.push_back(plan_of(made.machine, made.call));
  }
  const auto exact = simulate_isolated(plans, true);
  const auto folded = simulate_isolated(plans, false);
  int ran_exact = 0;
  double worst = 0;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const double error = std::abs(folded[i].seconds / exact[i].seconds - 1);
    worst = std::max(worst, error);
    EXPECT_LT(error, kBound) << "seed " << i + 1 << " on " << plans[i].resolved.order.size() << " ranks";
    if (!folded[i].folded) ++ran_exact;
  }
  std::printf("%d of %d calls had to run exact; largest difference of the others %.2g\n", ran_exact,
              static_cast<int>(kCases), worst);
  RecordProperty("ran_exact", ran_exact);
  RecordProperty("worst_error", std::to_string(worst));
  EXPECT_LT(ran_exact, static_cast<int>(kCases)) << "folding never happened: the test shows nothing";
}

TEST(Folding, WithOneSlowLinkFarAwayIsAsExact) {
  for (const int ranks : {4, 8, 12, 16}) {
    for (const double cable_us : {0.0, 40.0}) {
      Machine machine = one_switch(ranks);
      Link& slow = link_named(machine, "gpu" + std::to_string(ranks / 2));
      slow.rate = PcieRate::gen3;  // of gen4: half
      slow.latency = Seconds(cable_us * 1e-6);
      Call call = ring_call(Bytes(96u << 20));
      call.chunk = Bytes(131072);
      const RingPlan plan = plan_of(machine, call);
      const double exact = simulate_isolated(plan, true).seconds;
      const double folded = simulate_isolated(plan, false).seconds;
      EXPECT_NEAR(folded, exact, exact * kBound) << ranks << " ranks";
    }
  }
}

TEST(Folding, IsSwitchedOffByExact) {
  Call call = ring_call(Bytes(512u << 20));
  call.chunk = Bytes(131072);
  const RingPlan plan = plan_of(one_switch(4), call);
  EXPECT_FALSE(simulate_isolated(plan, true).folded);
  EXPECT_TRUE(simulate_isolated(plan, false).folded);
  EXPECT_LT(simulate_isolated(plan, false).transfers, simulate_isolated(plan, true).transfers / 10);
}

TEST(Folding, OfStepsOnManyRanksIsAsExact) {
  Machine machine = one_switch(96);
  Call call = ring_call(Bytes(96u * 65536u));
  call.channels = 1;
  const RingPlan plan = plan_of(machine, call);
  const Simulated exact = simulate_isolated(plan, true);
  const Simulated folded = simulate_isolated(plan, false);
  EXPECT_TRUE(folded.folded);
  EXPECT_LT(folded.transfers, exact.transfers);
  EXPECT_NEAR(folded.seconds, exact.seconds, exact.seconds * kBound);
}

TEST(Folder, LeavesOutTurnsOnceAllActorsShareOnePeriod) {
  Folder folder(2, 4, 998);
  std::uint64_t turn_a = 0, turn_b = 0;
  int begun = 0;
  while (turn_a < 1000) {
    turn_a = folder.advance(0, turn_a, 2.0 * begun) + 1;
    turn_b = folder.advance(1, turn_b, 2.0 * begun + 0.5) + 1;
    ++begun;
  }
  EXPECT_TRUE(folder.folded());
  EXPECT_LT(begun, 20);
  // every turn takes 2 s: what was begun and what was left out make 1000 turns
  EXPECT_EQ(static_cast<std::uint64_t>(begun) + folder.skipped(), 1000u);
  EXPECT_NEAR(folder.offset(), 2.0 * static_cast<double>(folder.skipped()), 1e-9);
}

TEST(Folder, NeverFoldsActorsOfDifferentPeriods) {
  Folder folder(2, 4, 1000);
  for (std::uint64_t turn = 0; turn < 1000; ++turn) {
    EXPECT_EQ(folder.advance(0, turn, 2.0 * static_cast<double>(turn)), turn);
    EXPECT_EQ(folder.advance(1, turn, 2.01 * static_cast<double>(turn)), turn);
  }
  EXPECT_FALSE(folder.folded());
}

TEST(Folder, FoldsPeriodsOfSeveralTurnsByWholePeriods) {
  Folder folder(1, 6, 901);
  double now = 0;
  std::uint64_t begun = 0;
  for (std::uint64_t turn = 0; turn < 901; ++begun) {
    turn = folder.advance(0, turn, now) + 1;
    now += begun % 2 == 0 ? 1.0 : 3.0;
  }
  EXPECT_TRUE(folder.folded());
  EXPECT_EQ(folder.skipped() % 2, 0u);
  EXPECT_NEAR(folder.offset(), 2.0 * static_cast<double>(folder.skipped()), 1e-9);
}

}  // namespace
}  // namespace lanecast::support
