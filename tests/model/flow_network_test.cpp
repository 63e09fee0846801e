#include "model/predict/flow_network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/model/ring_calls.hpp"
#include "tests/support/machine_builders.hpp"

namespace lanecast {
namespace {

// Facts.md C1, C2 and C9, in B/s and shares
constexpr double kGen4x16 = 16e9 * 16 * 128 / 130 / 8;
constexpr double kDllp = 0.02;
constexpr double kSmWeight = (128.0 + 24) / 128;    // SM stores: 128 B packets
constexpr double kCopyWeight = (256.0 + 24) / 256;  // copy engines: 256 B packets
constexpr double kOneWay = kGen4x16 * (1 - kDllp);
constexpr double kRelative = 1e-12;  // a handful of roundings

using Names = std::vector<std::string>;

Names names_of(const FlowNetwork& network, int lane) {
  Names names;
  for (const int r : network.lanes[static_cast<std::size_t>(lane)].resources) {
    names.push_back(name_of(network.resources[static_cast<std::size_t>(r)]));
  }
  return names;
}

/// The machine with Hopper cards, whose copy engines make packets of 256 B.
Machine hopper(Machine machine) {
  for (Gpu& gpu : machine.gpus) gpu.sm = 90;
  return machine;
}

/// A builder over one machine with the priors.
struct Built {
  explicit Built(Machine built, Engine engine = Engine::sm)
      : machine(std::move(built)), builder(machine, profile, engine) {}

  Machine machine;
  Profile profile;
  FlowNetworkBuilder builder;

  int peer(int from, int to) {
    const auto nvlink = nvlink_route(machine, from, to);
    return builder.add_peer(nvlink ? *nvlink : *peer_route(machine, from, to));
  }
  int store(int gpu, int cpu, BytesPerSecond joint = BytesPerSecond(0)) {
    const Route out = *host_route(machine, gpu, cpu, true);
    return builder.add_host(gpu, &out, cpu, nullptr, std::nullopt, joint);
  }
  int load(int gpu, int cpu, BytesPerSecond joint = BytesPerSecond(0)) {
    const Route in = *host_route(machine, gpu, cpu, false);
    return builder.add_host(gpu, nullptr, std::nullopt, &in, cpu, joint);
  }
  int both(int gpu, int cpu, BytesPerSecond joint = BytesPerSecond(0)) {
    const Route out = *host_route(machine, gpu, cpu, true), in = *host_route(machine, gpu, cpu, false);
    return builder.add_host(gpu, &out, cpu, &in, cpu, joint);
  }
  Names names(int lane) const { return names_of(builder.network(), lane); }
  const Lane& lane(int index) const { return builder.network().lanes[static_cast<std::size_t>(index)]; }
  double capacity(const std::string& name) const {
    return resource_named(builder.network(), name).capacity.value();
  }
};

void expect_close(double value, double expected) { EXPECT_NEAR(value, expected, kRelative * expected); }

TEST(PeerLane, CrossesEachLinksDirectionAndItsDuplexShare) {
  Built built(support::one_switch(2));
  EXPECT_EQ(built.names(built.peer(0, 1)), (Names{"gpu0 up", "gpu0 both", "gpu1 down", "gpu1 both"}));
}

TEST(PeerLane, CrossesUplinksBetweenSwitches) {
  Built built(support::two_switches(1));
  EXPECT_EQ(built.names(built.peer(1, 0)), (Names{"gpu1 up", "gpu1 both", "uplink1 up", "uplink1 both",
                                                  "uplink0 down", "uplink0 both", "gpu0 down", "gpu0 both"}));
}

TEST(PeerLane, CrossesAnUplinkTwiceUnderAcs) {
  Machine machine = support::one_switch(2);
  machine.switches[0].acs = true;
  Built built(machine);
  const Names names = built.names(built.peer(0, 1));
  EXPECT_EQ(std::count(names.begin(), names.end(), "uplink0 up"), 1);
  EXPECT_EQ(std::count(names.begin(), names.end(), "uplink0 down"), 1);
  EXPECT_EQ(std::count(names.begin(), names.end(), "uplink0 both"), 2);
}

TEST(PeerLane, CrossesTheSocketLinkInItsDirection) {
  Built built(support::two_sockets());
  EXPECT_EQ(built.names(built.peer(0, 1)),
            (Names{"gpu0 up", "gpu0 both", "upi0 cpu0 to cpu1", "upi0 both", "gpu1 down", "gpu1 both"}));
  EXPECT_EQ(built.names(built.peer(1, 0))[2], "upi0 cpu1 to cpu0");
}

TEST(PeerLane, OverNvlinkHasNoPacketsAndNoDuplexLoss) {  // facts.md G: duplex costs nothing
  Built built(support::with_nvswitch(2));
  const int lane = built.peer(0, 1);
  EXPECT_EQ(built.names(lane), (Names{"nv0 gpu0 to nvsw0", "nv1 nvsw0 to gpu1"}));
  EXPECT_EQ(built.lane(lane).wire_per_payload, 1.0);
  expect_close(built.capacity("nv0 gpu0 to nvsw0"), 12 * 25e9 * 0.71);  // h200-findings.md: 340 of 478
  Built copy(support::with_nvswitch(2), Engine::copy);
  copy.peer(0, 1);
  expect_close(copy.capacity("nv0 gpu0 to nvsw0"), 12 * 25e9 * 0.826);  // facts.md G: 395 of 478
}

TEST(PeerLane, IsMadeOnceForEachRoute) {
  Built built(support::one_switch(3));
  const int first = built.peer(0, 1);
  EXPECT_EQ(built.peer(0, 1), first);
  EXPECT_NE(built.peer(0, 2), first);
  EXPECT_EQ(built.builder.network().lanes.size(), 2u);
}

TEST(Resources, AreSharedByTheLanesThatCrossThem) {
  Built built(support::two_switches(2));
  const Lane first = built.lane(built.peer(0, 2)), second = built.lane(built.peer(1, 3));
  std::vector<int> shared;
  for (const int r : first.resources) {
    if (std::count(second.resources.begin(), second.resources.end(), r) > 0) shared.push_back(r);
  }
  Names names;
  for (const int r : shared)
    names.push_back(name_of(built.builder.network().resources[static_cast<std::size_t>(r)]));
  EXPECT_EQ(names, (Names{"uplink0 up", "uplink0 both", "uplink1 down", "uplink1 both"}));
}

TEST(Resources, OfOneLinkAreThreeHoweverManyLanesCrossIt) {
  Built built(support::one_switch(2));
  built.peer(0, 1);
  built.peer(1, 0);
  EXPECT_EQ(built.builder.network().resources.size(), 6u);  // two links: up, down, both
}

TEST(Resources, CarryWireBytesLessDllpsAndLessADuplexShareOfTheSum) {  // facts.md C9: 3 %, in 256 B packets
  Built copy(support::two_switches(1), Engine::copy);
  copy.peer(0, 1);
  expect_close(copy.capacity("gpu0 up"), kOneWay);
  expect_close(copy.capacity("gpu0 both"), 2 * kOneWay * (1 - 0.03));
  expect_close(copy.capacity("uplink0 both"), 2 * kOneWay * (1 - 0.03));
  Built sm(support::two_switches(1));
  sm.peer(0, 1);
  const double more_packets = (256.0 + 24) / (128 + 24);
  expect_close(sm.capacity("gpu0 up"), kOneWay);
  expect_close(sm.capacity("gpu0 both"), 2 * kOneWay * (1 - 0.03 * more_packets));
}

TEST(Resources, OfHostTrafficLoseNinePercentInDuplex) {  // facts.md C6: 49.9 each against 55.1 alone
  Built built(support::own_roots(1), Engine::copy);
  built.both(0, 0);
  expect_close(built.capacity("gpu0 both"), 2 * kOneWay * (1 - 0.09));
}

TEST(Resources, OfASocketLinkAreScaledToPacketsAndLoseTenPercentInDuplex) {
  Built built(support::two_sockets());  // 20 GB/s of payload each way
  built.peer(0, 1);
  expect_close(built.capacity("upi0 cpu0 to cpu1"), 20e9 * kSmWeight);
  expect_close(built.capacity("upi0 both"), 2 * 20e9 * kSmWeight * (1 - 0.10));
}

TEST(Resources, OfARootLimitPeerTrafficOnly) {
  Machine machine = support::one_root(2);
  machine.roots[0].p2p_rate = BytesPerSecond(25e9);
  machine.roots[0].p2p_port_rate = BytesPerSecond(11e9);
  Built built(machine);
  EXPECT_EQ(built.names(built.peer(0, 1)), (Names{"gpu0 up", "gpu0 both", "gpu0 port up", "gpu1 down",
                                                  "gpu1 both", "gpu1 port down", "root0 peer traffic"}));
  expect_close(built.capacity("gpu0 port up"), 11e9 * kSmWeight);
  expect_close(built.capacity("root0 peer traffic"), 25e9 * kSmWeight);
  Built host(machine);
  EXPECT_EQ(host.names(host.store(0, 0)), (Names{"gpu0 up", "gpu0 both", "memory cpu0 both"}));
}

TEST(Resources, OfASwitchBelowALimitedRootAreNotLimitedByIt) {
  Machine machine = support::one_switch(2);
  machine.roots[0].p2p_rate = BytesPerSecond(1e9);
  machine.roots[0].p2p_port_rate = BytesPerSecond(1e9);
  Built built(machine);
  EXPECT_EQ(built.names(built.peer(0, 1)), (Names{"gpu0 up", "gpu0 both", "gpu1 down", "gpu1 both"}));
}

TEST(WireWeight, IsThatOfTheEnginesPackets) {
  Built sm(support::one_switch(2)), copy(hopper(support::one_switch(2)), Engine::copy);
  expect_close(sm.lane(sm.peer(0, 1)).wire_per_payload, kSmWeight);
  expect_close(copy.lane(copy.peer(0, 1)).wire_per_payload, kCopyWeight);
  expect_close(sm.builder.reference_weight(), kSmWeight);
  expect_close(copy.builder.reference_weight(), kCopyWeight);
}

TEST(WireWeight, FollowsTheSmallestMpsOfThePath) {
  Machine machine = hopper(support::two_switches(1));
  support::link_named(machine, "uplink1").mps = Bytes(128);
  Built copy(machine, Engine::copy);
  expect_close(copy.lane(copy.peer(0, 1)).wire_per_payload, kSmWeight);
}

TEST(WireWeight, IsThatOf128BytePacketsForCopyEnginesBeforeHopper) {  // facts.md C4: 26.26 GB/s at Gen4 x16
  Machine machine = support::one_switch(2);
  for (const auto& [sm, weight] :
       {std::pair(80, kSmWeight), {89, kSmWeight}, {90, kCopyWeight}, {0, kCopyWeight}}) {
    for (Gpu& gpu : machine.gpus) gpu.sm = sm;
    Built copy(machine, Engine::copy);
    expect_close(copy.lane(copy.peer(0, 1)).wire_per_payload, weight);
    expect_close(copy.lane(copy.store(0, 0)).wire_per_payload, weight);
  }
}

TEST(WireWeight, IsThatOf64BytePacketsThroughAnIntelRoot) {  // facts.md A8, C9
  Machine machine = support::two_switches(2);
  machine.cpus[0].vendor = "intel";
  for (const Engine engine : {Engine::sm, Engine::copy}) {
    Built built(machine, engine);
    expect_close(built.lane(built.peer(0, 2)).wire_per_payload, (64.0 + 24) / 64);
    EXPECT_LT(built.lane(built.peer(0, 1)).wire_per_payload, 1.2) << "a switch turns it below the root";
    EXPECT_LT(built.lane(built.store(0, 0)).wire_per_payload, 1.2) << "host memory is no peer";
  }
}

TEST(HostLane, EndsInTheMemoryOfTheCpu) {
  Built built(support::two_sockets());
  EXPECT_EQ(built.names(built.store(0, 1)),
            (Names{"gpu0 up", "gpu0 both", "upi0 cpu0 to cpu1", "upi0 both", "memory cpu1 both"}));
  EXPECT_EQ(built.names(built.load(0, 0)), (Names{"gpu0 down", "gpu0 both", "memory cpu0 both"}));
  expect_close(built.capacity("memory cpu0 both"), 140e9 * kSmWeight);
}

TEST(HostLane, OfALoadIsChargedCompletions) {  // facts.md C2; reads reach 0.97 of their packets' rate
  Built built(hopper(support::own_roots(1)), Engine::copy);
  expect_close(built.lane(built.load(0, 0)).wire_per_payload, (256.0 + 20) / 256 / 0.97);
  expect_close(built.lane(built.store(0, 0)).wire_per_payload, kCopyWeight);
}

TEST(HostLane, OfALoadAndAStoreUsesSharedResourcesTwice) {
  Built built(support::own_roots(1));
  const Names names = built.names(built.both(0, 0, BytesPerSecond(30e9)));
  for (const char* twice : {"gpu0 both", "memory cpu0 both", "gpu0 loads and stores"}) {
    EXPECT_EQ(std::count(names.begin(), names.end(), twice), 2) << twice;
  }
  EXPECT_EQ(std::count(names.begin(), names.end(), "gpu0 up"), 1);
  EXPECT_EQ(std::count(names.begin(), names.end(), "gpu0 down"), 1);
}

TEST(HostLane,
     OfThreadBlocksHasAJointCapacityOfTheSumOfBothDirections) {  // facts.md C9: 0.65, h200-findings.md: 1.6
  Built built(support::own_roots(1));
  built.store(0, 0, BytesPerSecond(30e9));
  const Resource& joint = resource_named(built.builder.network(), "gpu0 loads and stores");
  expect_close(joint.capacity.value(), 0.65 * 2 * kOneWay);
  ASSERT_TRUE(joint.soft.has_value());
  EXPECT_DOUBLE_EQ(joint.soft->exponent, 1.6);
  EXPECT_EQ(joint.soft->flow_rate, BytesPerSecond(30e9));
  EXPECT_FALSE(joint.physical) << "the link itself can do more";
}

TEST(HostLane, OfCopyEnginesHasNone) {  // design.md section 3
  Built built(support::own_roots(1), Engine::copy);
  EXPECT_EQ(built.names(built.both(0, 0, BytesPerSecond(30e9))).size(), 6u);
  for (const Resource& resource : built.builder.network().resources) EXPECT_TRUE(resource.physical);
}

TEST(SleepingLinks, AreThoseOnTheLaneWithTheirExits) {
  Machine machine = support::two_switches(1);
  support::link_named(machine, "gpu0").aspm = Aspm::l0s;
  support::link_named(machine, "uplink1").aspm = Aspm::l1;
  Built built(machine);
  const auto exits = [&](int lane) {
    std::vector<Seconds> all;
    for (const SleepingLink& link : built.lane(lane).sleeping) all.push_back(link.exit);
    return all;
  };
  const Seconds l0s = built.profile.time(Param::pcie_l0s_exit);
  EXPECT_EQ(exits(built.peer(0, 1)), (std::vector<Seconds>{l0s, built.profile.time(Param::pcie_l1_exit)}));
  EXPECT_EQ(exits(built.store(0, 0)), std::vector<Seconds>{l0s});
}

TEST(JoinedLane, CrossesBothAndIsChargedTheHeavierPackets) {
  Built built(support::one_switch(2));
  const int load = built.load(0, 0), store = built.peer(0, 1);
  const int joined = built.builder.join(load, store);
  Names expected = built.names(load);
  const Names more = built.names(store);
  expected.insert(expected.end(), more.begin(), more.end());
  EXPECT_EQ(built.names(joined), expected);
  EXPECT_EQ(built.lane(joined).wire_per_payload,
            std::max(built.lane(load).wire_per_payload, built.lane(store).wire_per_payload));
}

TEST(SoftCapacity, IsThePowerMeanOfWhatFlowsAskAndWhatIsThere) {
  const auto soft = [](double exponent, double rate, int flows) {
    return soft_capacity(BytesPerSecond(100), {exponent, BytesPerSecond(rate)}, flows).value();
  };
  EXPECT_NEAR(soft(1, 50, 2), 50, 1e-9);                             // 1 / (1/100 + 1/100)
  EXPECT_NEAR(soft(2, 75, 1), 60, 1e-9);                             // 1 / sqrt(1/75^2 + 1/100^2)
  EXPECT_NEAR(soft(1.6, 100, 1), 100 / std::pow(2, 1 / 1.6), 1e-9);  // both ask the same
  EXPECT_EQ(soft(1.6, 0, 3), 100);
  EXPECT_EQ(soft(1.6, 50, 0), 100);
}

TEST(SoftCapacity, GrowsWithTheFlowsAndStaysBelowBothLimits) {
  for (const double exponent : {1.0, 1.6, 3.0, 8.0}) {
    double before = 0;
    for (int flows = 1; flows <= 64; ++flows) {
      const double now = soft_capacity(BytesPerSecond(71e9), {exponent, BytesPerSecond(27e9)}, flows).value();
      EXPECT_GT(now, before);
      EXPECT_LT(now, std::min(71e9, flows * 27e9));
      before = now;
    }
    EXPECT_GT(before, 0.95 * 71e9);
  }
}

TEST(Approach, IsThePowerMeanOfDemandAndCapacity) {
  EXPECT_NEAR(approach(BytesPerSecond(100), BytesPerSecond(100), 1).value(), 50, 1e-9);
  EXPECT_NEAR(approach(BytesPerSecond(100), BytesPerSecond(75), 2).value(), 60, 1e-9);
  EXPECT_EQ(approach(BytesPerSecond(100), BytesPerSecond(0), 3), BytesPerSecond(100));
  EXPECT_NEAR(approach(BytesPerSecond(100), BytesPerSecond(1e6), 3).value(), 100, 1e-6);
}

/// Capacity of the lane from GPU 0 to GPU 1 over NVLink.
double nvlink_GBps(const Machine& machine) {
  FlowNetworkBuilder builder(machine, Profile(), Engine::copy);
  const int lane = builder.add_peer(*nvlink_route(machine, 0, 1));
  double least = 1e300;
  for (const int r : builder.network().lanes[static_cast<std::size_t>(lane)].resources) {
    least = std::min(least, builder.network().resources[static_cast<std::size_t>(r)].capacity.value() / 1e9);
  }
  return least;
}

TEST(ParallelNvlinks, CarryTheirSumHoweverTheyAreDrawn) {
  Machine one = support::own_roots(2);
  support::add_nvlink(one, {NodeKind::gpu, 0}, {NodeKind::gpu, 1}, 4);
  Machine four = support::own_roots(2);
  for (int i = 0; i < 4; ++i) {
    const NodeId ends[] = {{NodeKind::gpu, i % 2}, {NodeKind::gpu, 1 - i % 2}};  // drawn in either direction
    support::add_nvlink(four, ends[0], ends[1], 1);
  }
  EXPECT_DOUBLE_EQ(nvlink_GBps(four), nvlink_GBps(one));
  Machine whole = support::with_nvswitch(3);
  Machine halves = support::own_roots(3);
  const NodeId switches[] = {support::add_nvswitch(halves), support::add_nvswitch(halves)};
  for (int gpu = 0; gpu < 3; ++gpu) {
    for (const NodeId chip : switches) support::add_nvlink(halves, {NodeKind::gpu, gpu}, chip, 6);
  }
  EXPECT_DOUBLE_EQ(nvlink_GBps(halves), nvlink_GBps(whole)) << "all NVSwitches are one";
}

}  // namespace
}  // namespace lanecast
