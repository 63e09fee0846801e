#include "configs/synthetic.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "configs/machine_reader.hpp"
#include "configs/machine_writer.hpp"
#include "configs/shipped.hpp"
#include "model/topology/distance_matrix.hpp"
#include "tests/configs/random_machine.hpp"
#include "tests/configs/refusal.hpp"

namespace lanecast {
namespace {

using Lines = std::vector<std::string>;

/// "gpu0 below sw0: gen4x16" of each PCIe link, other links as "upi0: cpu0 to cpu1".
Lines links_of(const Machine& machine) {
  const auto speed = [](PcieRate rate, int width) { return to_string(rate) + "x" + std::to_string(width); };
  Lines lines;
  for (const Link& link : machine.links) {
    const std::string from = node_name(machine, link.from), to = node_name(machine, link.to);
    if (link.kind != LinkKind::pcie) {
      lines.push_back(link.name + ": " + from + " to " + to);
      continue;
    }
    const std::string status = speed(link.rate, link.width), can = speed(link.max_rate, link.max_width);
    lines.push_back(link.name + " below " + from + ": " + status + (status == can ? "" : "/" + can));
  }
  return lines;
}

/// Distances of the first GPU to all GPUs.
std::string first_row(const std::string& line) {
  std::string row;
  const TopologyMatrix matrix = topology_matrix(machine_from_line(line));
  for (std::size_t i = 0; i < matrix.nodes.size() && matrix.nodes[i].kind == NodeKind::gpu; ++i) {
    const DistanceCell& cell = matrix.cells[0][i];
    row += (row.empty() ? "" : " ") +
           (cell.nvlinks > 0 ? "NV" + std::to_string(cell.nvlinks) : std::string(to_string(cell.distance)));
  }
  return row;
}

/// The machine but for its name and texts.
std::string substance_of(Machine machine) {
  machine.name = "machine";
  machine.description = machine.source = "";
  machine.assumptions.clear();
  return write_machine(machine);
}

bool assumes(const Machine& machine, const std::string& word) {
  for (const std::string& assumption : machine.assumptions) {
    if (assumption.find(word) != std::string::npos) return true;
  }
  return false;
}

// The contract's example: two switches, each on a root port, four GPUs each; all links gen4 x16.
TEST(MachineFromLine, TwoSwitchesWithFourGpusEach) {
  const Machine machine = machine_from_line("2x(sw:4xgpu)@gen4x16");
  EXPECT_EQ(machine.name, "2x-sw-4xgpu-gen4x16");
  EXPECT_EQ(machine.cpus.size(), 1U);
  EXPECT_EQ(links_of(machine),
            (Lines{"uplink0 below root0: gen4x16", "uplink1 below root1: gen4x16", "gpu0 below sw0: gen4x16",
                   "gpu1 below sw0: gen4x16", "gpu2 below sw0: gen4x16", "gpu3 below sw0: gen4x16",
                   "gpu4 below sw1: gen4x16", "gpu5 below sw1: gen4x16", "gpu6 below sw1: gen4x16",
                   "gpu7 below sw1: gen4x16"}));
  EXPECT_EQ(first_row("2x(sw:4xgpu)@gen4x16"), "LOC PIX PIX PIX NODE NODE NODE NODE");
  EXPECT_EQ(substance_of(machine), substance_of(machine_from_line("2x(sw:4xgpu@gen4x16)")));
}

TEST(MachineFromLine, ALineLeavesOutWhatRulesGiveAndSaysSo) {
  const Machine machine = machine_from_line("4xgpu");
  EXPECT_EQ(links_of(machine)[3], "gpu3 below root3: gen4x16");
  EXPECT_TRUE(assumes(machine, "gen4"));
  EXPECT_TRUE(assumes(machine, "root complex of its own"));
  EXPECT_TRUE(assumes(machine, "compute capability 8.0"));
  EXPECT_FALSE(assumes(machine_from_line("root:4xgpu[NVIDIA L40S]@gen4x16"), "gen4"));
  EXPECT_FALSE(assumes(machine_from_line("root:4xgpu[NVIDIA L40S]@gen4x16"), "root complex of its own"));
  EXPECT_FALSE(assumes(machine_from_line("(4xgpu[sm90]@x16)@gen5"), "gen4"));
}

TEST(MachineFromLine, AnUplinkHasItsOwnSpeedAndTheInnermostOneHolds) {
  EXPECT_EQ(links_of(machine_from_line("sw@gen3x8:2xgpu")),
            (Lines{"uplink0 below root0: gen3x8", "gpu0 below sw0: gen4x16", "gpu1 below sw0: gen4x16"}));
  EXPECT_EQ(links_of(machine_from_line("(sw@x8:(gpu,gpu@gen3x4))@gen5")),
            (Lines{"uplink0 below root0: gen5x8", "gpu0 below sw0: gen5x16", "gpu1 below sw0: gen3x4"}));
  EXPECT_EQ(links_of(machine_from_line("sw(2xgpu)@gen3")),
            (Lines{"uplink0 below root0: gen3x16", "gpu0 below sw0: gen3x16", "gpu1 below sw0: gen3x16"}));
}

TEST(MachineFromLine, StatusAndCapabilityStandBeforeAndBehindASlash) {
  EXPECT_EQ(links_of(machine_from_line("gpu@gen4x8/gen5x16")), (Lines{"gpu0 below root0: gen4x8/gen5x16"}));
  EXPECT_EQ(links_of(machine_from_line("gpu@gen4x8/x16")), (Lines{"gpu0 below root0: gen4x8/gen4x16"}));
  EXPECT_EQ(links_of(machine_from_line("(gpu@gen2/gen5,gpu)@gen5x16")),
            (Lines{"gpu0 below root0: gen2x16/gen5x16", "gpu1 below root1: gen5x16"}));
}

TEST(MachineFromLine, SocketsCpusAndRoots) {
  EXPECT_EQ(
      links_of(machine_from_line("2xcpu(2xroot(sw:gpu))")),
      (Lines{"uplink0 below root0: gen4x16", "uplink1 below root1: gen4x16", "uplink2 below root2: gen4x16",
             "uplink3 below root3: gen4x16", "gpu0 below sw0: gen4x16", "gpu1 below sw1: gen4x16",
             "gpu2 below sw2: gen4x16", "gpu3 below sw3: gen4x16", "socket0: cpu0 to cpu1"}));
  EXPECT_EQ(first_row("2xcpu(2xroot(sw:gpu))"), "LOC NODE SYS SYS");
  EXPECT_EQ(first_row("2xsocket(2xgpu)"), "LOC NODE SYS SYS");
  EXPECT_EQ(first_row("root(2xgpu),gpu"), "LOC PHB NODE");
}

TEST(MachineFromLine, NumaNodesOfASocketAreJoinedToItsFirstSocketsToEachOther) {
  const Machine machine = machine_from_line("2xsocket[AMD EPYC 9554](2xcpu(gpu)) ~50GB/s");
  Lines sockets;
  for (const Link& link : machine.links) {
    if (link.kind != LinkKind::socket) continue;
    sockets.push_back(link.name);
    EXPECT_EQ(link.lane_rate, BytesPerSecond(50e9));
  }
  EXPECT_EQ(links_of(machine).size(), 7U);
  EXPECT_EQ(sockets, (Lines{"die0", "die1", "xgmi0"}));
  EXPECT_EQ(links_of(machine)[6], "xgmi0: cpu0 to cpu2");
  EXPECT_EQ(machine.cpus[1].socket, 0);
  EXPECT_EQ(machine.cpus[3].socket, 1);
  EXPECT_EQ(machine.cpus[3].vendor, "amd");
  EXPECT_EQ(machine.cpus[3].model, "AMD EPYC 9554");
  EXPECT_EQ(machine_from_line("2xcpu[intel](gpu)").links.back().name, "upi0");
  EXPECT_EQ(machine_from_line("3xcpu(gpu)").links.size(), 3U + 3U);
}

TEST(MachineFromLine, ModelsGiveTheComputeCapabilityAway) {
  EXPECT_EQ(machine_from_line("gpu[NVIDIA A100-SXM4-80GB]").gpus[0].sm, 80);
  EXPECT_EQ(machine_from_line("gpu[NVIDIA H100 80GB HBM3]").gpus[0].sm, 90);
  EXPECT_EQ(machine_from_line("gpu[Somebody's Card]").gpus[0].sm, 0);
  const Gpu gpu = machine_from_line("gpu[Card, of two (x16): 3,sm120]").gpus[0];
  EXPECT_EQ(gpu.model, "Card, of two (x16): 3");
  EXPECT_EQ(gpu.sm, 120);
  EXPECT_EQ(machine_from_line("gpu[sm90]").gpus[0].sm, 90);
  EXPECT_EQ(machine_from_line("gpu[sm90]").gpus[0].model, "");
}

TEST(MachineFromLine, NetworkAdaptersAndSwitches) {
  const Machine machine =
      machine_from_line("sw[PEX89104]+acs:(gpu,nic[400G,ConnectX-7]@gen5,nic[12.5G],nic)");
  EXPECT_EQ(machine.switches[0].model, "PEX89104");
  EXPECT_TRUE(machine.switches[0].acs);
  EXPECT_EQ(machine.nics[0].rate, BytesPerSecond(50e9));
  EXPECT_EQ(machine.nics[0].model, "ConnectX-7");
  EXPECT_EQ(machine.nics[1].rate, BytesPerSecond(12.5e9 / 8));
  EXPECT_EQ(machine.nics[2].rate, BytesPerSecond(12.5e9));
  EXPECT_EQ(links_of(machine)[2], "nic0 below sw0: gen5x16");
  EXPECT_TRUE(assumes(machine, "100 Gbit/s"));
}

TEST(MachineFromLine, Nvlinks) {
  EXPECT_EQ(first_row("4xgpu nvswitch18"), "LOC NV18 NV18 NV18");
  EXPECT_EQ(first_row("4xgpu nvlink4"), "LOC NV4 NV4 NV4");
  EXPECT_EQ(first_row("5xgpu nvpairs4@14.06GB/s"), "LOC NV4 NODE NODE NODE");
  EXPECT_EQ(links_of(machine_from_line("3xgpu nvlink2"))[4], "nv02: gpu0 to gpu2");
  EXPECT_EQ(links_of(machine_from_line("12xgpu nvpairs2")).back(), "nv10-11: gpu10 to gpu11");
  EXPECT_EQ(machine_from_line("2xgpu nvlink4@25GB/s").links.back().lane_rate, BytesPerSecond(25e9));
}

TEST(MachineFromLine, PeerAccessAndIommu) {
  EXPECT_FALSE(machine_from_line("2xgpu p2p=off").p2p.enabled);
  EXPECT_EQ(machine_from_line("2xgpu p2p=PHB").p2p.level, Distance::phb);
  EXPECT_TRUE(machine_from_line("2xgpu iommu").p2p.iommu);
}

TEST(MachineFromLine, BlanksDoNotMatterBetweenParts) {
  EXPECT_EQ(substance_of(machine_from_line(" 2 x ( sw : 4 x gpu , nic ) @gen4x16  nvlink2   iommu ")),
            substance_of(machine_from_line("2x(sw:4xgpu,nic)@gen4x16 nvlink2 iommu")));
}

/// The second and third cells of the rows of docs/synthetic.md whose first one is a line and whose second one
/// is distances.
TEST(MachineFromLine, TheExamplesOfItsPageAreWhatThePageSays) {
  std::ifstream page(LANECAST_TEST_SOURCE_ROOT "/docs/synthetic.md");
  ASSERT_TRUE(page);
  int examples = 0;
  bool reached = false;
  for (std::string text; std::getline(page, text);) {
    if (!text.empty() && text[0] == '#') reached = text == "## Examples";
    if (!reached || text.compare(0, 3, "| `") != 0) continue;
    const std::size_t line_end = text.find("` | ", 3), row_end = text.find(" | ", line_end + 4);
    ASSERT_NE(row_end, std::string::npos) << text;
    const std::string line = text.substr(3, line_end - 3);
    const std::string said = text.substr(line_end + 4, row_end - line_end - 4);
    std::string row = "LOC " + said;
    if (said.find(' ') == std::string::npos) row += " " + said + " " + said;  // of four GPUs, all alike
    EXPECT_EQ(first_row(line), row) << line;
    ++examples;
  }
  EXPECT_GE(examples, 12);
}

TEST(LineOfMachine, ShippedMachinesSayMoreThanALineCan) {
  for (const std::string& name : shipped_machines())
    EXPECT_FALSE(line_of_machine(load_machine(name))) << name;
}

TEST(LineOfMachine, IsTheShortestFormOfTheLine) {
  const auto line = [](const char* text) {
    return line_of_machine(machine_from_line(text)).value_or("none");
  };
  EXPECT_EQ(line("2x(sw:4xgpu)@gen4x16"), "2x(sw:4xgpu)@gen4x16");
  EXPECT_EQ(line("(sw@gen4:(gpu,3xgpu)),sw:4xgpu"), "2x(sw:4xgpu)@gen4x16");
  EXPECT_EQ(line("2xcpu(2xroot(sw:4xgpu))"), "2xcpu(2x(sw:4xgpu))@gen4x16");
  EXPECT_EQ(line("sw(gpu,sw:2xgpu,nic)"), "sw(gpu,sw:2xgpu,nic)@gen4x16");
  EXPECT_EQ(line("gpu[NVIDIA L40S,sm89]"), "gpu[NVIDIA L40S]@gen4x16");
  EXPECT_EQ(line("8xgpu[sm90]@gen5 nvswitch18@26.5GB/s p2p=PXB iommu"),
            "8xgpu[sm90]@gen5x16 nvswitch18@26.5GB/s p2p=PXB iommu");
}

TEST(LineOfMachine, WhatTheGrammarLacksHasNoLine) {
  Machine machine = machine_from_line("2xgpu");
  EXPECT_TRUE(line_of_machine(machine));
  machine.source = "from somewhere";  // texts don't count
  EXPECT_TRUE(line_of_machine(machine));
  machine.links[0].mps = Bytes(512);
  EXPECT_FALSE(line_of_machine(machine));
  machine = machine_from_line("2xgpu");
  machine.gpus[1].bdf = "0000:3b:00.0";
  EXPECT_FALSE(line_of_machine(machine));
  machine = machine_from_line("2xgpu");
  machine.gpus[1].model = "a ] b";
  EXPECT_FALSE(line_of_machine(machine));
}

/// A line by chance: any construct of the grammar, at most a few hundred GPUs.
class RandomLine {
 public:
  explicit RandomLine(std::uint64_t seed) : random_(seed) {}

  std::string text() {
    std::string line = below(3) == 0 ? hosts() : "(" + list(3, true) + ",gpu)";
    if (line.back() == ')' && below(2) == 0) line += speed();
    if (below(3) == 0) line += " " + nvlinks();
    if (below(4) == 0) line += " ~" + std::to_string(1 + below(90)) + "GB/s";
    if (below(4) == 0) line += below(2) == 0 ? " p2p=off" : " p2p=PXB";
    return line + (below(4) == 0 ? " iommu" : "");
  }

 private:
  int below(int count) { return static_cast<int>(random_() % static_cast<std::uint64_t>(count)); }
  std::string times() { return below(2) == 0 ? std::to_string(1 + below(3)) + "x" : ""; }
  std::string pick(std::vector<std::string> texts) {
    return texts[static_cast<std::size_t>(below(static_cast<int>(texts.size())))];
  }
  std::string speed() {
    return pick({"@gen4x16", "@gen5", "@x8", "@gen1x1/gen6x16", "@gen3x4/gen3x8", "@gen2x12/x16"});
  }
  std::string maybe_speed() { return below(3) == 0 ? speed() : ""; }
  std::string nvlinks() { return pick({"nvswitch18", "nvlink4@25GB/s", "nvpairs1@14.0625GB/s"}); }

  std::string device() {
    if (below(3) > 0) {
      return "gpu" + pick({"", "", "[NVIDIA L40S]", "[a card: (x),sm70]", "[sm120]", "[odd]"}) +
             maybe_speed();
    }
    return "nic" + pick({"", "[200G]", "[12.5G,ConnectX, dual]"}) + maybe_speed();
  }

  std::string item(int depth, bool roots) {
    const int kind = depth == 0 ? 0 : below(5);
    if (kind == 1) return times() + "(" + list(depth - 1, roots) + ")" + maybe_speed();
    if (kind == 2 && roots) return times() + "root(" + list(depth - 1, false) + ")" + maybe_speed();
    if (kind == 3) {
      return times() + "sw" + pick({"", "[PLX, old]", "+acs"}) + maybe_speed() + "(" +
             list(depth - 1, false) + ")" + maybe_speed();
    }
    if (kind == 4) return times() + "sw" + maybe_speed() + ":" + item(depth - 1, false);
    return times() + device();
  }

  std::string list(int depth, bool roots) {
    std::string text = item(depth, roots);
    for (int i = below(3); i > 0; --i) text += "," + item(depth, roots);
    return text;
  }

  std::string hosts() {
    const bool sockets = below(2) == 0;
    const std::string cpu = "cpu" + pick({"", "[amd]", "[Intel Xeon]"}) + "(gpu," + list(2, true) + ")";
    return times() + (sockets ? "socket[AMD EPYC](" + times() + cpu + ")" : cpu) + maybe_speed();
  }

  std::mt19937_64 random_;
};

TEST(MachineLineProperty, EachLineMakesASoundMachineThatItsOwnLineMakesAgain) {
  int made = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const std::string line = RandomLine(seed).text();
    SCOPED_TRACE(line);
    if (!refusal([&] { machine_from_line(line); }).empty())
      continue;  // a width above a capability further out
    ++made;
    const Machine machine = machine_from_line(line);
    const std::vector<MachineProblem> problems = check_machine(machine);
    ASSERT_TRUE(problems.empty()) << problems[0].path << ": " << problems[0].text;
    const Machine read = read_machine_text(write_machine(machine), "written.yaml");
    EXPECT_EQ(write_machine(read), write_machine(machine)) << "YAML and back";
    const std::optional<std::string> again = line_of_machine(machine);
    ASSERT_TRUE(again.has_value());
    EXPECT_EQ(substance_of(machine_from_line(*again)), substance_of(machine)) << *again;
    EXPECT_EQ(line_of_machine(machine_from_line(*again)), again) << "the line of a machine is its own line";
  }
  EXPECT_GT(made, 280);
}

TEST(MachineLineProperty, AMachineOfAnyKindHasALineThatMakesItOrNone) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Machine machine = random_machine(seed);
    const std::optional<std::string> line = line_of_machine(machine);
    if (!line) continue;
    EXPECT_EQ(substance_of(machine_from_line(*line)), substance_of(machine)) << *line;
  }
}

}  // namespace
}  // namespace lanecast
