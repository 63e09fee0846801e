// Where the time of a call goes: shares that add up, and that follow what is changed.
#include <gtest/gtest.h>

#include <algorithm>

#include "model/error.hpp"
#include "sim/event_simulation.hpp"
#include "tests/support/machine_builders.hpp"
#include "tests/support/simulated.hpp"

namespace lanecast::support {
namespace {

using namespace literals;

TimeShares shares_of(const Machine& machine, const Call& call, const Profile& profile = Profile()) {
  SimulationOptions options;
  options.shares = true;
  return *predict(machine, profile, implementation_from_string("nccl"), {call}, options).front().shares;
}

Call one_channel(Protocol protocol = Protocol::simple, Bytes size = 16_MiB) {
  Call call = ring_call(size, protocol);
  call.channels = 1;
  return call;
}

Profile with(Param parameter, double value) {
  Profile profile;
  profile.set(parameter, value);
  return profile;
}

TEST(TimeShares, OfBlocksFarBelowTheirLinksHoldNoWaiting) {
  Call call = one_channel();
  call.threads = 64;
  const TimeShares shares = shares_of(one_switch(2), call);
  EXPECT_LT(shares.waiting.value(), 1e-6 * shares.sum().value());
  EXPECT_GT(shares.wire.value(), 0.5 * shares.sum().value());
  // the same through a link that only this pair loads: what the other direction takes of it is all that waits
  const TimeShares full = shares_of(one_switch(2), ring_call(64_MiB));
  EXPECT_LT(full.waiting.value(), 0.1 * full.sum().value());
}

TEST(TimeShares, OfTwoPairsThatShareAnUplinkHoldWaiting) {
  // with ACS both hops of a pair, and all four of a ring of four, go over the uplink
  Machine machine = one_switch(4);
  machine.switches[0].acs = true;
  machine.p2p.level = Distance::sys;
  Call call = ring_call(64_MiB);
  const TimeShares shared = shares_of(machine, call);
  EXPECT_GT(shared.waiting.value(), 0.5 * shared.sum().value());
  machine.switches[0].acs = false;
  const TimeShares own = shares_of(machine, call);
  EXPECT_LT(own.waiting.value(), 0.2 * own.sum().value());
}

TEST(TimeShares, WaitingGrowsWithThePairsThatShareALink) {
  double before = -1;
  for (const int gpus : {2, 4, 6, 8}) {
    Machine machine = one_switch(gpus);
    machine.switches[0].acs = true;
    machine.p2p.level = Distance::sys;
    const TimeShares shares = shares_of(machine, ring_call(64_MiB));
    const double share = shares.waiting / shares.sum();
    EXPECT_GT(share, before) << gpus;
    before = share;
  }
}

TEST(TimeShares, OfLinesHoldAtLeastAsMuchProtocolAsWire) {
  // 4 of 8 bytes of an LL line are a flag
  const TimeShares ll = shares_of(one_switch(2), one_channel(Protocol::ll));
  EXPECT_GE(ll.protocol.value(), ll.wire.value());
  const TimeShares simple = shares_of(one_switch(2), one_channel());
  EXPECT_LT(simple.protocol.value(), 0.5 * simple.wire.value());
}

TEST(TimeShares, FollowTheParameterThatIsChanged) {
  const Machine machine = one_switch(4);
  const Call call = one_channel(Protocol::ll, 8_KiB);
  const TimeShares before = shares_of(machine, call);
  const TimeShares slow_flags = shares_of(machine, call, with(Param::latency_gpu, 650));
  EXPECT_GT(slow_flags.latency.value(), before.latency.value() + 0.3e-6);
  EXPECT_NEAR(slow_flags.wire.value(), before.wire.value(), 1e-9);
  EXPECT_NEAR(slow_flags.launch.value(), before.launch.value(), 1e-12);
}

TEST(TimeShares, OfAStreamHoldTheHostsPeriodAsLaunch) {
  Call call = one_channel(Protocol::ll, 8_KiB);
  const TimeShares graph = shares_of(one_switch(2), call);
  call.launch = Launch::stream;
  const TimeShares stream = shares_of(one_switch(2), call);
  EXPECT_GT(stream.launch.value(), 0.0);
  EXPECT_NEAR(stream.wire.value(), graph.wire.value(), 1e-12);
}

TEST(TimeShares, OfOneRankAreLaunchAlone) {
  Call call = ring_call(1_MiB);
  call.ranks = {0};
  const TimeShares shares = shares_of(one_switch(2), call);
  EXPECT_DOUBLE_EQ(shares.launch.value(), shares.sum().value());
}

TEST(TimeShares, OfFoldedAndOfExactCallsAreAlike) {
  for (const Protocol protocol : {Protocol::simple, Protocol::ll}) {
    Call call = ring_call(256_MiB, protocol);
    if (protocol == Protocol::simple) call.chunk = 256_KiB;
    const SchedulePlan plan = plan_of(two_switches(2), call);
    const ScheduleSimulation folded = simulate_events(plan, false, true);
    const ScheduleSimulation exact = simulate_events(plan, true, true);
    EXPECT_TRUE(folded.folded);
    const double allowed = 0.02 * exact.time.value();
    EXPECT_NEAR(folded.account.latency, exact.account.latency, allowed);
    EXPECT_NEAR(folded.account.protocol, exact.account.protocol, allowed);
    EXPECT_NEAR(folded.account.wire, exact.account.wire, allowed);
    EXPECT_NEAR(folded.account.waiting, exact.account.waiting, allowed);
  }
}

TEST(TimeSharesProperty, AddUpToTheTimeOnAnyMachineAndAreNeverNegative) {
  int simulated = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const Machine machine = random_machine(seed);
    for (const Protocol protocol : {Protocol::simple, Protocol::ll}) {
      for (const Bytes size : {Bytes(4096), 1_MiB, 64_MiB}) {
        Call call = ring_call(size, protocol);
        if (seed % 3 == 0) call.algorithm = Algorithm::tree;
        try {
          const SchedulePlan plan = plan_of(machine, call);
          const ScheduleSimulation run = simulate_events(plan, false, true);
          EXPECT_NEAR(run.account.sum(), run.time.value(), 1e-6 * run.time.value()) << seed;
          for (const double share :
               {run.account.latency, run.account.protocol, run.account.wire, run.account.waiting})
            EXPECT_GE(share, -1e-12) << seed;
          EXPECT_EQ(run.time, simulate_events(plan).time) << seed;  // keeping accounts changes nothing
          ++simulated;
        } catch (const Error&) {  // no way between two cards of this machine
        }
      }
    }
  }
  EXPECT_GT(simulated, 400);
}

}  // namespace
}  // namespace lanecast::support
