// What the algorithms' times must say of each other, whatever the parameters: who wins where, and by how
// much.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "configs/shipped.hpp"
#include "tests/support/machine_builders.hpp"
#include "tests/support/simulated.hpp"

namespace lanecast::support {
namespace {

Call call_by(Algorithm algorithm, std::uint64_t size) {
  Call call;
  call.size = Bytes(size);
  call.algorithm = algorithm;
  return call;
}

std::vector<Call> calls_by(Algorithm algorithm, const std::vector<std::uint64_t>& sizes) {
  std::vector<Call> calls;
  for (const std::uint64_t size : sizes) calls.push_back(call_by(algorithm, size));
  return calls;
}

std::vector<std::uint64_t> powers_of_two(int first, int last) {
  std::vector<std::uint64_t> sizes;
  for (int power = first; power <= last; ++power) sizes.push_back(std::uint64_t{1} << power);
  return sizes;
}

/// The first size from which `slow` stays behind `fast`; nothing where it is ahead at the end.
std::optional<std::uint64_t> overtaken_from(const Machine& machine, Algorithm slow, Algorithm fast) {
  const std::vector<std::uint64_t> sizes = powers_of_two(8, 26);
  const auto slower = predict_engine(machine, calls_by(slow, sizes));
  const auto faster = predict_engine(machine, calls_by(fast, sizes));
  std::optional<std::uint64_t> from;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const bool behind = slower[i].time > faster[i].time;
    if (!behind) from.reset();
    if (behind && !from) from = sizes[i];
  }
  return from;
}

double seconds(const Machine& machine, Algorithm algorithm, std::uint64_t size) {
  return predict_engine(machine, {call_by(algorithm, size)}).front().time.value();
}

TEST(TreeAndRing, RingWinsAtLargeSizesOnOnePcieNode) {
  for (const Machine& machine : {one_switch(8), two_switches(4), own_roots(8)}) {
    const auto from = overtaken_from(machine, Algorithm::tree, Algorithm::ring);
    ASSERT_TRUE(from.has_value()) << machine.name;
    EXPECT_GT(*from, 1u << 10) << "below, the tree's fewer flights count";
    EXPECT_LT(*from, 1u << 24);
  }
}

TEST(DirectAndRing, DirectWinsAtSmallSizesUnderOneSwitchAndLosesAtLarge) {
  const Machine machine = one_switch(8);
  const auto one_shot = overtaken_from(machine, Algorithm::one_shot, Algorithm::ring);
  ASSERT_TRUE(one_shot.has_value());
  EXPECT_GT(*one_shot, 1u << 12);
  const double large =
      seconds(machine, Algorithm::one_shot, 1u << 26) / seconds(machine, Algorithm::ring, 1u << 26);
  EXPECT_NEAR(large, 8 / 2.0, 0.6) << "(n-1) x size against 2(n-1)/n x size";
}

TEST(DirectAndRing, DirectLosesEarlierAcrossSockets) {
  for (const Algorithm direct : {Algorithm::one_shot, Algorithm::direct}) {
    const auto under_one_switch = overtaken_from(one_switch(8), direct, Algorithm::ring);
    const auto across = overtaken_from(two_sockets(4), direct, Algorithm::ring);
    ASSERT_TRUE(across.has_value()) << to_string(direct);
    if (under_one_switch) {
      EXPECT_LT(*across, *under_one_switch) << to_string(direct);
    }
  }
}

TEST(Star, IsWorseThanARingAtLargeSizesByHalfTheRanks) {  // (n-1) x size against 2(n-1)/n x size
  for (const int ranks : {4, 8, 16}) {
    const double star = seconds(one_switch(ranks), Algorithm::star, 1u << 28);
    const double ring = seconds(one_switch(ranks), Algorithm::ring, 1u << 28);
    EXPECT_NEAR(star / ring, ranks / 2.0, 0.05 * ranks / 2.0) << ranks << " ranks";
  }
}

TEST(Hierarchy, BeatsTheRingWhereTheLinkBetweenGroupsIsTheNarrowest) {
  Machine machine = two_switches(4);
  for (const char* uplink : {"uplink0", "uplink1"}) link_named(machine, uplink).width = 4;
  const double ring = seconds(machine, Algorithm::ring, 1u << 28);
  const double hierarchy = seconds(machine, Algorithm::hierarchical_ring, 1u << 28);
  EXPECT_NEAR(ring / hierarchy, 1.75, 0.25) << "2(n-1)/n against 2(m-1)/m of the size on the uplink";
}

TEST(Push, AndPullAreTheSameThroughHostMemory) {  // the data lie in between in any case
  Call push = call_by(Algorithm::two_shot, 1u << 20);
  Call pull = call_by(Algorithm::two_shot_pull, 1u << 20);
  push.protocol = pull.protocol = Protocol::simple;
  push.transport = pull.transport = Transport::shm;
  const auto times = predict_engine(one_switch(4), {push, pull});
  EXPECT_EQ(times[0].time, times[1].time);
}

TEST(Pull, IsSlowerAcrossALongerWay) {  // loads wait for a round trip, stores don't
  Machine far = one_switch(4);
  far.switches.front().latency = Seconds(2e-6);
  const auto ratio = [&](Algorithm algorithm) {
    Call call = call_by(algorithm, 1u << 22);
    call.protocol = Protocol::simple;
    call.channels = 1;  // one block alone: its loads in flight are the limit
    return predict_engine(far, {call}).front().time / predict_engine(one_switch(4), {call}).front().time;
  };
  EXPECT_GT(ratio(Algorithm::one_shot_pull), 1.2 * ratio(Algorithm::one_shot));
}

TEST(SleepingLink, CostsEveryAlgorithmOneExit) {  // it wakes once a call, whoever comes first
  Machine sleepy = one_switch(2);
  link_named(sleepy, "gpu0").aspm = Aspm::l1;
  const double exit = Profile().time(Param::pcie_l1_exit).value();
  for (const Transport transport : {Transport::p2p, Transport::shm}) {
    for (const Algorithm algorithm : simulated_algorithms()) {
      Call call = call_by(algorithm, 4096);
      call.protocol = pulls(algorithm) ? Protocol::simple : Protocol::ll;
      call.channels = 1;
      call.transport = transport;
      const Seconds asleep = predict_engine(sleepy, {call}).front().time;
      const Seconds awake = predict_engine(one_switch(2), {call}).front().time;
      EXPECT_NEAR((asleep - awake).value(), exit, 0.1 * exit) << to_string(algorithm);
    }
  }
}

TEST(Root, MeansNothingToAnAllReduceByAStar) {
  Machine machine = one_switch(4);
  link_named(machine, "gpu3").width = 4;
  Call first = call_by(Algorithm::star, 1u << 20);
  Call other = first;
  other.root = 3;
  const auto times = predict_engine(machine, {first, other});
  EXPECT_EQ(times[0].time, times[1].time);
}

TEST(EngineChoice, IsAsFastAsTheFastestOfAll) {
  for (const Machine& machine : {one_switch(8), two_switches(4), two_sockets(3), with_nvswitch(8)}) {
    for (const std::uint64_t size : {1u << 8, 1u << 13, 1u << 16, 1u << 18, 1u << 20, 1u << 22, 1u << 25}) {
      Call open;
      open.size = Bytes(size);
      const double taken = predict_engine(machine, {open}).front().time.value();
      for (const Algorithm algorithm : simulated_algorithms()) {
        if (algorithm == Algorithm::star) continue;
        EXPECT_LE(taken, seconds(machine, algorithm, size) * 1.02)
            << machine.name << ", " << size << " B, " << to_string(algorithm);
      }
    }
  }
}

TEST(EveryAlgorithm, AnswersBelowTheLimitAndNeverFasterForMoreOnEveryShippedMachine) {
  const std::vector<std::uint64_t> sizes = {8, 100, 1u << 10, 1u << 16, 1'000'000, 1u << 23};
  for (const std::string& name : shipped_machines()) {
    const Machine machine = load_machine(name);
    for (const Algorithm algorithm : simulated_algorithms()) {
      const auto predictions = predict_engine(machine, calls_by(algorithm, sizes));
      Seconds before(0);
      for (const Prediction& p : predictions) {
        const std::string what =
            name + ", " + to_string(algorithm) + ", " + std::to_string(p.call.size.value()) + " B";
        EXPECT_GE(p.time, before) << what;
        ASSERT_TRUE(p.limit_busbw.has_value()) << what;
        EXPECT_LE(p.busbw().value(), p.limit_busbw->value() * (1 + 1e-9)) << what;
        ASSERT_TRUE(p.bottleneck.has_value()) << what;
        EXPECT_LE(p.bottleneck->utilization, 1 + 1e-9) << what;
        before = p.time;
      }
    }
  }
}

TEST(Folding, OfEveryAlgorithmDiffersFromExactByLessThanOneInAThousand) {
  std::vector<SchedulePlan> plans;
  for (const Machine& machine : {one_switch(4), two_switches(4), two_sockets(2), with_nvswitch(8)}) {
    for (const Algorithm algorithm : simulated_algorithms()) {
      for (const Protocol protocol : {Protocol::simple, Protocol::ll}) {
        if (pulls(algorithm) && protocol != Protocol::simple) continue;
        Call call = call_by(algorithm, 24'000'004);
        call.protocol = protocol;
        call.channels = 3;
        call.chunk = Bytes(64'000);
        plans.push_back(engine_plan_of(machine, call));
      }
    }
  }
  Call drifting = call_by(Algorithm::one_shot, 20'000'004);  // few threads, channels that drift slowly
  drifting.protocol = Protocol::ll;
  drifting.channels = 3;
  drifting.threads = 96;
  drifting.transport = Transport::shm;
  plans.push_back(engine_plan_of(two_switches(2), drifting));
  const auto folded = simulate_isolated(plans, false);
  const auto exact = simulate_isolated(plans, true);
  std::size_t were_folded = 0;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    EXPECT_NEAR(folded[i].seconds, exact[i].seconds, 1e-3 * exact[i].seconds)
        << to_string(plans[i].resolved.algorithm) << " " << to_string(plans[i].resolved.protocol) << " on "
        << plans[i].resolved.order().size() << " ranks";
    if (folded[i].folded) ++were_folded;
  }
  EXPECT_GT(were_folded, plans.size() / 5);
}

TEST(NcclTree, OnOneNodeTakesTheChainsTimeUpAndDown) {
  Call call = call_by(Algorithm::tree, 8);
  call.protocol = Protocol::ll;
  const Machine machine = one_switch(8);
  const Prediction chain = predict_one(machine, call);
  const Prediction binary = predict_engine(machine, {call}).front();
  EXPECT_EQ(chain.algorithm, Algorithm::tree);
  EXPECT_GT(chain.time, binary.time) << "14 flights against 8";
}

}  // namespace
}  // namespace lanecast::support
