#include "reports/distance_matrix.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "configs/shipped.hpp"
#include "reports/safe_text.hpp"
#include "tests/configs/random_machine.hpp"
#include "tests/reports/lines.hpp"
#include "tests/support/machine_builders.hpp"

namespace lanecast {
namespace {

using Lines = std::vector<std::string>;

/// The cells of each row, as "GPU0: X PIX NV2", without the affinity columns.
Lines cells_of(const std::string& matrix) {
  Lines rows;
  const Lines lines = lines_of(matrix);
  const std::size_t count = words_of(lines[0].substr(0, lines[0].find("\tCPU"))).size();
  for (std::size_t row = 1; row <= count; ++row) {
    const Lines words = words_of(lines[row]);
    std::string text = words[0] + ":";
    for (std::size_t i = 1; i <= count; ++i) text += " " + words[i];
    rows.push_back(text);
  }
  return rows;
}

Lines shipped_cells(const std::string& machine) {
  return cells_of(topology_matrix_text(load_machine(machine)));
}

/// The first lines of a text, up to an empty one.
Lines table_after(const std::string& text, const std::string& title) {
  const Lines lines = lines_of(text.substr(text.find(title)));
  Lines table;
  for (std::size_t i = 2; i < lines.size() && !lines[i].empty(); ++i) table.push_back(lines[i]);
  return table;
}

TEST(TopologyMatrixText, IsLaidOutAsNvidiaSmiPrintsIt) {
  Machine machine = support::two_sockets(1);
  machine.cpus[0].numa = 0;
  machine.cpus[1].numa = 1;
  machine.cpus[0].cores = "0-63,128-191";
  machine.cpus[1].cores = "64-127";
  const Lines lines = lines_of(topology_matrix_text(machine));
  EXPECT_EQ(lines[0], "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID");
  EXPECT_EQ(lines[1], "GPU0\t X \tSYS\t0-63,128-191\t0\t\tN/A");
  EXPECT_EQ(lines[2], "GPU1\tSYS\t X \t64-127\t1\t\tN/A");
  EXPECT_EQ(lines[3], "");
  EXPECT_EQ(lines[4], "Legend:");
  EXPECT_EQ(lines[5], "");
  EXPECT_EQ(lines[6], "  X    = Self");
}

TEST(TopologyMatrixText, AffinityThatIsNotKnownIsNotMadeUp) {
  Machine machine = support::two_sockets(1);
  EXPECT_EQ(lines_of(topology_matrix_text(machine))[2], "GPU1\tSYS\t X \tN/A\t1\t\tN/A");
  machine.cpus[0].numa = 4;  // numbers exist, but not of the other one
  EXPECT_EQ(lines_of(topology_matrix_text(machine))[1], "GPU0\t X \tSYS\tN/A\t4\t\tN/A");
  EXPECT_EQ(lines_of(topology_matrix_text(machine))[2], "GPU1\tSYS\t X \tN/A\tN/A\t\tN/A");
}

TEST(TopologyMatrixText, AdaptersHaveRowsAndALegendAbsentCardsOnlyALine) {
  Machine machine = support::one_switch(3);
  machine.gpus[1].present = false;
  machine.nics.push_back({"mlx5_0", BytesPerSecond(25e9), ""});
  Link link = support::link_named(machine, "gpu0");
  link.name = "nic";
  link.to = {NodeKind::nic, 0};
  machine.links.push_back(link);
  const std::string text = topology_matrix_text(machine);
  EXPECT_EQ(cells_of(text), (Lines{"GPU0: X PIX PIX", "GPU2: PIX X PIX", "NIC0: PIX PIX X"}));
  EXPECT_EQ(lines_of(text)[3], "NIC0\tPIX\tPIX\t X ");
  EXPECT_NE(text.find("\nNIC Legend:\n\n  NIC0: mlx5_0\n"), std::string::npos);
  EXPECT_NE(text.find("\nGone: GPU1 (gpu1)\n"), std::string::npos);
}

// Four cards below each of two switches, both switches on host bridges of one CPU.
TEST(TopologyMatrixText, TwoSwitchBox) {
  EXPECT_EQ(shipped_cells("rtxpro6000x8-2switch"),
            (Lines{"GPU0: X PIX PIX PIX NODE NODE NODE NODE", "GPU1: PIX X PIX PIX NODE NODE NODE NODE",
                   "GPU2: PIX PIX X PIX NODE NODE NODE NODE", "GPU3: PIX PIX PIX X NODE NODE NODE NODE",
                   "GPU4: NODE NODE NODE NODE X PIX PIX PIX", "GPU5: NODE NODE NODE NODE PIX X PIX PIX",
                   "GPU6: NODE NODE NODE NODE PIX PIX X PIX", "GPU7: NODE NODE NODE NODE PIX PIX PIX X"}));
}

// The hybrid cube mesh as `nvidia-smi topo -m` of a DGX-1 with V100 shows it (Microway's guide to
// nvidia-smi).
TEST(TopologyMatrixText, CubeMeshOfADgx1) {
  const Lines rows = shipped_cells("dgx1-v100");
  EXPECT_EQ(rows[0], "GPU0: X NV1 NV1 NV2 NV2 SYS SYS SYS PIX PHB SYS SYS");
  EXPECT_EQ(rows[1], "GPU1: NV1 X NV2 NV1 SYS NV2 SYS SYS PIX PHB SYS SYS");
  EXPECT_EQ(rows[2], "GPU2: NV1 NV2 X NV2 SYS SYS NV1 SYS PHB PIX SYS SYS");
  EXPECT_EQ(rows[3], "GPU3: NV2 NV1 NV2 X SYS SYS SYS NV1 PHB PIX SYS SYS");
  EXPECT_EQ(rows[4], "GPU4: NV2 SYS SYS SYS X NV1 NV1 NV2 SYS SYS PIX PHB");
  EXPECT_EQ(rows[5], "GPU5: SYS NV2 SYS SYS NV1 X NV2 NV1 SYS SYS PIX PHB");
  EXPECT_EQ(rows[6], "GPU6: SYS SYS NV1 SYS NV1 NV2 X NV2 SYS SYS PHB PIX");
  EXPECT_EQ(rows[7], "GPU7: SYS SYS SYS NV1 NV2 NV1 NV2 X SYS SYS PHB PIX");
  EXPECT_EQ(rows[8], "NIC0: PIX PIX PHB PHB SYS SYS SYS SYS X PHB SYS SYS");
}

// All pairs over NVSwitch; each adapter is PIX to the card beside it.
TEST(TopologyMatrixText, HgxWithNvswitch) {
  const Lines rows = shipped_cells("hgx-h100x8");
  EXPECT_EQ(rows[0], "GPU0: X NV18 NV18 NV18 NV18 NV18 NV18 NV18 PIX NODE NODE NODE SYS SYS SYS SYS");
  EXPECT_EQ(rows[5], "GPU5: NV18 NV18 NV18 NV18 NV18 X NV18 NV18 SYS SYS SYS SYS NODE PIX NODE NODE");
  EXPECT_EQ(rows[8], "NIC0: PIX NODE NODE NODE SYS SYS SYS SYS X NODE NODE NODE SYS SYS SYS SYS");
}

// Two cards a port, the four cards of a socket below one switch.
TEST(TopologyMatrixText, SharedPorts) {
  const Lines rows = shipped_cells("a100x8-pcie4-shared-port");
  EXPECT_EQ(rows[0], "GPU0: X PIX PXB PXB SYS SYS SYS SYS");
  EXPECT_EQ(rows[6], "GPU6: SYS SYS SYS SYS PXB PXB X PIX");
}

TEST(PeerAccessText, AMachineWithoutPeerAccessSaysSo) {
  const std::string text = peer_access_text(load_machine("v100x2-pcie3-sockets-nop2p"), Distance::pxb);
  EXPECT_EQ(table_after(text, "Peer access by the hardware"),
            (Lines{" \tGPU0\tGPU1", " GPU0\tX\tNS", " GPU1\tNS\tX"}));
  EXPECT_NE(text.find("NS   = not supported: peer access is off"), std::string::npos);
  EXPECT_EQ(text.find("GNS"), std::string::npos) << "the legend holds what occurs";
}

TEST(PeerAccessText, TheLevelKeepsFarPairsOnHostMemory) {
  const Machine machine = support::two_switches(1);
  const std::string text = peer_access_text(machine, Distance::pxb);
  EXPECT_EQ(table_after(text, "Peer access by the hardware")[1], " GPU0\tX\tOK");
  EXPECT_EQ(table_after(text, "Peer access up to PXB, the default level")[1], " GPU0\tX\tFAR");
  Machine wide = machine;
  wide.p2p.level = Distance::sys;
  EXPECT_EQ(
      table_after(peer_access_text(wide, Distance::pxb), "Peer access up to SYS, the machine's level")[1],
      " GPU0\tX\tOK");
  wide.p2p.level = Distance::loc;
  EXPECT_EQ(table_after(peer_access_text(wide, Distance::pxb), "Peer access up to LOC")[1], " GPU0\tX\tNS");
}

TEST(PeerAccessText, EachReasonHasItsLetters) {
  Machine machine = support::one_root(3);
  machine.gpus[1].model = "NVIDIA GeForce RTX 4090";
  machine.links.pop_back();  // gpu2 keeps NVLink to gpu0 only
  support::add_nvlink(machine, {NodeKind::gpu, 0}, {NodeKind::gpu, 2});
  EXPECT_EQ(table_after(peer_access_text(machine, Distance::sys), "Peer access by the hardware"),
            (Lines{" \tGPU0\tGPU1\tGPU2", " GPU0\tX\tGNS\tOK", " GPU1\tGNS\tX\tGNS", " GPU2\tOK\tGNS\tX"}));
  machine.gpus[1].p2p = true;
  EXPECT_EQ(table_after(peer_access_text(machine, Distance::sys), "Peer access by the hardware")[2],
            " GPU1\tOK\tX\tTNS");
}

TEST(PeerAccessText, IsLeftOutWhereNobodyCouldReadIt) {
  Machine machine = support::one_root(1);
  machine.gpus.resize(600, machine.gpus[0]);
  EXPECT_EQ(peer_access_text(machine, Distance::pxb),
            "Peer access: left out, since 600 GPUs are more than 512\n");
}

TEST(TopologyMatrixTextProperty, NamesPutNoControlCharacterIntoIt) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Machine machine = random_machine(seed);
    for (const std::string& text :
         {topology_matrix_text(machine), peer_access_text(machine, Distance::pxb)}) {
      for (std::string line : lines_of(text)) {
        line.erase(std::remove(line.begin(), line.end(), '\t'), line.end());
        EXPECT_EQ(safe_text(line), line) << "seed " << seed;
      }
    }
  }
}

}  // namespace
}  // namespace lanecast
