#include "model/predict/ring_symmetry.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "model/predict/schedule_traffic.hpp"
#include "tests/model/ring_calls.hpp"
#include "tests/support/machine_builders.hpp"

namespace lanecast {
namespace {

using namespace literals;

constexpr double kRelative = 1e-12;  // a handful of roundings

Bytes even_size(int ranks) { return Bytes(static_cast<std::uint64_t>(ranks) * 4 * 480 * 1024); }

SchedulePlan peer_plan(const Machine& machine, Protocol protocol = Protocol::simple) {
  return plan_of(machine,
                 forced_call(even_size(static_cast<int>(machine.gpus.size())), protocol, 2, Transport::p2p));
}

SchedulePlan host_plan(const Machine& machine, Protocol protocol = Protocol::simple) {
  return plan_of(machine,
                 forced_call(even_size(static_cast<int>(machine.gpus.size())), protocol, 2, Transport::shm));
}

TEST(RotationPeriod, IsOneWhereAllNeighboursAreAlike) {
  for (const int gpus : {2, 3, 4, 7, 8}) {
    EXPECT_EQ(rotation_period(peer_plan(support::one_switch(gpus))), 1) << gpus << " GPUs under one switch";
    EXPECT_EQ(rotation_period(peer_plan(support::own_roots(gpus))), 1) << gpus << " GPUs on their own roots";
    EXPECT_EQ(rotation_period(plan_of(support::with_nvswitch(gpus), forced_call(even_size(gpus)))), 1);
    EXPECT_EQ(rotation_period(host_plan(support::own_roots(gpus))), 1) << "through host memory";
  }
  EXPECT_EQ(rotation_period(plan_of(support::nvlink_pair(), forced_call(even_size(2)))), 1);
  EXPECT_EQ(rotation_period(peer_plan(support::two_sockets())), 1);
}

TEST(RotationPeriod, IsTheGroupOfEqualSwitchesOrSockets) {
  for (const int each : {2, 3, 4}) {
    EXPECT_EQ(rotation_period(peer_plan(support::two_switches(each))), each);
    EXPECT_EQ(rotation_period(peer_plan(support::two_sockets(each))), each);
    EXPECT_EQ(rotation_period(peer_plan(support::nested_switches(3, each))), each);
    EXPECT_EQ(rotation_period(host_plan(support::two_sockets(each))), each);
  }
}

TEST(RotationPeriod, IsAllRanksWhereOneLinkIsDegraded) {
  for (const char* name : {"gpu0", "gpu3", "uplink1"}) {
    Machine machine = support::two_switches(3);
    support::link_named(machine, name).width = 8;
    EXPECT_EQ(rotation_period(peer_plan(machine)), 6) << name;
  }
  Machine machine = support::one_switch(4);
  support::link_named(machine, "gpu2").replay_rate = 1e-3;
  EXPECT_EQ(rotation_period(peer_plan(machine)), 4);
}

TEST(RotationPeriod, IsAllRanksWhereOneCardIsMissing) {
  Machine machine = support::two_switches(3);
  machine.gpus[1].present = false;
  EXPECT_EQ(rotation_period(plan_of(machine, forced_call(even_size(5), Protocol::simple, 2, Transport::p2p))),
            5);
}

TEST(RotationPeriod, IsAllRanksWhereOneLinkSleepsOrIsLonger) {
  Machine sleepy = support::one_switch(4), longer = support::one_switch(4);
  support::link_named(sleepy, "gpu2").aspm = Aspm::l1;
  support::link_named(longer, "gpu2").latency = Seconds(50e-9);
  EXPECT_EQ(rotation_period(peer_plan(sleepy)), 4);
  EXPECT_EQ(rotation_period(peer_plan(longer)), 4);
}

TEST(RotationPeriod,
     DependsOnTheOrderOfTheRing) {  // gpu0 and gpu1 under one switch, gpu2 and gpu3 under the other
  Call call = forced_call(even_size(4), Protocol::simple, 2, Transport::p2p);
  call.ranks = {0, 2, 1, 3};
  call.order_given = true;
  EXPECT_EQ(rotation_period(plan_of(support::two_switches(2), call)), 1) << "every hop crosses";
}

TEST(RotationPeriodProperty, DividesTheRanks) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const SchedulePlan plan = plan_of(support::random_machine(seed), forced_call(1_MiB));
    const auto ranks = static_cast<int>(plan.positions().size());
    const int period = rotation_period(plan);
    EXPECT_GE(period, 1);
    EXPECT_EQ(ranks % period, 0) << "seed " << seed;
  }
}

TEST(RotationPeriod, OfAChainIsAllRanks) {
  for (const Collective collective : {Collective::broadcast, Collective::reduce}) {
    Call call = forced_call(even_size(4));
    call.collective = collective;
    const SchedulePlan plan = plan_of(support::one_switch(4), call);
    EXPECT_EQ(rotation_period(plan), 4);
    EXPECT_FALSE(reduce_by_rotation(plan, 4).has_value());
  }
}

TEST(ReducedPlan, KeepsOnePeriodOfPositions) {
  const SchedulePlan plan = peer_plan(support::two_switches(3));
  const auto reduced = reduce_by_rotation(plan, 3);
  ASSERT_TRUE(reduced.has_value());
  EXPECT_EQ(reduced->positions().size(), 3u);
  ASSERT_EQ(reduced->resolved.work.size(), plan.resolved.work.size());
  for (const auto& channel : reduced->resolved.work) {
    ASSERT_EQ(channel.size(), 3u);
    EXPECT_EQ(channel[0].ranks, 6) << "each rank still takes all its turns";
  }
  EXPECT_EQ(reduced->channel_factor, plan.channel_factor);
  EXPECT_EQ(reduced->start, plan.start);
}

TEST(ReducedPlan,
     KeepsTheCapacityOfWhatEachRankHasForItself) {  // C x |orbit| x d / n with an orbit of n, d = 1
  const SchedulePlan plan = peer_plan(support::one_switch(4));
  const auto reduced = reduce_by_rotation(plan, rotation_period(plan));
  ASSERT_TRUE(reduced.has_value());
  EXPECT_EQ(reduced->network.resources.size(), 3u);  // up, down, both
  for (const char* direction : {"up", "down", "both"}) {
    const Resource& whole = resource_named(plan.network, std::string("gpu0 ") + direction);
    const auto kept = std::find_if(reduced->network.resources.begin(), reduced->network.resources.end(),
                                   [&](const Resource& r) { return r.direction == direction; });
    ASSERT_NE(kept, reduced->network.resources.end());
    EXPECT_NEAR(kept->capacity / whole.capacity, 1.0, kRelative);
    EXPECT_NEAR(kept->usable / whole.usable, 1.0, kRelative);
  }
}

TEST(ReducedPlan, DividesTheCapacityOfWhatAllShare) {  // an orbit of 1: C x 1 x 1 / n
  const SchedulePlan plan = host_plan(support::own_roots(4));
  const auto reduced = reduce_by_rotation(plan, rotation_period(plan));
  ASSERT_TRUE(reduced.has_value());
  const Resource& whole = resource_named(plan.network, "memory cpu0 both");
  EXPECT_NEAR(resource_named(reduced->network, "memory cpu0 both").capacity / whole.capacity, 1.0 / 4,
              kRelative);
}

TEST(ReducedPlan, ScalesByTheOrbitOfEachResource) {  // two switches of 2: d = 2, n = 4
  Machine machine = support::two_switches(2);
  for (RootComplex& root : machine.roots) root.p2p_rate = BytesPerSecond(30e9);
  const SchedulePlan plan = peer_plan(machine);
  const auto reduced = reduce_by_rotation(plan, 2);
  ASSERT_TRUE(reduced.has_value());
  for (const Resource& kept : reduced->network.resources) {  // every orbit has 2 members: C x 2 x 2 / 4
    EXPECT_NEAR(kept.capacity / resource_named(plan.network, name_of(kept)).capacity, 1.0, kRelative)
        << name_of(kept);
  }
  EXPECT_EQ(2 * reduced->network.resources.size(), plan.network.resources.size());
}

TEST(ReducedPlanProperty, LoadsItsLinksAsMuchAsTheWholePlan) {
  int reduced_plans = 0;
  const auto check = [&](const SchedulePlan& plan, const std::string& what) {
    const auto reduced = reduce_by_rotation(plan, rotation_period(plan));
    if (!reduced) return;
    ++reduced_plans;
    const LinkLimit whole = link_limit(plan.network, resource_wire_bytes(plan));
    const LinkLimit kept = link_limit(reduced->network, resource_wire_bytes(*reduced));
    // shares are rounded up by at most 1e-4, and short last loops differ between the ranks by a grain
    EXPECT_NEAR(kept.time / whole.time, 1.0, 1e-3) << what;
  };
  for (const Protocol protocol : {Protocol::simple, Protocol::ll, Protocol::ll128}) {
    for (const Machine& machine :
         {support::one_switch(6), support::two_switches(4), support::nested_switches(2, 3),
          support::own_roots(3), support::two_sockets(4)}) {
      check(peer_plan(machine, protocol), machine.name + " by peers, " + to_string(protocol));
      check(host_plan(machine, protocol), machine.name + " by the host, " + to_string(protocol));
    }
  }
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    check(plan_of(support::random_machine(seed), forced_call(32_MiB)), "seed " + std::to_string(seed));
  }
  EXPECT_GE(reduced_plans, 30);
}

TEST(ReducedPlan, HasOnlyLanesThatItsPositionsUse) {
  const SchedulePlan plan = peer_plan(support::two_switches(4));
  const auto reduced = reduce_by_rotation(plan, 4);
  ASSERT_TRUE(reduced.has_value());
  EXPECT_EQ(plan.network.lanes.size(), 8u);
  EXPECT_EQ(reduced->network.lanes.size(), 4u);
  for (const PositionPlan& position : reduced->positions()) {
    for (const auto& kind : position.strands.front()) {
      for (const FlowCost& flow : kind.front().flows) EXPECT_LT(flow.lane, 4);
    }
  }
}

TEST(ReducedPlan, IsNothingWhereItWouldBeNoSmaller) {
  Machine machine = support::one_switch(4);
  support::link_named(machine, "gpu1").width = 8;
  const SchedulePlan plan = peer_plan(machine);
  EXPECT_FALSE(reduce_by_rotation(plan, rotation_period(plan)).has_value());
}

TEST(ReducedPlan,
     IsNothingWhereTheSharesAreTooUneven) {  // 10 floats over 3 ranks and 16 B grains: 12, 20 % more
  const Machine machine = support::one_switch(3);
  const SchedulePlan uneven = plan_of(machine, forced_call(Bytes(40), Protocol::ll, 1));
  EXPECT_FALSE(reduce_by_rotation(uneven, rotation_period(uneven)).has_value());
  const SchedulePlan even = plan_of(machine, forced_call(Bytes(48), Protocol::ll, 1));
  EXPECT_TRUE(reduce_by_rotation(even, rotation_period(even)).has_value());
}

}  // namespace
}  // namespace lanecast
