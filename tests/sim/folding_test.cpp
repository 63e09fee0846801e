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
  made.call.protocol =
      std::vector<Protocol>{Protocol::simple, Protocol::simple, Protocol::ll, Protocol::ll128}[pick(4)];
  made.call.collective = std::vector<Collective>{Collective::all_reduce, Collective::all_reduce,
                                                 Collective::all_gather, Collective::reduce_scatter,
                                                 Collective::broadcast,  Collective::reduce}[pick(6)];
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
  std::uint64_t size =
      loops * chunks * made.call.chunk->value() * static_cast<std::uint64_t>(*made.call.channels);
  if (made.call.collective == Collective::all_gather || made.call.collective == Collective::reduce_scatter) {
    size *= ranks.size();
  }
  const std::uint64_t unit = 4 * ranks.size();
  made.call.size = Bytes((size + pick(100'000)) / unit * unit);
  return made;
}

TEST(Folding, DiffersFromExactByLessThanOneInAThousandOnRandomMachinesAndCalls) {
  constexpr std::uint64_t kCases = 500;
  std::vector<SchedulePlan> plans;
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
    EXPECT_LT(error, kBound) << "seed " << i + 1 << " on " << plans[i].resolved.order().size() << " ranks";
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
      const SchedulePlan plan = plan_of(machine, call);
      const double exact = simulate_isolated(plan, true).seconds;
      const double folded = simulate_isolated(plan, false).seconds;
      EXPECT_NEAR(folded, exact, exact * kBound) << ranks << " ranks";
    }
  }
}

TEST(Folding, WaitsUntilSendersLookAtCredits) {  // over host memory, once a FIFO has been full
  for (const int ranks : {2, 8}) {
    for (const Collective collective : {Collective::all_reduce, Collective::reduce}) {
      Call call = ring_call(Bytes(static_cast<std::uint64_t>(ranks) * 12 << 20), Protocol::ll);
      call.collective = collective;
      call.channels = 2;
      call.transport = Transport::shm;
      const SchedulePlan plan = plan_of(one_switch(ranks), call);
      const Simulated folded = simulate_isolated(plan, false);
      EXPECT_TRUE(folded.folded);
      EXPECT_NEAR(folded.seconds / simulate_isolated(plan, true).seconds, 1, 1e-4) << ranks << " ranks";
    }
  }
}

TEST(Folding, OfStepsWaitsUntilSendersLookAtCredits) {
  Call call = ring_call(Bytes(96u * 16384u), Protocol::ll);
  call.channels = 1;
  call.transport = Transport::shm;
  const SchedulePlan plan = plan_of(one_switch(96), call);
  EXPECT_NEAR(simulate_isolated(plan, false).seconds / simulate_isolated(plan, true).seconds, 1, 1e-4);
}

TEST(Folding, IsSwitchedOffByExact) {
  Call call = ring_call(Bytes(512u << 20));
  call.chunk = Bytes(131072);
  const SchedulePlan plan = plan_of(one_switch(4), call);
  EXPECT_FALSE(simulate_isolated(plan, true).folded);
  EXPECT_TRUE(simulate_isolated(plan, false).folded);
  EXPECT_LT(simulate_isolated(plan, false).transfers, simulate_isolated(plan, true).transfers / 10);
}

TEST(Folding, OfStepsOnManyRanksIsAsExact) {
  Machine machine = one_switch(96);
  Call call = ring_call(Bytes(96u * 65536u));
  call.channels = 1;
  const SchedulePlan plan = plan_of(machine, call);
  const Simulated exact = simulate_isolated(plan, true);
  const Simulated folded = simulate_isolated(plan, false);
  EXPECT_TRUE(folded.folded);
  EXPECT_LT(folded.transfers, exact.transfers);
  EXPECT_NEAR(folded.seconds, exact.seconds, exact.seconds * kBound);
}

/// Runs channels of one actor each through `turns` turns in the order of time; each turn of channel c takes
/// what `seconds(c, turn)` says. Returns how many turns were begun in all.
template <class SecondsOf>
std::uint64_t run_channels(Folder& folder, const std::vector<std::uint64_t>& turns, SecondsOf seconds,
                           std::vector<double>& ends) {
  std::vector<double> now(turns.size(), 0.0);
  std::vector<std::uint64_t> at(turns.size(), 0);
  std::vector<bool> done(turns.size(), false);
  std::uint64_t begun = 0;
  while (true) {
    std::size_t next = turns.size();
    for (std::size_t c = 0; c < turns.size(); ++c) {
      if (!done[c] && (next == turns.size() || now[c] < now[next])) next = c;
    }
    if (next == turns.size()) return begun;
    if (at[next] == turns[next]) {
      done[next] = true;
      folder.finish(static_cast<int>(next));
      ends[next] = now[next] + folder.offset();
      continue;
    }
    at[next] = folder.advance(static_cast<int>(next), 0, at[next], now[next]);
    now[next] += seconds(next, at[next]);
    ++at[next];
    ++begun;
  }
}

TEST(Folder, LeavesOutTurnsOnceAllChannelsShareOnePeriod) {
  Folder folder({{1, 998}, {1, 998}}, 4, 128);
  std::vector<double> ends(2);
  const std::uint64_t begun = run_channels(
      folder, {1000, 1000}, [](std::size_t, std::uint64_t) { return 2.0; }, ends);
  EXPECT_TRUE(folder.folded());
  EXPECT_LT(begun, 40u);
  EXPECT_EQ(begun + folder.skipped(0) + folder.skipped(1), 2000u);
  EXPECT_NEAR(ends[0], 2000.0, 1e-9);
  EXPECT_NEAR(ends[1], 2000.0, 1e-9);
}

TEST(Folder, FoldsChannelsThatDriftByWholeBeatsAndThenTheSlowerOneAlone) {
  Folder folder({{1, 3998}, {1, 3998}}, 4, 128);
  std::vector<double> ends(2);
  // 23 turns of the slower take as long as 24 of the faster
  const std::uint64_t begun = run_channels(
      folder, {4000, 4000}, [](std::size_t c, std::uint64_t) { return c == 0 ? 24.0 : 23.0; }, ends);
  EXPECT_LT(begun, 800u);
  EXPECT_NEAR(ends[0], 24.0 * 4000, 24.0 * 4000 * 1e-3);
  EXPECT_NEAR(ends[1], 23.0 * 4000, 23.0 * 4000 * 1e-3);
}

TEST(Folder, LeavesOutNothingBeforeItHasSettled) {
  Folder folder({{1, 998, 100}}, 4, 128);
  std::vector<double> ends(1);
  const std::uint64_t begun = run_channels(
      folder, {1000}, [](std::size_t, std::uint64_t turn) { return turn < 100 ? 1.0 : 2.0; }, ends);
  EXPECT_GT(begun, 104u);
  EXPECT_LT(begun, 130u);
  EXPECT_NEAR(ends[0], 100 * 1.0 + 900 * 2.0, 1e-9);
}

TEST(Folder, NeverFoldsActorsOfOneChannelWithDifferentPeriods) {
  Folder folder({{2, 998}}, 4, 128);
  for (std::uint64_t turn = 0; turn < 1000; ++turn) {
    EXPECT_EQ(folder.advance(0, 0, turn, 2.0 * static_cast<double>(turn)), turn);
    EXPECT_EQ(folder.advance(0, 1, turn, 2.01 * static_cast<double>(turn)), turn);
  }
  EXPECT_FALSE(folder.folded());
}

TEST(Folder, WaitsUntilASlowWaveHasReachedEveryActor) {
  // ten actors; the slowness reaches actor a at turn 20 a: until turn 180 the far ones show the fast period
  Folder folder({{10, 998}}, 6, 64);
  std::vector<double> now(10, 0.0);
  std::uint64_t folded_at = 0;
  for (std::uint64_t turn = 0; turn < 1000 && folded_at == 0; ++turn) {
    for (std::size_t a = 0; a < 10; ++a) {
      if (folder.advance(0, static_cast<int>(a), turn, now[a]) != turn) folded_at = turn;
      now[a] += turn >= 20 * a ? 2.0 : 1.0;
    }
  }
  EXPECT_GT(folded_at, 180u);
}

TEST(Folder, FoldsPeriodsOfSeveralTurnsByWholePeriods) {
  Folder folder({{1, 899}}, 6, 4);
  std::vector<double> ends(1);
  run_channels(
      folder, {901}, [](std::size_t, std::uint64_t turn) { return turn % 2 == 0 ? 1.0 : 3.0; }, ends);
  EXPECT_TRUE(folder.folded());
  EXPECT_EQ(folder.skipped(0) % 2, 0u);
  EXPECT_NEAR(ends[0], 451 * 1.0 + 450 * 3.0, 1e-9);
}

}  // namespace
}  // namespace lanecast::support
