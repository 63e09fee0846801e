#include "configs/dumps/pci_tree.hpp"

#include <gtest/gtest.h>

#include "model/topology/routes.hpp"
#include "tests/support/facts_builder.hpp"

namespace lanecast {
namespace {

using support::FactsBuilder;

PciTree tree_of(const FactsBuilder& built, const std::vector<std::string>& devices) {
  OriginBook book;
  return pci_tree(built.facts, devices, book);
}

/// A root port, a switch with two downstream ports, a GPU below each.
FactsBuilder one_switch() {
  FactsBuilder built;
  built.root_port("0000:00:01.0");
  built.upstream_port("0000:01:00.0", "0000:00:01.0");
  built.downstream_port("0000:02:00.0", "0000:01:00.0");
  built.downstream_port("0000:02:04.0", "0000:01:00.0");
  built.gpu("0000:03:00.0", "0000:02:00.0");
  built.gpu("0000:04:00.0", "0000:02:04.0");
  return built;
}

TEST(PciTree, PortsAreEndsOfLinksAndAnUpstreamPortIsTheSwitch) {
  const PciTree tree = tree_of(one_switch(), {"0000:03:00.0", "0000:04:00.0"});
  ASSERT_EQ(tree.switches.size(), 1U);
  EXPECT_EQ(tree.switches[0].bdf, "0000:01:00.0");
  EXPECT_EQ(tree.switches[0].port, "0000:00:01.0");
  EXPECT_EQ(tree.switches[0].above, -1);
  EXPECT_EQ(tree.switches[0].top.root_bus, "0000:00");
  EXPECT_EQ(tree.switches[0].ports, (std::vector<std::string>{"0000:02:00.0", "0000:02:04.0"}));
  EXPECT_EQ(tree.leaves[0].above, 0);
  EXPECT_EQ(tree.leaves[0].port, "0000:02:00.0");
  EXPECT_EQ(tree.leaves[1].port, "0000:02:04.0");
}

TEST(PciTree, StructureTellsPortsFromSwitchesWhereNoCapabilityDoes) {
  FactsBuilder stated = one_switch(), silent;
  for (const auto& [address, device] : stated.facts.devices) {
    PciFacts& copy = silent.device(address);
    copy = device;
    copy.port = {};
  }
  const PciTree tree = tree_of(silent, {"0000:03:00.0", "0000:04:00.0"});
  ASSERT_EQ(tree.switches.size(), 1U);
  EXPECT_EQ(tree.switches[0].bdf, "0000:01:00.0");
  EXPECT_EQ(tree.leaves[1].port, "0000:02:04.0");
}

TEST(PciTree, BusNumbersTellTheBridgeAboveWhereNoDumpNamesIt) {
  // An excerpt of `lspci -vvv`: no tree, no root ports.
  FactsBuilder built;
  built.device("0000:01:00.0").secondary_bus.add(2, "dump:1");
  built.device("0000:02:00.0").secondary_bus.add(3, "dump:2");
  built.device("0000:02:04.0").secondary_bus.add(4, "dump:3");
  built.bare_gpu("0000:03:00.0");
  built.bare_gpu("0000:04:00.0");
  const PciTree tree = tree_of(built, {"0000:03:00.0", "0000:04:00.0"});
  ASSERT_EQ(tree.switches.size(), 1U);
  EXPECT_EQ(tree.switches[0].bdf, "0000:01:00.0");
  EXPECT_EQ(tree.switches[0].top.root_bus, "") << "what is above bus 01 is not in the excerpt";
  EXPECT_EQ(tree.leaves[0].from, "dump:2");
}

TEST(PciTree, DownstreamPortsOfOneBusBelongToOneSwitchThatAnExcerptLacks) {
  FactsBuilder built;
  for (const char* port : {"0000:02:00.0", "0000:02:04.0"}) {
    built.device(port).port.add(PciePort::downstream_port, "dump:1");
  }
  built.device("0000:02:00.0").secondary_bus.add(3, "dump:2");
  built.device("0000:02:04.0").secondary_bus.add(4, "dump:3");
  built.bare_gpu("0000:03:00.0");
  built.bare_gpu("0000:04:00.0");
  const Machine machine = built.machine().machine;
  ASSERT_EQ(machine.switches.size(), 1U);
  EXPECT_EQ(machine.switches[0].bdf, "");
  EXPECT_EQ(pcie_distance(machine, 0, 1), Distance::pix);
}

TEST(PciTree, ABridgeAloneAboveADeviceIsItsPort) {
  FactsBuilder built;
  built.bridge("0000:20:01.1", "");
  built.gpu("0000:21:00.0", "0000:20:01.1");
  const PciTree tree = tree_of(built, {"0000:21:00.0"});
  EXPECT_TRUE(tree.switches.empty());
  EXPECT_EQ(tree.leaves[0].port, "0000:20:01.1");
  EXPECT_EQ(tree.leaves[0].top.root_bus, "0000:20");
}

TEST(PciTree, TheBridgesInsideAnAmdCardStayASwitch) {
  FactsBuilder built;
  built.root_port("0000:20:01.1");
  built.upstream_port("0000:21:00.0", "0000:20:01.1");
  built.downstream_port("0000:22:00.0", "0000:21:00.0");
  built.gpu("0000:23:00.0", "0000:22:00.0", "AMD Instinct MI210");
  const PciTree tree = tree_of(built, {"0000:23:00.0"});
  ASSERT_EQ(tree.switches.size(), 1U);
  EXPECT_EQ(tree.switches[0].bdf, "0000:21:00.0");
}

TEST(PciTree, AncestorsOfNcclsFilesAreSwitchesEvenWithOneDeviceBelow) {
  FactsBuilder built;
  built.bare_gpu("0000:84:00.0").ancestor.add("0000:82:00.0", "topo.xml:6 (enclosing pci)");
  built.device("0000:82:00.0").ancestor.add("0000:80:00.0", "topo.xml:5 (enclosing pci)");
  const PciTree tree = tree_of(built, {"0000:84:00.0"});
  ASSERT_EQ(tree.switches.size(), 2U);
  EXPECT_EQ(tree.switches[0].bdf, "0000:80:00.0");
  EXPECT_EQ(tree.switches[1].above, 0);
  EXPECT_EQ(tree.leaves[0].above, 1);
}

TEST(PciTree, ADumpThatNamesTheBridgeGoesBeforeOneThatSkipsIt) {
  FactsBuilder built = one_switch();
  built.device("0000:03:00.0").ancestor.add("0000:01:00.0", "topo.xml:6 (enclosing pci)");
  const PciTree tree = tree_of(built, {"0000:03:00.0"});
  EXPECT_EQ(tree.switches.size(), 1U);
  EXPECT_EQ(tree.leaves[0].port, "0000:02:00.0");
}

TEST(PciTree, CirclesEndAPieceWithANote) {
  FactsBuilder built;
  built.bridge("0000:01:00.0", "0000:02:00.0");
  built.bridge("0000:02:00.0", "0000:01:00.0");
  built.gpu("0000:03:00.0", "0000:02:00.0");
  built.gpu("0000:04:00.0", "0000:04:00.0");
  built.gpu("0000:05:00.0", "0000:03:00.0");
  const ImportedMachine imported = built.machine();
  EXPECT_EQ(imported.machine.gpus.size(), 3U);
  int notes = 0;
  for (const std::string& note : imported.notes) notes += note.find("cannot be") != std::string::npos ? 1 : 0;
  EXPECT_EQ(notes, 3) << "two bridges above each other, a GPU above itself, a GPU below a GPU";
}

TEST(PciTree, TwoBridgesToOneBusAreAContradiction) {
  FactsBuilder built;
  built.device("0000:00:01.0").secondary_bus.add(3, "a.txt:1");
  built.device("0000:00:02.0").secondary_bus.add(3, "b.txt:1");
  built.bare_gpu("0000:03:00.0");
  const ImportedMachine imported = built.machine();
  ASSERT_EQ(imported.contradictions.size(), 1U);
  EXPECT_EQ(imported.contradictions[0].what, "bridge to bus 0000:03");
  EXPECT_EQ(imported.contradictions[0].taken, "0000:00:01.0");
}

TEST(PciTree, DevicesOfOneBusShareTheirRootAndOthersHaveOneEach) {
  FactsBuilder built;
  built.gpu("0000:00:06.0", "");
  built.gpu("0000:00:07.0", "");
  built.bare_gpu("0000:81:00.0");
  built.bare_gpu("0000:c1:00.0");
  const Machine machine = built.machine().machine;
  EXPECT_EQ(pcie_distance(machine, 0, 1), Distance::phb);
  EXPECT_EQ(pcie_distance(machine, 2, 3), Distance::node) << "no dump places them: roots of their own";
  EXPECT_EQ(machine.roots[0].bus, "0000:00");
  EXPECT_EQ(machine.roots[1].bus, "");
}

TEST(PciTree, OnlyBranchesWithGpusAndAdaptersAreKept) {
  FactsBuilder built = one_switch();
  built.root_port("0000:00:02.0");
  built.upstream_port("0000:11:00.0", "0000:00:02.0");
  built.downstream_port("0000:12:00.0", "0000:11:00.0");
  PciFacts& disk = built.device("0000:13:00.0");
  disk.class_code.add(0x010802, "dump:1");
  disk.parent.add("0000:12:00.0", "dump:1");
  EXPECT_EQ(built.machine().machine.switches.size(), 1U);
}

}  // namespace
}  // namespace lanecast
