#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "model/implementation/nccl/graph_search.hpp"
#include "model/topology/peer_access.hpp"
#include "model/topology/routes.hpp"
#include "tests/support/machine_builders.hpp"

namespace lanecast {
namespace {

using support::PcieSpec;
using Orders = std::vector<std::vector<int>>;

const std::vector<long> kBeforeHopper{40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3};
const std::vector<long> kHopper{60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3};
const std::vector<long> kBlackwell{90, 80, 70, 60, 50, 45, 40, 30, 24, 20, 19, 18};

/// NVLink and socket rates of facts.md A8; a GPU's own link as it could run.
LinkAssumptions rates_of_a8() {
  LinkAssumptions rates;
  rates.nvlink_GBps = [](int sm) { return sm >= 100 ? 40.1 : sm >= 90 ? 20.6 : 20.0; };
  rates.cpu_link_GBps = [](const Cpu& a) { return a.vendor == "amd" ? 16.0 : 10.0; };
  return rates;
}

SearchRules rules_for(const NcclSystem& system, const Machine& machine) {
  SearchRules rules;
  rules.speeds = system.min_sm() >= 100 ? kBlackwell : system.min_sm() >= 90 ? kHopper : kBeforeHopper;
  for (long& speed : rules.speeds) speed *= 1000;
  rules.amd = machine.cpus.front().vendor == "amd";
  return rules;
}

NcclSystem system_of(const Machine& machine, Distance level) {
  return NcclSystem(machine, present_gpus(machine), rates_of_a8(),
                    [&](int from, int to) { return peer_access_within(machine, from, to, level).allowed; });
}

NcclGraph ring_of(const Machine& machine, Distance level = Distance::pxb) {
  const NcclSystem system = system_of(machine, level);
  return search_graph(system, rules_for(system, machine), GraphPattern::ring, 1, 32);
}

void set_sm(Machine& machine, int sm) {
  for (Gpu& gpu : machine.gpus) gpu.sm = sm;
}

void set_vendor(Machine& machine, const std::string& vendor) {
  for (Cpu& cpu : machine.cpus) cpu.vendor = vendor;
}

TEST(PcieRate, IsWidthTimesClassOverEighty) {  // facts.md A8
  Link link;
  const auto rate = [&](PcieRate generation, int width) {
    link.rate = link.max_rate = generation;
    link.width = link.max_width = width;
    return nccl_pcie_GBps(link, /*current=*/false);
  };
  EXPECT_DOUBLE_EQ(rate(PcieRate::gen3, 16), 12);
  EXPECT_DOUBLE_EQ(rate(PcieRate::gen4, 16), 24);
  EXPECT_DOUBLE_EQ(rate(PcieRate::gen5, 16), 48);
  EXPECT_DOUBLE_EQ(rate(PcieRate::gen6, 16), 96);
  EXPECT_DOUBLE_EQ(rate(PcieRate::gen4, 8), 12);
  EXPECT_DOUBLE_EQ(rate(PcieRate::gen4, 4), 6);
  EXPECT_DOUBLE_EQ(rate(PcieRate::gen1, 16), 3);
  EXPECT_DOUBLE_EQ(rate(PcieRate::gen2, 1), 30.0 / 80);
}

TEST(RingSearch, GivesTwoH200OverNvlinkTwelveChannelsOf30) {  // its log: 24 after connecting (facts.md A5)
  Machine machine = support::nvlink_pair({PcieRate::gen5, 16});
  set_sm(machine, 90);
  set_vendor(machine, "intel");
  support::link_named(machine, "nv0").count = 18;
  const NcclGraph ring = ring_of(machine);
  EXPECT_EQ(ring.channels, 12);
  EXPECT_DOUBLE_EQ(ring.speed_intra, 30);
  EXPECT_EQ(ring.type_intra, PathType::nvl);
}

TEST(RingSearch, GivesTwoH200OverHostMemoryTwoChannelsOf20) {  // facts.md A8, worked example
  Machine machine = support::one_root(2, {PcieRate::gen5, 16});
  set_sm(machine, 90);
  set_vendor(machine, "intel");
  machine.p2p.enabled = false;
  const NcclGraph ring = ring_of(machine);
  EXPECT_EQ(ring.channels, 2);
  EXPECT_DOUBLE_EQ(ring.speed_intra, 20);
  EXPECT_EQ(ring.type_intra, PathType::phb);
}

TEST(RingSearch, FallsBackForBlackwellAcrossAmdSockets) {  // facts.md A10: 16 GB/s is below the last speed
  Machine machine = support::two_sockets(4, {PcieRate::gen5, 16});
  set_sm(machine, 120);
  const NcclGraph ring = ring_of(machine);
  EXPECT_TRUE(ring.fallback);
  EXPECT_EQ(ring.channels, 1);
  EXPECT_DOUBLE_EQ(ring.speed_intra, 0.1);
  EXPECT_EQ(ring.type_intra, PathType::sys);
  EXPECT_EQ(ring.orders, (Orders{{0, 1, 2, 3, 4, 5, 6, 7}}));
  set_sm(machine, 89);
  EXPECT_FALSE(ring_of(machine).fallback) << "15 GB/s is tried before Hopper";
}

TEST(RingSearch,
     TakesTheWholeLinkOfOneSwitch) {  // 12, 24 and 48 GB/s (facts.md A8); channels from 25 on are split
  struct Expected {
    PcieRate rate;
    int sm;
    int channels;
    double speed;
  };
  for (const Expected& e :
       {Expected{PcieRate::gen3, 70, 1, 12}, {PcieRate::gen4, 80, 2, 12}, {PcieRate::gen5, 120, 2, 24}}) {
    Machine machine = support::one_switch(2, {e.rate, 16});
    set_sm(machine, e.sm);
    const NcclGraph ring = ring_of(machine);
    EXPECT_EQ(ring.type_intra, PathType::pix);
    EXPECT_EQ(ring.channels, e.channels) << e.sm;
    EXPECT_DOUBLE_EQ(ring.speed_intra, e.speed) << e.sm;
  }
}

TEST(RingSearch,
     CountsIntelHostBridgesSixFifths) {  // 24 / 1.2 = 20: one channel of 20 where AMD takes 24 in two
  Machine machine = support::one_root(2);
  machine.p2p.enabled = false;
  const double amd = ring_of(machine).bus_GBps();
  set_vendor(machine, "intel");
  const double intel = ring_of(machine).bus_GBps();
  EXPECT_DOUBLE_EQ(amd, 24);
  EXPECT_DOUBLE_EQ(intel, 20);
}

TEST(RingSearch,
     SeesCapabilityNotStatusUnlessTold) {  // facts.md A8: up to 2.30.4 an x8-trained card is invisible
  Machine machine = support::one_switch(2);
  support::link_named(machine, "gpu1").width = 4;
  EXPECT_DOUBLE_EQ(ring_of(machine).bus_GBps(), 24);
  LinkAssumptions current = rates_of_a8();
  current.current_gpu_links = true;
  const NcclSystem system(machine, {0, 1}, current, [](int, int) { return true; });
  EXPECT_DOUBLE_EQ(search_graph(system, rules_for(system, machine), GraphPattern::ring, 1, 32).bus_GBps(), 6);
}

TEST(RingSearch, KeepsSwitchNeighboursTogether) {
  // GPUs alternate between two switches in index order; the tree order crosses only twice
  Machine machine;
  const NodeId cpu = support::add_cpu(machine);
  const NodeId left = support::add_switch(machine, support::add_root(machine, cpu));
  const NodeId right = support::add_switch(machine, support::add_root(machine, cpu));
  for (int i = 0; i < 4; ++i) support::add_gpu(machine, i % 2 == 0 ? left : right);
  EXPECT_EQ(ring_of(machine).orders.front(), (std::vector<int>{0, 2, 1, 3}));
}

TEST(RingSearch, FindsRingsOfNvlinkCubes) {
  // six channels of 20 GB/s use every NVLink once each way; NCCL's logs of a DGX-1 say 12 channels
  const Machine machine = support::cube_mesh();
  const NcclGraph ring = ring_of(machine);
  EXPECT_EQ(ring.channels, 6);
  EXPECT_DOUBLE_EQ(ring.speed_intra, 20);
  EXPECT_EQ(ring.type_intra, PathType::nvl);
}

TEST(NvlsGraph, HasOneChannelAGpuAndNeedsThreeHopperGpusAndASwitch) {
  Machine machine = support::with_nvswitch(8, {PcieRate::gen5, 16});
  set_sm(machine, 90);
  for (Link& link : machine.links) {
    if (link.kind == LinkKind::nvlink) link.count = 18;
  }
  const NcclSystem system = system_of(machine, Distance::pxb);
  const NcclGraph nvls = nvls_graph(system, rules_for(system, machine));
  EXPECT_EQ(nvls.channels, 8);
  EXPECT_DOUBLE_EQ(nvls.speed_intra, 40);  // 9 x 40 <= 18 x 20.6: each head counts its own link twice
  Machine pair = support::nvlink_pair();
  set_sm(pair, 90);
  const NcclSystem two = system_of(pair, Distance::pxb);
  EXPECT_EQ(nvls_graph(two, rules_for(two, pair)).channels, 0);
}

/// GB/s, in thousandths, that a graph's channels put on each directed link.
std::map<int, long> charges(const NcclSystem& system, const NcclGraph& graph) {
  std::map<int, std::size_t> place;
  for (std::size_t i = 0; i < system.gpus().size(); ++i) place[system.gpus()[i]] = i;
  const long speed = std::lround(graph.speed_intra * 1000);
  std::map<int, long> total;
  for (const std::vector<int>& order : graph.orders) {
    for (std::size_t i = 0; i < order.size(); ++i) {
      const NcclPath& path = system.path(place.at(order[i]), place.at(order[(i + 1) % order.size()]));
      const bool overhead = path.type == PathType::phb && path.through_intel;
      for (const int link : path.links) {
        const bool pcie = system.links()[static_cast<std::size_t>(link)].pcie;
        total[link] += overhead && pcie ? speed * 6 / 5 : speed;
      }
    }
  }
  return total;
}

TEST(RingSearchProperty, EveryRingVisitsAllAndNoLinkIsOverbooked) {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    const Machine machine = support::random_machine(seed);
    const std::vector<int> gpus = present_gpus(machine);
    const NcclSystem system = system_of(machine, Distance::pxb);
    const NcclGraph ring = ring_of(machine);
    ASSERT_EQ(ring.orders.size(), static_cast<std::size_t>(ring.channels)) << "seed " << seed;
    for (std::vector<int> order : ring.orders) {
      std::sort(order.begin(), order.end());
      EXPECT_EQ(order, gpus) << "seed " << seed;
    }
    if (ring.fallback) continue;
    for (const auto& [link, used] : charges(system, ring)) {
      EXPECT_LE(used, system.links()[static_cast<std::size_t>(link)].milli_GBps) << "seed " << seed;
    }
  }
}

TEST(RingSearchProperty, PathsEndWhereTheyShouldAndRefusedOnesPassAHostBridge) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Machine machine = support::random_machine(seed);
    const NcclSystem system = system_of(machine, Distance::pxb);
    for (std::size_t a = 0; a < system.gpus().size(); ++a) {
      for (std::size_t b = 0; b < system.gpus().size(); ++b) {
        if (a == b) continue;
        const NcclPath& path = system.path(a, b);
        ASSERT_FALSE(path.links.empty());
        EXPECT_EQ(system.links()[static_cast<std::size_t>(path.links.back())].to, static_cast<int>(b));
        EXPECT_EQ(system.links()[static_cast<std::size_t>(path.links.front() ^ 1)].to, static_cast<int>(a));
        if (!path.peer) {
          EXPECT_GE(path.type, PathType::phb);
        }
      }
    }
  }
}

TEST(RingSearchProperty, IsTheSameForMachinesThatDifferInStatusOnly) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Machine machine = support::random_machine(seed);
    Machine whole = machine;
    for (Link& link : whole.links) {
      link.rate = link.max_rate;
      link.width = link.max_width;
    }
    EXPECT_EQ(ring_of(machine).orders, ring_of(whole).orders) << "seed " << seed;
  }
}

}  // namespace
}  // namespace lanecast
