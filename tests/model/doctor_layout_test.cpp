// Rules about the tree: uplinks, switch parts, sockets, virtual machines.
#include <gtest/gtest.h>

#include "model/topology/peer_access.hpp"
#include "model/topology/routes.hpp"
#include "tests/model/doctor_examples.hpp"

namespace lanecast::support {
namespace {

Machine two_healthy_switches(int gpus_each) {
  Machine machine = complete(two_switches(gpus_each));
  machine.p2p.level = Distance::sys;
  return machine;
}

TEST(DoctorOfUplinks, WarnsOfCardsThatShareThemForTrafficToOthers) {
  const Machine machine = two_healthy_switches(2);
  EXPECT_EQ(troubles(machine), Codes{"LC-UPLINK-01"});
  const Finding finding = examined_for("LC-UPLINK-01", machine).at(0);
  EXPECT_EQ(finding.where, "links uplink0 (2 cards), uplink1 (2 cards)");
  EXPECT_EQ(finding.status, FindingStatus::warn);
  EXPECT_EQ(examined_for("LC-UPLINK-01", *finding.mended).at(0).status, FindingStatus::pass);
}

/// Which pairs may use peer access: "01 23 ".
std::string peers(const Machine& machine) {
  std::string text;
  for (int a = 0; a < 4; ++a) {
    for (int b = a + 1; b < 4; ++b) {
      if (peer_access(machine, a, b, Distance::pxb).allowed)
        text += std::to_string(a) + std::to_string(b) + " ";
    }
  }
  return text;
}

TEST(DoctorOfUplinks, MendsByPortsOfTheirOwnAndKeepsPeerAccessAsItIs) {
  Machine one_root;
  const NodeId root = add_root(one_root, add_cpu(one_root));
  for (int i = 0; i < 2; ++i) {
    const NodeId sw = add_switch(one_root, root);
    for (int gpu = 0; gpu < 2; ++gpu) add_gpu(one_root, sw);
  }
  for (Machine machine : {two_healthy_switches(2), complete(one_root)}) {
    for (const std::optional<Distance>& level : {std::optional<Distance>(), std::optional(Distance::sys)}) {
      machine.p2p.level = level;
      const Machine mended = *examined_for("LC-UPLINK-01", machine).at(0).mended;
      EXPECT_TRUE(check_machine(mended).empty());
      EXPECT_EQ(pcie_distance(mended, 0, 1), Distance::phb);
      EXPECT_EQ(peers(mended), peers(machine)) << machine.name;
    }
  }
}

TEST(DoctorOfUplinks, MendsNoSlowUplinkAlong) {
  Machine machine = two_healthy_switches(2);
  link_named(machine, "uplink0").rate = PcieRate::gen2;
  Machine mended = *examined_for("LC-UPLINK-01", machine).at(0).mended;
  EXPECT_EQ(link_named(mended, "gpu0").rate, PcieRate::gen2)
      << "the port is as the uplink: only the sharing ends";
}

TEST(DoctorOfUplinks, PassesWhereAllTrafficStaysBelowTheSwitchOrGoesOverNvlink) {
  EXPECT_EQ(examined_for("LC-UPLINK-01", healthy()).at(0).status, FindingStatus::pass);
  Machine machine = two_healthy_switches(2);
  add_nvswitch(machine);
  for (int i = 0; i < 4; ++i) add_nvlink(machine, {NodeKind::gpu, i}, {NodeKind::nvswitch, 0});
  EXPECT_EQ(examined_for("LC-UPLINK-01", machine).at(0).status, FindingStatus::pass);
}

TEST(DoctorOfUplinks, PassesWhereTheUplinkIsAsWideAsAllCards) {
  Machine machine = two_healthy_switches(2);
  for (Link& link : machine.links) {
    if (link.to.kind != NodeKind::gpu) continue;
    link.width = link.max_width = 8;
    link.device_max_width = 8;
  }
  EXPECT_EQ(troubles(machine), Codes{});
}

TEST(DoctorOfUplinks, SkipsATreeThatWasGuessed) {
  Machine machine = two_healthy_switches(2);
  machine.assumed = {"links.gpu1.from", "links.uplink1.max_rate"};
  const std::vector<Finding> findings = examined_for("LC-UPLINK-01", machine);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].status, FindingStatus::skip);
  EXPECT_EQ(findings[0].where, "links uplink0, uplink1");
}

/// Three switches on roots of their own, two cards below each, uplinks as wide as both together.
Machine three_switches(const std::string& model) {
  Machine machine;
  const NodeId cpu = add_cpu(machine);
  for (int i = 0; i < 3; ++i) {
    const NodeId sw = add_switch(machine, add_root(machine, cpu), {PcieRate::gen4, 16});
    for (int gpu = 0; gpu < 2; ++gpu) add_gpu(machine, sw, {PcieRate::gen4, 8});
  }
  for (PcieSwitch& sw : machine.switches) sw.model = model;
  machine = complete(machine);
  machine.p2p.level = Distance::sys;
  return machine;
}

TEST(DoctorOfSwitchParts, WarnsOfThoseWhoseWritesCollapseWhereThatCanHappen) {
  const Machine machine = three_switches("Broadcom PEX890xx");
  EXPECT_EQ(troubles(machine), Codes{"LC-SWITCH-01"});
  EXPECT_EQ(examined_for("LC-SWITCH-01", machine).size(), 3u);
  EXPECT_FALSE(examined_for("LC-SWITCH-01", machine).at(0).mended);
  EXPECT_EQ(troubles(three_switches("PLX PEX8764")), Codes{});
  EXPECT_EQ(examined_for("LC-SWITCH-01", three_switches("")).at(0).status, FindingStatus::skip);
  Machine two = two_healthy_switches(2);
  for (PcieSwitch& sw : two.switches) sw.model = "Broadcom PEX890xx";
  EXPECT_EQ(examined_for("LC-SWITCH-01", two).at(0).status, FindingStatus::pass)
      << "one other root port only";
}

Machine two_healthy_sockets(int gpus_each) {
  Machine machine = complete(two_sockets(gpus_each));
  machine.p2p.level = Distance::sys;
  return machine;
}

/// Takes a network adapter out of a machine; it must be the last one.
void remove_last_nic(Machine& machine) {
  const NodeId nic{NodeKind::nic, static_cast<int>(machine.nics.size()) - 1};
  machine.links.erase(std::find_if(machine.links.begin(), machine.links.end(),
                                   [&](const Link& link) { return link.to == nic; }));
  machine.nics.pop_back();
}

TEST(DoctorOfAdapters, WarnsOfCardsWhoseSocketHasNone) {
  Machine machine = two_healthy_sockets(2);
  EXPECT_EQ(troubles(machine), Codes{});
  remove_last_nic(machine);
  EXPECT_EQ(troubles(machine), Codes{"LC-NUMA-01"});
  const Finding finding = examined_for("LC-NUMA-01", machine).at(0);
  EXPECT_EQ(finding.where, "gpus gpu2, gpu3");
  EXPECT_FALSE(finding.mended);
  machine.cpus[1].socket = 0;
  EXPECT_EQ(troubles(machine), Codes{}) << "another NUMA node of the same socket";
  machine.cpus[1].socket = 1;
  machine.assumed = {"roots.root1.cpu"};
  EXPECT_EQ(examined_for("LC-NUMA-01", machine).at(0).where, "gpus gpu2, gpu3");
  EXPECT_EQ(examined_for("LC-NUMA-01", machine).at(0).status, FindingStatus::skip);
}

TEST(DoctorOfAdapters, CountsNoManagementPort) {
  Machine machine = two_healthy_sockets(1);
  machine.nics[1].rate = BytesPerSecond(125e6);
  EXPECT_EQ(troubles(machine), Codes{"LC-NUMA-01"});
}

TEST(DoctorOfAdapters, SkipsWhereNoneIsKnown) {
  Machine machine = two_healthy_sockets(1);
  remove_last_nic(machine);
  remove_last_nic(machine);
  EXPECT_EQ(examined_for("LC-NUMA-01", machine).at(0).status, FindingStatus::skip);
}

TEST(DoctorOfVirtualMachines, WarnsWhereTheTreeIsHidden) {
  Machine machine = healthy_roots(2);
  machine.virtualized = true;
  EXPECT_EQ(troubles(machine), Codes{"LC-VM-01"});
  Machine shown = healthy();
  shown.virtualized = true;
  EXPECT_EQ(troubles(shown), Codes{}) << "it shows a switch";
  machine.virtualized.reset();
  const Finding unknown = examined_for("LC-VM-01", machine).at(0);
  EXPECT_EQ(unknown.status, FindingStatus::skip);
  EXPECT_NE(unknown.mend.find("systemd-detect-virt"), std::string::npos);
}

}  // namespace
}  // namespace lanecast::support
