#include "reports/topology_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "reports/safe_text.hpp"
#include "tests/configs/random_machine.hpp"
#include "tests/reports/lines.hpp"
#include "tests/support/machine_builders.hpp"

namespace lanecast {
namespace {

using support::link_named;

/// The line of the tree that begins with this name, without what stands before it.
std::string line_of(const Machine& machine, const std::string& name) {
  for (const std::string& line : lines_of(topology_tree_text(machine))) {
    const std::size_t start = line.find_first_not_of("|+\\- ");
    if (start == std::string::npos) continue;
    const std::string text = line.substr(start);
    const std::size_t end = text.find_first_of(",: [");
    if (text.substr(0, end) == name) return text;
  }
  return "no line of " + name;
}

TEST(TopologyTree, NestsCpusRootsSwitchesAndGpus) {
  Machine machine = support::two_switches(2);
  machine.name = "box";
  for (Gpu& gpu : machine.gpus) gpu.model = "Card";
  machine.cpus[0].model = "AMD EPYC";
  machine.cpus[0].memory_rate = BytesPerSecond(200e9);
  EXPECT_EQ(topology_tree_text(machine),
            "Machine box: 1 NUMA node, 2 root complexes, 2 switches, 4 GPUs\n"
            "|  peer access on, IOMMU translation off\n"
            "\\- cpu0: socket 0, AMD EPYC, memory 200 GB/s\n"
            "   +- root0\n"
            "   |  \\- sw0, ACS redirect off [Gen4 x16, payload 256 B] link uplink0\n"
            "   |     +- gpu0, Card [Gen4 x16, payload 256 B]\n"
            "   |     \\- gpu1, Card [Gen4 x16, payload 256 B]\n"
            "   \\- root1\n"
            "      \\- sw1, ACS redirect off [Gen4 x16, payload 256 B] link uplink1\n"
            "         +- gpu2, Card [Gen4 x16, payload 256 B]\n"
            "         \\- gpu3, Card [Gen4 x16, payload 256 B]\n");
}

TEST(TopologyTree, SaysWhereTheMachineWasRead) {
  Machine machine = support::one_root(1);
  machine.host = "node7";
  machine.taken = "2026-11-30T06:25:03Z";
  machine.driver = "580.95";
  machine.virtualized = true;
  machine.p2p.iommu = true;
  machine.p2p.level = Distance::pxb;
  machine.roots[0].bus = "0000:20";
  machine.cpus[0].numa = 3;
  machine.cpus[0].cores = "0-63";
  const std::vector<std::string> lines = lines_of(topology_tree_text(machine));
  EXPECT_EQ(lines[1],
            "|  host node7, read 2026-11-30T06:25:03Z, driver 580.95, a virtual machine, which may "
            "hide bridges and link states");
  EXPECT_EQ(lines[2], "|  peer access on, up to PXB, IOMMU translation on");
  EXPECT_NE(lines[3].find("NUMA 3"), std::string::npos) << lines[3];
  EXPECT_NE(lines[3].find("cores 0-63"), std::string::npos) << lines[3];
  EXPECT_EQ(lines[4], "   \\- root0: bus 0000:20");
}

TEST(TopologyTree, ALinkShowsWhatItCouldDoWhereThatDiffers) {
  Machine machine = support::one_root(1);
  Link& link = link_named(machine, "gpu0");
  link.width = 8;
  EXPECT_EQ(pcie_link_text(machine, link), "Gen4 x8 (can x16), payload 256 B");
  link.rate = PcieRate::gen2;
  EXPECT_EQ(pcie_link_text(machine, link), "Gen2 x8 (can Gen4 x16), payload 256 B");
  EXPECT_TRUE(is_degraded(link));
  link.width = 16;
  link.device_max_rate = PcieRate::gen5;
  link.device_max_width = 16;
  link.max_mps = Bytes(512);
  link.aspm = Aspm::l1;
  link.corrected_errors = 12;
  link.uncorrected_errors = 0;
  link.replays = 3;
  link.port = "0000:20:01.1";
  link.slot = "5";
  EXPECT_EQ(
      pcie_link_text(machine, link),
      "Gen2 x16 (can Gen4) (the card can Gen5), payload 256 B (can 512 B), ASPM L1, 12 corrected errors, "
      "3 replays, port 0000:20:01.1, slot 5");
}

TEST(TopologyTree, ACardThatSleptIsIdleAndNotDegraded) {
  Machine machine = support::one_root(1);
  Link& link = link_named(machine, "gpu0");
  link.idle = true;
  link.rate = link.max_rate = PcieRate::gen5;
  machine.assumed = {"links.gpu0.rate"};
  EXPECT_EQ(pcie_link_text(machine, link), "Gen5 x16 (idle: Gen5 assumed), payload 256 B");
  EXPECT_FALSE(is_degraded(link));
}

TEST(TopologyTree, ValuesThatARuleChoseAreMarked) {
  Machine machine = support::one_switch(1);
  machine.assumed = {"links.gpu0.rate", "links.gpu0.width", "links.gpu0.mps",       "switches.sw0.acs",
                     "p2p.iommu",       "gpus.gpu0.model",  "cpus.cpu0.memory_rate"};
  EXPECT_EQ(line_of(machine, "gpu0"),
            "gpu0, NVIDIA A100-PCIE-40GB (assumed) [Gen4 x16 (assumed), payload 256 B (assumed)]");
  EXPECT_NE(line_of(machine, "sw0").find("ACS redirect off (assumed)"), std::string::npos);
  EXPECT_NE(line_of(machine, "cpu0").find("GB/s (assumed)"), std::string::npos);
  EXPECT_NE(topology_tree_text(machine).find("IOMMU translation off (assumed)"), std::string::npos);
  machine.assumed = {"cpus.cpu0.socket", "cpus.cpu0.numa", "links.nv0.rate"};
  machine.cpus[0].numa = 0;
  machine.gpus.push_back(machine.gpus[0]);
  support::add_nvlink(machine, {NodeKind::gpu, 0}, {NodeKind::gpu, 1}, 2);
  EXPECT_EQ(line_of(machine, "cpu0").substr(0, 43), "cpu0: socket 0 (assumed), NUMA 0 (assumed),");
  EXPECT_EQ(line_of(machine, "NVLink"), "NVLink: 2 to gpu0; 25 GB/s each (assumed)");
  machine.assumed = {"links.gpu0.width"};
  EXPECT_EQ(pcie_link_text(machine, link_named(machine, "gpu0")), "Gen4 x16 (width assumed), payload 256 B");
}

TEST(TopologyTree, ACardThatIsGoneSaysSoWhetherItHasALinkOrNot) {
  Machine machine = support::one_root(2);
  machine.gpus[1].present = false;
  machine.gpus[1].bdf = "0000:41:00.0";
  EXPECT_EQ(line_of(machine, "gpu1"),
            "gpu1, gone, NVIDIA A100-PCIE-40GB, 0000:41:00.0 [Gen4 x16, payload 256 B]");
  EXPECT_NE(lines_of(topology_tree_text(machine))[0].find("1 GPU, 1 GPU gone"), std::string::npos);
  machine.links.pop_back();
  EXPECT_EQ(line_of(machine, "gpu1"), "gpu1, gone, NVIDIA A100-PCIE-40GB, 0000:41:00.0");
  EXPECT_EQ(line_of(machine, "without"), "without a PCIe path to a root");
}

TEST(TopologyTree, NvlinksStandBelowTheirGpuNvswitchesAndSocketLinksAtTheEnd) {
  Machine machine = support::two_sockets(1);
  const NodeId nvswitch = support::add_nvswitch(machine);
  support::add_nvlink(machine, {NodeKind::gpu, 0}, {NodeKind::gpu, 1}, 2);
  support::add_nvlink(machine, {NodeKind::gpu, 1}, nvswitch, 4);
  EXPECT_EQ(line_of(machine, "NVLink"), "NVLink: 2 to gpu1; 25 GB/s each");
  EXPECT_EQ(line_of(machine, node_name(machine, nvswitch)),
            node_name(machine, nvswitch) + ": 4 NVLinks to 1 GPU");
  EXPECT_EQ(line_of(machine, "upi0"), "upi0: cpu0 to cpu1, 20 GB/s per direction");
  EXPECT_NE(topology_tree_text(machine).find("NVLink: 2 to gpu0, 4 to " + node_name(machine, nvswitch) +
                                             "; 25 GB/s each"),
            std::string::npos);
}

TEST(TopologyTree, NetworkAdaptersShowPortRateAndAddress) {
  Machine machine = support::one_root(1);
  machine.nics.push_back({"nic0", BytesPerSecond(50e9), "", "ConnectX-7", "0000:05:00.0"});
  Link link = link_named(machine, "gpu0");
  link.name = "nic0";
  link.to = {NodeKind::nic, 0};
  machine.links.push_back(link);
  EXPECT_EQ(line_of(machine, "nic0"), "nic0, ConnectX-7, 400 Gbit/s, 0000:05:00.0 [Gen4 x16, payload 256 B]");
}

TEST(SafeText, ReplacesWhatATerminalWouldObey) {
  EXPECT_EQ(safe_text("a\x1b[2Jb\nc\td\x7f"), "a?[2Jb?c?d?");
  EXPECT_EQ(safe_text("\xc2\x9b"
                      "1m"),
            "?1m");  // C1: a control sequence in one character
  EXPECT_EQ(safe_text("x\xe2\x80\xae"
                      "y"),
            "x?y");                                       // U+202E turns the writing round
  EXPECT_EQ(safe_text("\x9b\xff\xc3"), "???");            // no UTF-8
  EXPECT_EQ(safe_text("\xed\xa0\x80\xc0\xaf"), "?????");  // a surrogate; an overlong slash
  EXPECT_EQ(safe_text("\xc2\xb5s \xe2\x82\xac \xf0\x9f\x98\x80"), "\xc2\xb5s \xe2\x82\xac \xf0\x9f\x98\x80");
}

TEST(TopologyTreeProperty, NoNameOrTextPutsAControlCharacterIntoATree) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Machine machine = random_machine(seed);
    machine.gpus[0].model = "x\x1b]0;y\a\r\xc2\x85z";
    const std::string text = topology_tree_text(machine);
    for (const std::string& line : lines_of(text)) {
      EXPECT_EQ(safe_text(line), line) << "seed " << seed;
    }
    // One line each of machine, description, origin, peer access, parts, NVLinks of GPUs, socket links, loose
    // parts.
    const std::size_t parts = machine.cpus.size() + machine.roots.size() + machine.switches.size() +
                              machine.nics.size() + machine.nvswitches.size() + machine.gpus.size();
    EXPECT_GE(lines_of(text).size(), 2 + parts) << "seed " << seed;
    EXPECT_LE(lines_of(text).size(), 5 + parts + machine.gpus.size() + machine.links.size())
        << "seed " << seed;
  }
}

}  // namespace
}  // namespace lanecast
