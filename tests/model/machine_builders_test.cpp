#include "tests/support/machine_builders.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "model/topology/routes.hpp"

namespace lanecast {
namespace {

std::string problems_of(const Machine& machine) {
  std::string all;
  for (const MachineProblem& problem : check_machine(machine))
    all += problem.path + ": " + problem.text + "\n";
  return all;
}

TEST(MachineBuilders, EveryBuiltMachineIsSound) {
  for (const Machine& machine :
       {support::one_switch(4), support::two_switches(3), support::nested_switches(2, 2),
        support::one_root(2), support::own_roots(4), support::two_sockets(2), support::nvlink_pair(),
        support::with_nvswitch(8)}) {
    EXPECT_EQ(problems_of(machine), "") << machine.name;
  }
}

TEST(RandomMachineProperty, IsSoundAndHasTwoToSixteenGpusWithTwoPresent) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const Machine machine = support::random_machine(seed);
    EXPECT_EQ(problems_of(machine), "") << "seed " << seed;
    EXPECT_GE(machine.gpus.size(), 2u) << "seed " << seed;
    EXPECT_LE(machine.gpus.size(), 16u) << "seed " << seed;
    EXPECT_GE(present_gpus(machine).size(), 2u) << "seed " << seed;
  }
}

TEST(RandomMachineProperty, IsTheSameForTheSameSeed) {
  const Machine a = support::random_machine(7), b = support::random_machine(7);
  ASSERT_EQ(a.links.size(), b.links.size());
  for (std::size_t i = 0; i < a.links.size(); ++i) {
    EXPECT_EQ(a.links[i].name, b.links[i].name);
    EXPECT_EQ(a.links[i].rate, b.links[i].rate);
    EXPECT_EQ(a.links[i].width, b.links[i].width);
  }
}

TEST(RandomMachineProperty, ShowsEveryKindOfMachineWithinTwoHundredSeeds) {
  std::set<Distance> distances;
  bool degraded = false, sleepy = false, failing = false, acs = false, absent = false, limited = false;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Machine machine = support::random_machine(seed);
    for (const Link& link : machine.links) {
      degraded = degraded || link.width < link.max_width || link.rate < link.max_rate;
      sleepy = sleepy || link.aspm != Aspm::off;
      failing = failing || link.replay_rate > 0;
    }
    for (const PcieSwitch& sw : machine.switches) acs = acs || sw.acs;
    for (const RootComplex& root : machine.roots) limited = limited || root.p2p_rate || root.p2p_port_rate;
    for (std::size_t i = 0; i < machine.gpus.size(); ++i) {
      absent = absent || !machine.gpus[i].present;
      if (i > 0) distances.insert(distance(machine, 0, static_cast<int>(i)));
    }
  }
  EXPECT_TRUE(degraded && sleepy && failing && acs && absent && limited);
  EXPECT_EQ(distances, (std::set<Distance>{Distance::nvl, Distance::pix, Distance::pxb, Distance::phb,
                                           Distance::node, Distance::sys}));
}

}  // namespace
}  // namespace lanecast
