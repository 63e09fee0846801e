// The event loop against SimGrid: the same strands on the same network give the same times.
#include "sim/event_simulation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>
#include <random>
#include <set>

#include "model/error.hpp"
#include "model/predict/call_kind.hpp"
#include "sim/evaluator.hpp"
#include "tests/support/machine_builders.hpp"
#include "tests/support/simulated.hpp"

namespace lanecast::support {
namespace {

constexpr double kBound = 5e-3;     // what event_simulation.hpp promises
constexpr double kRounding = 1e-5;  // SimGrid counts bytes in whole units and ends flows within its precision

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : bits_(seed) {}
  std::uint64_t below(std::uint64_t n) { return bits_() % n; }
  template <class T, std::size_t N>
  T among(const std::array<T, N>& values) {
    return values[below(N)];
  }

 private:
  std::mt19937_64 bits_;
};

/// 2 to 8 of the machine's GPUs, in an order of their own.
std::vector<int> some_ranks(const Machine& machine, Dice& dice) {
  std::vector<int> ranks;
  for (std::size_t g = 0; g < machine.gpus.size(); ++g) {
    if (machine.gpus[g].present) ranks.push_back(static_cast<int>(g));
  }
  for (std::size_t i = ranks.size(); i > 1; --i) std::swap(ranks[i - 1], ranks[dice.below(i)]);
  ranks.resize(std::min<std::size_t>(ranks.size(), 2 + dice.below(7)));
  return ranks;
}

struct Case {
  Machine machine;
  Call call;
  std::string implementation = "lanecast";
};

/// A machine, and a call by any algorithm and protocol over any transport. Not every one can be.
Case random_case(std::uint64_t seed) {
  Dice dice(seed);
  Case made{random_machine(seed), {}, dice.below(3) == 0 ? "nccl" : "lanecast"};
  Call& call = made.call;
  const std::vector<Algorithm> algorithms = simulated_algorithms();
  call.algorithm = made.implementation == "nccl" ? dice.among(std::array{Algorithm::ring, Algorithm::tree})
                                                 : algorithms[dice.below(algorithms.size())];
  call.protocol = dice.among(std::array{Protocol::simple, Protocol::simple, Protocol::ll, Protocol::ll128});
  if (dice.below(3) > 0) call.transport = dice.among(std::array{Transport::p2p, Transport::shm});
  if (dice.below(4) == 0)
    call.collective = dice.among(std::array{Collective::all_gather, Collective::reduce_scatter,
                                            Collective::broadcast, Collective::reduce});
  call.channels = static_cast<int>(1 + dice.below(6));
  call.threads = dice.among(std::array{128, 256, 512});
  call.in_place = dice.below(2) == 0;
  if (dice.below(2) == 0) {
    call.chunk = Bytes(dice.among(std::array<std::uint64_t, 3>{16384, 65536, 262144}));
    if (dice.below(3) == 0) call.buffsize = Bytes(2 * call.chunk->value());  // in part: store and forward
  }
  call.ranks = some_ranks(made.machine, dice);
  call.order_given = true;
  call.root = call.ranks.front();
  const std::uint64_t unit = 4 * call.ranks.size();
  const std::uint64_t size = std::uint64_t{1} << (4 + dice.below(22));
  call.size = Bytes(std::max(unit, (size + dice.below(size)) / unit * unit));
  return made;
}

/// The plan of a call; nothing where the implementation cannot run it.
std::optional<SchedulePlan> plan_of_case(const Case& made) {
  try {
    return plan_call(made.machine, Profile(), implementation_from_string(made.implementation), made.call, 1);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) throw;
    return std::nullopt;
  }
}

std::vector<SchedulePlan> random_plans(std::uint64_t first_seed, std::size_t count) {
  std::vector<SchedulePlan> plans;
  for (std::uint64_t seed = first_seed; plans.size() < count; ++seed) {
    std::optional<SchedulePlan> plan = plan_of_case(random_case(seed));
    if (plan && !plan->resolved.work.empty()) plans.push_back(std::move(*plan));
  }
  return plans;
}

std::string name_of(const SchedulePlan& plan) {
  const ResolvedCall& resolved = plan.resolved;
  return call_kind(resolved) + ", " + to_string(resolved.call.collective) + ", " +
         std::to_string(resolved.order().size()) + " ranks, " + std::to_string(resolved.channels) +
         " channels, " + std::to_string(resolved.call.size.value()) + " B" +
         (resolved.store_and_forward ? ", store and forward" : "");
}

/// Shortest and longest time of the call with its channels' rates moved by next to nothing.
std::pair<double, double> times_nearby(const SchedulePlan& plan, bool exact) {
  double shortest = std::numeric_limits<double>::infinity();
  double longest = 0;
  for (int k = -8; k <= 8; ++k) {
    SchedulePlan moved = plan;
    for (std::size_t c = 0; c < moved.channel_factor.size(); ++c)
      moved.channel_factor[c] *= 1 + 1e-10 * k * static_cast<double>(c + 1);
    const double time = simulate_events(moved, exact).time.value();
    shortest = std::min(shortest, time);
    longest = std::max(longest, time);
  }
  return {shortest, longest};
}

/// Where channels push each other about on a full link, the order of two slices that end together can decide
/// how all later ones lie: such a call's time moves by percents when rates move by 1e-10, in SimGrid and in
/// the event loop alike. It is compared with what the event loop gives nearby.
void expect_simgrids_times(const std::vector<SchedulePlan>& plans, bool exact) {
  const std::vector<Simulated> simgrid = simulate_isolated(plans, exact);
  double worst = 0;
  std::size_t erratic = 0;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const ScheduleSimulation events = simulate_events(plans[i], exact);
    const double difference = std::abs(events.time.value() / simgrid[i].seconds - 1);
    const auto [shortest, longest] =
        difference < kRounding ? std::pair{0.0, 0.0} : times_nearby(plans[i], exact);
    if (longest > shortest * (1 + kRounding)) {
      ++erratic;
      EXPECT_GT(simgrid[i].seconds, shortest * (1 - kBound)) << "case " << i << ": " << name_of(plans[i]);
      EXPECT_LT(simgrid[i].seconds, longest * (1 + kBound)) << "case " << i << ": " << name_of(plans[i]);
    } else {
      worst = std::max(worst, difference);
      EXPECT_LT(difference, kBound) << "case " << i << ": " << name_of(plans[i]);
    }
    if (exact) {
      EXPECT_EQ(events.transfers, simgrid[i].transfers) << name_of(plans[i]);
    }
  }
  std::printf("%zu calls, %s: largest difference %.2g, but for %zu erratic ones\n", plans.size(),
              exact ? "exact" : "folded", worst, erratic);
  EXPECT_LT(worst, kRounding) << "the same strands on the same network";
  EXPECT_LE(erratic, plans.size() / 50);
}

TEST(EventSimulation, GivesSimGridsTimesOverRandomMachinesAndCallsExact) {
  expect_simgrids_times(random_plans(1, 400), true);
}

TEST(EventSimulation, GivesSimGridsTimesOverRandomMachinesAndCallsFolded) {
  expect_simgrids_times(random_plans(10'001, 400), false);
}

TEST(EventSimulation, WasComparedOnCallsOfEveryKind) {  // of the plans of the two tests above
  std::set<std::string> kinds;
  std::set<std::size_t> ranks;
  bool asleep = false;
  bool store_and_forward = false;
  for (const SchedulePlan& plan : random_plans(1, 400)) {
    const ResolvedCall& resolved = plan.resolved;
    kinds.insert(to_string(resolved.algorithm));
    kinds.insert(to_string(resolved.protocol));
    kinds.insert(transport_name(resolved));
    kinds.insert(to_string(resolved.call.collective));
    ranks.insert(resolved.order().size());
    store_and_forward = store_and_forward || resolved.store_and_forward;
    for (const Lane& lane : plan.network.lanes) asleep = asleep || !lane.sleeping.empty();
  }
  for (const Algorithm algorithm : simulated_algorithms())
    EXPECT_TRUE(kinds.contains(to_string(algorithm))) << to_string(algorithm);
  for (const char* kind : {"simple", "ll", "ll128", "p2p", "shm", "mixed", "all_reduce", "all_gather",
                           "reduce_scatter", "broadcast", "reduce"})
    EXPECT_TRUE(kinds.contains(kind)) << kind;
  for (std::size_t n = 2; n <= 8; ++n) EXPECT_TRUE(ranks.contains(n)) << n << " ranks";
  EXPECT_TRUE(asleep);
  EXPECT_TRUE(store_and_forward);
}

TEST(EventSimulation, FoldsWhereTheSimulatorDoesToTheSameTime) {
  Call call = ring_call(Bytes(512u << 20));
  call.chunk = Bytes(131072);
  call.channels = 4;
  for (const Machine& machine : {one_switch(4), two_switches(2), two_sockets(2), nvlink_pair()}) {
    const SchedulePlan plan = plan_of(machine, call);
    const ScheduleSimulation folded = simulate_events(plan);
    const ScheduleSimulation exact = simulate_events(plan, true);
    EXPECT_LT(folded.transfers, exact.transfers / 10) << machine.name;
    EXPECT_NEAR(folded.time / exact.time, 1, 1e-3) << machine.name;  // design.md section 3, for folding
    EXPECT_NEAR(folded.time.value() / simulate_isolated(plan, false).seconds, 1, kBound) << machine.name;
  }
}

TEST(EventSimulation, OfEmptySlicesOfLinesDoesNotDependOnHowFarAStrandRunsAhead) {
  // 24 B on 6 ranks: most slices have no line, so that receivers release slots before their senders come
  Call call = ring_call(Bytes(24), Protocol::ll);
  call.channels = 1;
  call.transport = Transport::p2p;
  for (const Algorithm algorithm : {Algorithm::hierarchical_tree, Algorithm::ring, Algorithm::two_shot}) {
    call.algorithm = algorithm;
    const SchedulePlan plan = engine_plan_of(two_switches(3), call);
    EXPECT_NEAR(simulate_events(plan).time.value() / simulate_isolated(plan, true).seconds, 1, kRounding)
        << to_string(algorithm);
  }
}

TEST(EventSimulation, IsTheSameInEveryRun) {
  for (const SchedulePlan& plan : random_plans(500, 20))
    EXPECT_EQ(simulate_events(plan).time, simulate_events(plan).time);
}

TEST(Evaluator, GivesTheTimeThatPredictionsGive) {
  const Machine machine = one_switch(4);
  Evaluator evaluator;
  std::vector<Call> calls;
  for (const Launch launch : {Launch::graph, Launch::stream}) {
    for (const std::uint64_t size : {1024u, 1u << 20, 64u << 20}) {
      Call call = ring_call(Bytes(size));
      call.channels = 2;
      call.launch = launch;
      calls.push_back(call);
      evaluator.add_call(machine, resolve_call(machine, Implementation{}, call));
    }
  }
  Profile profile;
  profile.set(Param::simple_overhead, 2.5);
  const std::vector<Prediction> predicted =
      predict(machine, profile, Implementation{}, calls, SimulationOptions{});
  for (std::size_t i = 0; i < calls.size(); ++i)
    EXPECT_NEAR(evaluator.time(i, profile) / predicted[i].time, 1, kBound) << i;
}

TEST(Evaluator, GivesTheTimeOfOneGigabyteAtTheSumOfTheCopiesRates) {
  const Machine machine = one_switch(4);
  Evaluator evaluator;
  const std::vector<CopyFlow> flows{{0, 1}, {1, 0}};
  const std::size_t number = evaluator.add_copies(machine, Engine::copy, flows);
  double sum = 0;
  for (const CopyRate& copy : concurrent_copies(machine, Profile(), Engine::copy, flows))
    sum += copy.rate.value();
  EXPECT_NEAR(evaluator.time(number, Profile()).value(), 1e9 / sum, 1e9 / sum * 1e-4);
}

TEST(Evaluator, GivesAParametersTimeOrThatOfOneGigabyteAtItsRate) {
  Profile profile;
  profile.set(Param::simple_overhead, 2.0);    // us
  profile.set(Param::simple_peer_send, 25.0);  // GB/s
  profile.set(Param::latency_switch, 120.0);   // ns
  Evaluator evaluator;
  const std::size_t overhead = evaluator.add_parameter(Param::simple_overhead);
  const std::size_t rate = evaluator.add_parameter(Param::simple_peer_send);
  const std::size_t latency = evaluator.add_parameter(Param::latency_switch);
  EXPECT_DOUBLE_EQ(evaluator.time(overhead, profile).value(), 2e-6);
  EXPECT_DOUBLE_EQ(evaluator.time(rate, profile).value(), 1.0 / 25);
  EXPECT_DOUBLE_EQ(evaluator.time(latency, profile).value(), 120e-9);
}

}  // namespace
}  // namespace lanecast::support
