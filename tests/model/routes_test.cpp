#include "model/topology/routes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "model/predict/latency.hpp"
#include "tests/support/machine_builders.hpp"

namespace lanecast {
namespace {

/// "gpu0 up, uplink0 up" of a route; socket links and NVLinks say where they lead.
std::string legs_of(const Machine& machine, const std::vector<RouteLeg>& legs) {
  std::string text;
  for (const RouteLeg& leg : legs) {
    const Link& link = machine.links[static_cast<std::size_t>(leg.link)];
    const std::string end = "to " + node_name(machine, leg.forward ? link.to : link.from);
    const std::string way = link.kind == LinkKind::pcie ? (leg.forward ? "down" : "up") : end;
    text += (text.empty() ? "" : ", ") + link.name + " " + way;
  }
  return text;
}

std::string peer_legs(const Machine& machine, int from, int to) {
  const auto route = peer_route(machine, from, to);
  return route ? legs_of(machine, route->legs) : "none";
}

std::string host_legs(const Machine& machine, int gpu, int cpu, bool to_host) {
  const auto route = host_route(machine, gpu, cpu, to_host);
  return route ? legs_of(machine, route->legs) : "none";
}

std::vector<RouteLeg> reversed(std::vector<RouteLeg> legs) {
  std::reverse(legs.begin(), legs.end());
  for (RouteLeg& leg : legs) leg.forward = !leg.forward;
  return legs;
}

TEST(Distance, IsWhatNvidiaSmiPrints) {  // facts.md F4 and style.md section 4
  EXPECT_EQ(distance(support::one_switch(2), 0, 1), Distance::pix);
  const Machine two = support::two_switches(2);
  EXPECT_EQ(distance(two, 0, 1), Distance::pix);
  EXPECT_EQ(distance(two, 1, 2), Distance::node);
  const Machine nested = support::nested_switches(2, 2);
  EXPECT_EQ(distance(nested, 2, 3), Distance::pix);
  EXPECT_EQ(distance(nested, 0, 3), Distance::pxb);
  EXPECT_EQ(distance(support::one_root(2), 0, 1), Distance::phb);
  EXPECT_EQ(distance(support::own_roots(2), 0, 1), Distance::node);
  const Machine sockets = support::two_sockets(2);
  EXPECT_EQ(distance(sockets, 0, 1), Distance::phb);
  EXPECT_EQ(distance(sockets, 1, 2), Distance::sys);
  EXPECT_EQ(distance(sockets, 3, 3), Distance::loc);
}

TEST(Distance, OfAGpuUnderASwitchAndOneOnARootPortIsPhb) {
  Machine machine;
  const NodeId root = support::add_root(machine, support::add_cpu(machine));
  support::add_gpu(machine, support::add_switch(machine, root));
  support::add_gpu(machine, root);
  EXPECT_EQ(distance(machine, 0, 1), Distance::phb);
}

TEST(Distance, CountsNvlinkAsNearestAndCanLeaveItOut) {
  const Machine pair = support::nvlink_pair();
  EXPECT_EQ(distance(pair, 0, 1), Distance::nvl);
  EXPECT_EQ(pcie_distance(pair, 0, 1), Distance::node);
  const Machine switched = support::with_nvswitch(4);
  EXPECT_EQ(distance(switched, 0, 3), Distance::nvl);
}

TEST(DistanceProperty, IsTheSameBothWays) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Machine machine = support::random_machine(seed);
    const auto gpus = static_cast<int>(machine.gpus.size());
    for (int a = 0; a < gpus; ++a) {
      EXPECT_EQ(distance(machine, a, a), Distance::loc);
      for (int b = 0; b < a; ++b)
        EXPECT_EQ(distance(machine, a, b), distance(machine, b, a)) << "seed " << seed;
    }
  }
}

TEST(PeerRoute, TurnsAtTheSwitch) {
  const Machine machine = support::one_switch(4);
  const auto route = peer_route(machine, 1, 3);
  ASSERT_TRUE(route.has_value());
  EXPECT_EQ(legs_of(machine, route->legs), "gpu1 up, gpu3 down");
  EXPECT_EQ(route->switches, std::vector<int>{0});
  EXPECT_TRUE(route->roots.empty());
  EXPECT_FALSE(route->redirected);
  EXPECT_FALSE(route->nvlink);
}

TEST(PeerRoute, TurnsAtTheLowestSwitchOfATree) {
  const Machine machine = support::nested_switches(2, 2);  // sw0 over sw1 (gpu0, gpu1) and sw2 (gpu2, gpu3)
  EXPECT_EQ(peer_legs(machine, 0, 1), "gpu0 up, gpu1 down");
  EXPECT_EQ(peer_legs(machine, 0, 2), "gpu0 up, uplink1 up, uplink2 down, gpu2 down");
  EXPECT_EQ(peer_route(machine, 0, 2)->switches, (std::vector<int>{1, 0, 2}));
  EXPECT_TRUE(peer_route(machine, 0, 2)->roots.empty());
}

TEST(PeerRoute, GoesUpToTheRootAndDownAgainBetweenRootPorts) {
  const Machine machine = support::one_root(2);
  EXPECT_EQ(peer_legs(machine, 0, 1), "gpu0 up, gpu1 down");
  EXPECT_EQ(peer_route(machine, 0, 1)->roots, std::vector<int>{0});
}

TEST(PeerRoute, PassesBothRootsOfOneCpu) {
  const Machine machine = support::two_switches(2);
  EXPECT_EQ(peer_legs(machine, 1, 2), "gpu1 up, uplink0 up, uplink1 down, gpu2 down");
  EXPECT_EQ(peer_route(machine, 1, 2)->roots, (std::vector<int>{0, 1}));
  EXPECT_EQ(peer_route(machine, 1, 2)->switches, (std::vector<int>{0, 1}));
}

TEST(PeerRoute, CrossesTheSocketLink) {
  const Machine machine = support::two_sockets();
  const auto route = peer_route(machine, 1, 0);
  ASSERT_TRUE(route.has_value());
  EXPECT_EQ(legs_of(machine, route->legs), "gpu1 up, upi0 to cpu0, gpu0 down");
  EXPECT_EQ(legs_of(machine, route->sockets), "upi0 to cpu0");
  EXPECT_EQ(route->roots, (std::vector<int>{1, 0}));
}

TEST(PeerRoute, IsMissingWithoutASocketLinkOrARoot) {
  Machine machine = support::two_sockets();
  machine.links.pop_back();
  EXPECT_EQ(peer_legs(machine, 0, 1), "none");
  Machine loose = support::nvlink_pair();
  std::erase_if(loose.links, [](const Link& link) { return link.name == "gpu1"; });
  EXPECT_EQ(peer_legs(loose, 0, 1), "none");
  EXPECT_TRUE(nvlink_route(loose, 0, 1).has_value());
}

TEST(PeerRoute, GoesViaTheRootUnderAcsAndCrossesTheUplinkBothWays) {  // facts.md C7: double uplink load
  Machine machine = support::one_switch(2);
  machine.switches[0].acs = true;
  const auto route = peer_route(machine, 0, 1);
  ASSERT_TRUE(route.has_value());
  EXPECT_EQ(legs_of(machine, route->legs), "gpu0 up, uplink0 up, uplink0 down, gpu1 down");
  EXPECT_EQ(route->switches, (std::vector<int>{0, 0}));
  EXPECT_EQ(route->roots, std::vector<int>{0});
  EXPECT_TRUE(route->redirected);
}

TEST(PeerRoute, GoesViaTheRootUnderAcsOfAllSwitchesOfATree) {
  Machine machine = support::nested_switches(2, 2);
  for (PcieSwitch& sw : machine.switches) sw.acs = true;
  EXPECT_EQ(peer_legs(machine, 0, 1),
            "gpu0 up, uplink1 up, uplink0 up, uplink0 down, uplink1 down, gpu1 down");
  EXPECT_EQ(peer_legs(machine, 0, 2),
            "gpu0 up, uplink1 up, uplink0 up, uplink0 down, uplink2 down, gpu2 down");
  EXPECT_TRUE(peer_route(machine, 0, 2)->redirected);
}

TEST(PeerRoute, GoesViaTheRootWhenTheIommuTranslates) {  // facts.md C7
  Machine machine = support::one_switch(2);
  machine.p2p.iommu = true;
  EXPECT_EQ(peer_legs(machine, 0, 1), "gpu0 up, uplink0 up, uplink0 down, gpu1 down");
  EXPECT_TRUE(peer_route(machine, 0, 1)->redirected);
}

TEST(PeerRoute, IsNotCalledRedirectedWhereNoSwitchCouldTurnIt) {
  Machine machine = support::two_switches(1);
  machine.p2p.iommu = true;
  for (PcieSwitch& sw : machine.switches) sw.acs = true;
  EXPECT_FALSE(peer_route(machine, 0, 1)->redirected);
}

TEST(PeerRouteProperty, BackIsTheReverse) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Machine machine = support::random_machine(seed);
    const auto gpus = static_cast<int>(machine.gpus.size());
    for (int a = 0; a < gpus; ++a) {
      for (int b = 0; b < gpus; ++b) {
        if (a == b) continue;
        const auto there = peer_route(machine, a, b), back = peer_route(machine, b, a);
        ASSERT_TRUE(there && back) << "seed " << seed;
        EXPECT_EQ(there->legs, reversed(back->legs)) << "seed " << seed << ", " << a << " and " << b;
        EXPECT_EQ(there->redirected, back->redirected) << "seed " << seed;
        EXPECT_EQ(there->sockets, reversed(back->sockets)) << "seed " << seed;
      }
    }
  }
}

TEST(PeerRouteProperty, LeavesTheFirstGpuUpwardsAndEntersTheSecondDownwards) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Machine machine = support::random_machine(seed);
    const auto route = peer_route(machine, 0, 1);
    ASSERT_TRUE(route.has_value()) << "seed " << seed;
    EXPECT_EQ(route->legs.front(), (RouteLeg{links_to_root(machine, {NodeKind::gpu, 0}).front(), false}));
    EXPECT_EQ(route->legs.back(), (RouteLeg{links_to_root(machine, {NodeKind::gpu, 1}).front(), true}));
  }
}

TEST(NvlinkRoute, IsTheLinkOfAPairOrTwoLinksThroughASwitch) {
  const Machine pair = support::nvlink_pair();
  EXPECT_EQ(legs_of(pair, nvlink_route(pair, 0, 1)->legs), "nv0 to gpu1");
  EXPECT_EQ(legs_of(pair, nvlink_route(pair, 1, 0)->legs), "nv0 to gpu0");
  EXPECT_TRUE(nvlink_route(pair, 1, 0)->nvlink);
  const Machine switched = support::with_nvswitch(4);
  EXPECT_EQ(legs_of(switched, nvlink_route(switched, 1, 3)->legs), "nv1 to nvsw0, nv3 to gpu3");
}

TEST(NvlinkRoute, NeverLeadsThroughAnotherGpu) {
  Machine chain = support::own_roots(3);
  support::add_nvlink(chain, {NodeKind::gpu, 0}, {NodeKind::gpu, 1});
  support::add_nvlink(chain, {NodeKind::gpu, 1}, {NodeKind::gpu, 2});
  EXPECT_TRUE(nvlink_route(chain, 1, 2).has_value());
  EXPECT_FALSE(nvlink_route(chain, 0, 2).has_value());
  EXPECT_EQ(distance(chain, 0, 2), Distance::node);
}

TEST(HostRoute, ClimbsToTheMemoryOfTheGpusSocket) {
  const Machine machine = support::nested_switches(2, 1);
  EXPECT_EQ(host_legs(machine, 1, 0, true), "gpu1 up, uplink2 up, uplink0 up");
  EXPECT_EQ(host_legs(machine, 1, 0, false), "uplink0 down, uplink2 down, gpu1 down");
  EXPECT_EQ(host_route(machine, 1, 0, true)->switches, (std::vector<int>{2, 0}));
  EXPECT_EQ(host_route(machine, 1, 0, false)->switches, (std::vector<int>{0, 2}));
  EXPECT_EQ(host_route(machine, 1, 0, true)->roots, std::vector<int>{0});
}

TEST(HostRoute, CrossesToTheMemoryOfTheOtherSocket) {
  const Machine machine = support::two_sockets();
  EXPECT_EQ(host_legs(machine, 0, 1, true), "gpu0 up, upi0 to cpu1");
  EXPECT_EQ(host_legs(machine, 0, 1, false), "upi0 to cpu0, gpu0 down");
}

TEST(HostRouteProperty, InIsTheReverseOfOut) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Machine machine = support::random_machine(seed);
    for (int gpu = 0; gpu < static_cast<int>(machine.gpus.size()); ++gpu) {
      for (int cpu = 0; cpu < static_cast<int>(machine.cpus.size()); ++cpu) {
        const auto out = host_route(machine, gpu, cpu, true), in = host_route(machine, gpu, cpu, false);
        ASSERT_TRUE(out && in) << "seed " << seed;
        EXPECT_EQ(out->legs, reversed(in->legs)) << "seed " << seed;
      }
    }
  }
}

TEST(HostRoute, IsMissingForAGpuWithoutARoot) {
  Machine loose = support::nvlink_pair();
  std::erase_if(loose.links, [](const Link& link) { return link.name == "gpu1"; });
  EXPECT_EQ(host_legs(loose, 1, 0, true), "none");
  EXPECT_FALSE(root_of(loose, {NodeKind::gpu, 1}).has_value());
  EXPECT_FALSE(cpu_of(loose, {NodeKind::gpu, 1}).has_value());
}

TEST(PresentGpus, LeaveOutTheOnesThatAreGoneAndNobodysRouteChanges) {
  Machine machine = support::two_switches(2);
  const std::string before = peer_legs(machine, 0, 3);
  machine.gpus[1].present = false;
  EXPECT_EQ(present_gpus(machine), (std::vector<int>{0, 2, 3}));
  EXPECT_EQ(peer_legs(machine, 0, 3), before);
}

TEST(RouteLatency, AddsSwitchesRootsSocketsAndCables) {  // facts.md C9
  const Profile profile;
  Machine machine = support::two_sockets();
  support::link_named(machine, "gpu0").latency = Seconds(30e-9);
  const double root = 275e-9, socket = 175e-9;
  EXPECT_NEAR(route_latency(machine, profile, *host_route(machine, 0, 0, true)).value(), root + 30e-9, 1e-15);
  EXPECT_NEAR(route_latency(machine, profile, *host_route(machine, 0, 1, true)).value(),
              root + socket + 30e-9, 1e-15);
}

TEST(RouteLatency, OfTwoRootsIsThatOfTheSlower) {  // facts.md C5: one traversal, whichever quadrants it joins
  const Profile profile;
  Machine machine = support::own_roots(2);
  EXPECT_NEAR(route_latency(machine, profile, *peer_route(machine, 0, 1)).value(), 275e-9, 1e-15);
  machine.roots[1].latency = Seconds(320e-9);
  EXPECT_NEAR(route_latency(machine, profile, *peer_route(machine, 0, 1)).value(), 320e-9, 1e-15);
}

TEST(RouteLatency, TakesTheMachinesOwnValuesBeforeTheProfiles) {
  const Profile profile;
  Machine machine = support::one_switch(2);
  machine.switches[0].latency = Seconds(105e-9);
  machine.switches[0].acs = true;
  machine.roots[0].latency = Seconds(200e-9);
  EXPECT_NEAR(route_latency(machine, profile, *peer_route(machine, 0, 1)).value(), 2 * 105e-9 + 200e-9,
              1e-15);
}

TEST(PeerLatency, OfOneSwitchIsTheMeasuredFlight) {  // facts.md C5: 633 to 727 ns, RTX PRO 6000
  const double latency = peer_latency(support::one_switch(2), Profile(), 0, 1).value();
  EXPECT_GE(latency, 633e-9);
  EXPECT_LE(latency, 727e-9);
}

TEST(PeerLatency,
     FromSwitchToRootToSwitchIsTheMeasuredFlight) {  // facts.md C5: 1039 to 1116 ns, RTX PRO 6000
  const double latency = peer_latency(support::two_switches(1), Profile(), 0, 1).value();
  EXPECT_GE(latency, 1039e-9);
  EXPECT_LE(latency, 1116e-9);
}

TEST(PeerLatency, OverNvlinkIsHalfTheMeasuredRoundTrip) {  // facts.md C5: 1.24 us, 2 x H200
  EXPECT_NEAR(peer_latency(support::nvlink_pair(), Profile(), 0, 1).value(), 0.5 * 1.24e-6, 1e-12);
}

}  // namespace
}  // namespace lanecast
