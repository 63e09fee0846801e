// Times of the simulated ring against closed forms and invariants.
#include <gtest/gtest.h>

#include <cmath>

#include "model/predict/schedule_traffic.hpp"
#include "tests/support/machine_builders.hpp"
#include "tests/support/simulated.hpp"

namespace lanecast::support {
namespace {

constexpr double kExact = 1e-9;  // relative; SimGrid runs at precision 1e-12 and sizes are scaled by 1024

/// One channel, one slice a chunk: a ring of equal ranks in lockstep, so that every turn takes the same time.
double lockstep_seconds(const SchedulePlan& plan) {
  const int ranks = static_cast<int>(plan.positions().size());
  const PositionPlan& at = plan.positions().front();
  const double bytes = static_cast<double>(plan.resolved.call.size.value()) / ranks;
  const auto turn = [&](TurnAction action) {
    const FlowCost& cost = at.flow(action);
    return at.part(action).overhead.value() + bytes * cost.wire_per_payload / cost.rate.value();
  };
  const double passing = at.to_next().fence.value() + at.to_next().flag.value();
  return turn(TurnAction::send) + (ranks - 2) * turn(TurnAction::reduce_send) +
         turn(TurnAction::reduce_keep_send) + (ranks - 2) * turn(TurnAction::copy_send) +
         turn(TurnAction::copy) + 2 * (ranks - 1) * passing;
}

TEST(RingTime, MatchesTheClosedFormWithoutContention) {
  for (const int ranks : {2, 3, 5, 8, 16}) {
    Call call =
        ring_call(Bytes(static_cast<std::uint64_t>(ranks) * 16384));  // one slice: below the 32 KiB floor
    call.channels = 1;
    call.in_place = true;
    const SchedulePlan plan = plan_of(one_switch(ranks), call);
    // the second, empty slice of each chunk only follows the first: it adds what an empty slice costs, once a
    // turn
    const double empty = plan.empty_overhead.value() * ring_step_count(Collective::all_reduce, ranks);
    const double simulated = simulate_isolated(plan, /*exact=*/true).seconds;
    EXPECT_GE(simulated, lockstep_seconds(plan) * (1 - kExact)) << ranks << " ranks";
    EXPECT_LE(simulated, (lockstep_seconds(plan) + empty) * (1 + kExact)) << ranks << " ranks";
  }
}

TEST(RingTime, OfLlFollowsTheLinesOfThePreviousRank) {
  // In line protocols a turn begins one flight after the previous rank's turn began; with equal rates it ends
  // one flight after it, too: the whole ring takes all turns' overheads and flights, and the bytes of two
  // turns only where the data of later turns are already under way.
  Call call = ring_call(Bytes(4 * 1024), Protocol::ll);
  call.channels = 1;
  const SchedulePlan plan = plan_of(one_switch(4), call);
  const double turns = 2 * (4 - 1);
  const PositionPlan& at = plan.positions().front();
  const double flights = turns * at.to_next().flag.value();
  const double simulated = simulate_isolated(plan, true).seconds;
  EXPECT_GT(simulated, flights);
  const double each = at.part(TurnAction::reduce_send).overhead.value() +
                      1024.0 * 2 / 1e9;  // 1 KiB of payload at no less than 1 GB/s
  EXPECT_LT(simulated, flights + (turns + 1) * each);
}

TEST(RingTime, OfSmallMessagesGrowsLinearlyWithRanks) {
  for (const Protocol protocol : {Protocol::simple, Protocol::ll, Protocol::ll128}) {
    std::vector<double> seconds;
    for (int ranks = 3; ranks <= 12; ++ranks) {
      Call call = ring_call(Bytes(static_cast<std::uint64_t>(ranks) * 16), protocol);
      call.channels = 1;
      call.threads = 96;
      seconds.push_back(simulate_isolated(plan_of(one_switch(ranks), call), true).seconds);
    }
    const double step = seconds[1] - seconds[0];
    EXPECT_GT(step, 0);
    for (std::size_t i = 1; i < seconds.size(); ++i) {
      EXPECT_NEAR(seconds[i] - seconds[i - 1], step, step * 1e-6)
          << to_string(protocol) << ", " << i + 3 << " ranks";
    }
  }
}

TEST(RingTraffic, IsTwiceRanksLessOneOverRanksTimesTheSizeOnEveryLink) {
  for (const int ranks : {2, 3, 4, 8}) {
    const std::uint64_t size = static_cast<std::uint64_t>(ranks) * 12 * 1024 * 1024;
    const SchedulePlan plan = plan_of(one_switch(ranks), ring_call(Bytes(size)));
    const double packets = (128.0 + 24.0) / 128.0;
    const double expected = 2.0 * (ranks - 1) / ranks * static_cast<double>(size) * packets;
    const Simulated simulated = simulate_isolated(plan, true);
    for (std::size_t r = 0; r < plan.network.resources.size(); ++r) {
      const Resource& resource = plan.network.resources[r];
      const double directions = resource.direction == "both" ? 2 : 1;
      EXPECT_NEAR(simulated.wire_bytes[r], directions * expected, expected * kExact)
          << resource.link << " " << resource.direction << ", " << ranks << " ranks";
    }
  }
}

TEST(RingTraffic, IsTheSameCountedBySimulationFoldedOrByTheSchedule) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Call call = ring_call(Bytes(24'000'000 + seed * 4096), seed % 2 == 0 ? Protocol::simple : Protocol::ll);
    call.chunk = Bytes(65536);
    const SchedulePlan plan = plan_of(random_machine(seed), call);
    const std::vector<double> counted = resource_wire_bytes(plan);
    for (const bool exact : {true, false}) {
      const Simulated simulated = simulate_isolated(plan, exact);
      for (std::size_t r = 0; r < counted.size(); ++r) {
        EXPECT_NEAR(simulated.wire_bytes[r], counted[r], counted[r] * 1e-6 + 1) << "seed " << seed;
      }
    }
  }
}

TEST(RingTime, NeverFallsWhenTheSizeGrows) {
  for (const Protocol protocol : {Protocol::simple, Protocol::ll}) {
    std::vector<Call> calls;
    for (std::uint64_t size = 8; size <= (1u << 28); size *= 2) {
      Call call = ring_call(Bytes(size), protocol);
      call.channels = 2;
      call.threads = 256;
      calls.push_back(call);
    }
    for (const Machine& machine : {one_switch(4), two_sockets(1), two_switches(2), nvlink_pair()}) {
      double before = 0;
      for (const Prediction& p : predict_all(machine, calls)) {
        EXPECT_GE(p.time.value(), before * (1 - 1e-9)) << machine.name << " at " << p.call.size.value();
        before = p.time.value();
      }
    }
  }
}

TEST(RingTime, DependsOnTheSeedOnlyThroughTheChannels) {
  Call call = ring_call(Bytes(8u << 20));
  call.channels = 4;
  const Machine machine = one_switch(4);
  const auto with_seed = [&](std::uint64_t seed) {
    SimulationOptions options;
    options.seed = seed;
    return predict(machine, Profile(), Implementation{}, {call}, options).front().time.value();
  };
  EXPECT_EQ(with_seed(1), with_seed(1));
  EXPECT_EQ(with_seed(7), with_seed(7));
  Profile even;
  even.set(Param::channel_spread, 0);
  SimulationOptions one, seven;
  seven.seed = 7;
  EXPECT_EQ(predict(machine, even, Implementation{}, {call}, one).front().time,
            predict(machine, even, Implementation{}, {call}, seven).front().time);
}

TEST(RingTime, OfOneRankIsALaunchAndACopy) {
  Call call = ring_call(Bytes(1u << 20));
  call.ranks = {0};
  const Machine machine = one_switch(2);
  const Prediction out_of_place = predict_one(machine, call);
  call.in_place = true;
  const Prediction in_place = predict_one(machine, call);
  EXPECT_GT(out_of_place.time, in_place.time);
  EXPECT_FALSE(in_place.bottleneck.has_value());
  EXPECT_FALSE(in_place.limit_busbw.has_value());
  EXPECT_EQ(in_place.busbw().value(), 0);
}

}  // namespace
}  // namespace lanecast::support
