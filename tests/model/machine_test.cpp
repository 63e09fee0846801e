#include "model/topology/machine.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

namespace lanecast {
namespace {

Link pcie_link(const std::string& name, NodeId from, NodeId to) {
  Link link;
  link.name = name;
  link.from = from;
  link.to = to;
  return link;
}

/// Two GPUs under one switch of one root, a third one on NVLink with the first, a NIC, two CPUs.
Machine sound_machine() {
  Machine machine;
  machine.cpus = {{"cpu0", "", "", 0, BytesPerSecond(1e11), ""},
                  {"cpu1", "", "", 1, BytesPerSecond(1e11), ""}};
  machine.roots = {{"root0", 0, {}, {}, {}, ""}};
  machine.switches.resize(1);
  machine.switches[0].name = "sw0";
  machine.gpus.resize(3);
  for (int i = 0; i < 3; ++i) machine.gpus[static_cast<std::size_t>(i)].name = "gpu" + std::to_string(i);
  machine.nics = {{"nic0", BytesPerSecond(25e9), ""}};
  const NodeId root{NodeKind::root, 0}, sw{NodeKind::pcie_switch, 0};
  machine.links = {pcie_link("uplink0", root, sw), pcie_link("gpu0", sw, {NodeKind::gpu, 0}),
                   pcie_link("gpu1", sw, {NodeKind::gpu, 1}), pcie_link("nic0", sw, {NodeKind::nic, 0})};
  Link nvlink = pcie_link("nv0", {NodeKind::gpu, 0}, {NodeKind::gpu, 2});
  nvlink.kind = LinkKind::nvlink;
  Link socket = pcie_link("upi0", {NodeKind::cpu, 0}, {NodeKind::cpu, 1});
  socket.kind = LinkKind::socket;
  machine.links.push_back(nvlink);
  machine.links.push_back(socket);
  return machine;
}

/// "path: text" of each problem, one a line.
std::string problems_of(const Machine& machine) {
  std::string all;
  for (const MachineProblem& problem : check_machine(machine)) {
    EXPECT_FALSE(problem.mend.empty()) << problem.path;
    all += problem.path + ": " + problem.text + "\n";
  }
  return all;
}

std::string problems_after(const std::function<void(Machine&)>& damage) {
  Machine machine = sound_machine();
  damage(machine);
  return problems_of(machine);
}

TEST(PcieRawRate, IsSymbolRateTimesWidthTimesLineCode) {
  EXPECT_DOUBLE_EQ(pcie_raw_rate(PcieRate::gen1, 16).value(), 2.5e9 * 16 * 8 / 10 / 8);
  EXPECT_DOUBLE_EQ(pcie_raw_rate(PcieRate::gen2, 16).value(), 5e9 * 16 * 8 / 10 / 8);
  EXPECT_DOUBLE_EQ(pcie_raw_rate(PcieRate::gen3, 16).value(), 8e9 * 16 * 128 / 130 / 8);
  EXPECT_DOUBLE_EQ(pcie_raw_rate(PcieRate::gen4, 8).value(), 16e9 * 8 * 128 / 130 / 8);
  EXPECT_DOUBLE_EQ(pcie_raw_rate(PcieRate::gen5, 4).value(), 32e9 * 4 * 128 / 130 / 8);
  EXPECT_DOUBLE_EQ(pcie_raw_rate(PcieRate::gen6, 1).value(), 64e9 * 242 / 256 / 8);
}

TEST(PcieRawRate, GrowsWithGenerationAndWidth) {
  for (int generation = 1; generation <= 6; ++generation) {
    const auto rate = static_cast<PcieRate>(generation);
    for (int width = 2; width <= 16; ++width)
      EXPECT_GT(pcie_raw_rate(rate, width), pcie_raw_rate(rate, width - 1));
    if (generation == 1) continue;
    EXPECT_GT(pcie_raw_rate(rate, 16), pcie_raw_rate(static_cast<PcieRate>(generation - 1), 16));
  }
}

TEST(PcieRate, TextGoesBothWays) {
  for (int generation = 1; generation <= 6; ++generation) {
    const auto rate = static_cast<PcieRate>(generation);
    EXPECT_EQ(pcie_rate_from_string(to_string(rate)), rate);
  }
  EXPECT_EQ(pcie_rate_from_string("Gen4"), PcieRate::gen4);
  for (const char* text : {"", "gen", "gen0", "gen7", "gen44", "4", "xen4"}) {
    EXPECT_EQ(pcie_rate_from_string(text), std::nullopt) << text;
  }
}

TEST(PcieWidth, OnlyWidthsOfTheSpecificationExist) {
  for (int width = -1; width <= 33; ++width) {
    const bool exists = width == 1 || width == 2 || width == 4 || width == 8 || width == 12 || width == 16;
    EXPECT_EQ(is_pcie_width(width), exists) << width;
  }
}

TEST(Distance, TextGoesBothWays) {
  for (int i = 0; i <= static_cast<int>(Distance::sys); ++i) {
    const auto distance = static_cast<Distance>(i);
    EXPECT_EQ(distance_from_string(to_string(distance)), distance);
  }
  EXPECT_EQ(distance_from_string("phb"), Distance::phb);
  EXPECT_EQ(distance_from_string("FAR"), std::nullopt);
}

TEST(NodeName, IsTheNameOfTheNodeOfThatKind) {
  const Machine machine = sound_machine();
  EXPECT_EQ(node_name(machine, {NodeKind::gpu, 2}), "gpu2");
  EXPECT_EQ(node_name(machine, {NodeKind::pcie_switch, 0}), "sw0");
  EXPECT_EQ(node_name(machine, {NodeKind::root, 0}), "root0");
  EXPECT_EQ(node_name(machine, {NodeKind::cpu, 1}), "cpu1");
  EXPECT_EQ(node_name(machine, {NodeKind::nic, 0}), "nic0");
}

TEST(CheckMachine, AcceptsASoundMachine) { EXPECT_EQ(problems_of(sound_machine()), ""); }

TEST(CheckMachine, FindsNodesThatAreAbsent) {
  EXPECT_EQ(problems_after([](Machine& m) { m.links[3].to.index = 7; }),
            "links[3].to: pcie link `nic0` ends at a node that is absent\n"
            "nics[0]: nic `nic0` is unconnected: it has no path to a root\n");
  EXPECT_EQ(problems_after([](Machine& m) { m.links[4].from.index = -1; }),
            "links[4].from: nvlink link `nv0` ends at a node that is absent\n");
  EXPECT_EQ(problems_after([](Machine& m) { m.roots[0].cpu = 2; }),
            "roots[0].cpu: root `root0` belongs to a cpu that is absent\n");
}

TEST(CheckMachine, FindsEndsThatDoNotFitTheKindOfLink) {
  EXPECT_EQ(problems_after([](Machine& m) {
              m.links[4].to = {NodeKind::pcie_switch, 0};
            }),
            "links[4].to: nvlink link `nv0` has an end at switch `sw0`; it must be a gpu or nvswitch\n"
            "gpus[2]: gpu `gpu2` is unconnected: it has no path to a root and no NVLink\n");
  EXPECT_EQ(
      problems_after([](Machine& m) {
        m.links.push_back(pcie_link("x", {NodeKind::cpu, 0}, {NodeKind::root, 0}));
      }),
      "links[6].from: pcie link `x` has an end at cpu `cpu0`; it must be a root or switch, the upstream end\n"
      "links[6].to: pcie link `x` has an end at root `root0`; it must be a switch, gpu or nic, the "
      "downstream end\n");
  EXPECT_EQ(problems_after([](Machine& m) {
              m.links[5].to = {NodeKind::gpu, 0};
            }),
            "links[5].to: socket link `upi0` has an end at gpu `gpu0`; it must be a cpu\n"
            "cpus[1]: no socket link joins cpu `cpu1` to cpu `cpu0`\n");
  EXPECT_EQ(problems_after([](Machine& m) { m.links[4].to = m.links[4].from; }),
            "links[4].to: link `nv0` leads from gpu `gpu0` to itself\n"
            "gpus[2]: gpu `gpu2` is unconnected: it has no path to a root and no NVLink\n");
}

TEST(CheckMachine, FindsTwoParents) {
  EXPECT_EQ(problems_after([](Machine& m) {
              m.links.push_back(pcie_link("b", {NodeKind::root, 0}, {NodeKind::gpu, 1}));
            }),
            "links[6].to: gpu `gpu1` hangs below two links, `gpu1` and `b`\n");
}

TEST(CheckMachine, FindsACycleOnceAndWhatItCutsOff) {
  const std::string problems = problems_after([](Machine& m) {
    m.switches.resize(3);
    m.switches[1].name = "sw1";
    m.switches[2].name = "sw2";
    m.links[0].from = {NodeKind::pcie_switch, 2};
    m.links.push_back(pcie_link("b", {NodeKind::pcie_switch, 0}, {NodeKind::pcie_switch, 1}));
    m.links.push_back(pcie_link("c", {NodeKind::pcie_switch, 1}, {NodeKind::pcie_switch, 2}));
  });
  EXPECT_EQ(problems,
            "links[6].from: switches form a cycle: link `b` leads back to switch `sw0`\n"
            "gpus[1]: gpu `gpu1` is unconnected: it has no path to a root and no NVLink\n"
            "nics[0]: nic `nic0` is unconnected: it has no path to a root\n");
  EXPECT_EQ(problems_after([](Machine& m) { m.links[0].from = m.links[0].to; }).substr(0, 72),
            "links[0].from: switches form a cycle: link `uplink0` leads back to switc");
}

TEST(CheckMachine, FindsUnconnectedGpusUnlessTheyAreGone) {
  EXPECT_EQ(problems_after([](Machine& m) { m.links.erase(m.links.begin() + 2); }),
            "gpus[1]: gpu `gpu1` is unconnected: it has no path to a root and no NVLink\n");
  EXPECT_EQ(problems_after([](Machine& m) {
              m.links.erase(m.links.begin() + 2);
              m.gpus[1].present = false;
            }),
            "");
  EXPECT_EQ(problems_after([](Machine& m) {
              m.gpus.clear();
              m.links = {m.links[0], m.links[3], m.links[5]};
            }),
            "gpus: the machine has no GPU\n");
  EXPECT_EQ(problems_after([](Machine& m) {
              for (Gpu& gpu : m.gpus) gpu.present = false;
            }),
            "gpus: no GPU is present\n");
}

TEST(CheckMachine, FindsCpusWithoutASocketLink) {
  EXPECT_EQ(problems_after([](Machine& m) { m.links.pop_back(); }),
            "cpus[1]: no socket link joins cpu `cpu1` to cpu `cpu0`\n");
}

TEST(CheckMachine, FindsWidthsAndRatesThatCannotBe) {
  EXPECT_EQ(problems_after([](Machine& m) { m.links[1].width = 3; }),
            "links[1].width: link `gpu0` has width x3; a PCIe link is x1, x2, x4, x8, x12 or x16\n");
  EXPECT_EQ(problems_after([](Machine& m) { m.links[1].max_width = 32; }),
            "links[1].max_width: link `gpu0` has max_width x32; a PCIe link is x1, x2, x4, x8, x12 or x16\n");
  EXPECT_EQ(problems_after([](Machine& m) { m.links[1].max_width = 8; }),
            "links[1].width: link `gpu0` has width x16 above its max_width x8\n");
  EXPECT_EQ(problems_after([](Machine& m) { m.links[1].rate = PcieRate::gen4; }),
            "links[1].rate: link `gpu0` has rate gen4 above its max_rate gen3\n");
}

TEST(CheckMachine, PacketSizesArePowersOfTwoFrom128To4096) {
  for (std::uint64_t size = 0; size <= 10000; ++size) {
    const bool fits =
        size == 128 || size == 256 || size == 512 || size == 1024 || size == 2048 || size == 4096;
    Machine machine = sound_machine();
    machine.links[1].mps = machine.links[1].mrrs = Bytes(size);
    ASSERT_EQ(check_machine(machine).size(), fits ? 0U : 2U) << size;
  }
}

TEST(CheckMachine, FindsNumbersOutOfRange) {
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::nan("");
  for (const double share : {-0.1, 0.51, nan, infinity}) {
    EXPECT_NE(problems_after([&](Machine& m) { m.links[1].replay_rate = share; }), "") << share;
  }
  for (const double rate : {0.0, -1.0, 1.0, 1e16, nan, infinity}) {
    const BytesPerSecond value(rate);
    EXPECT_NE(problems_after([&](Machine& m) { m.cpus[0].memory_rate = value; }), "") << rate;
    EXPECT_NE(problems_after([&](Machine& m) { m.roots[0].p2p_rate = value; }), "") << rate;
    EXPECT_NE(problems_after([&](Machine& m) { m.roots[0].p2p_port_rate = value; }), "") << rate;
    EXPECT_NE(problems_after([&](Machine& m) { m.nics[0].rate = value; }), "") << rate;
    EXPECT_NE(problems_after([&](Machine& m) { m.links[4].lane_rate = value; }), "") << rate;
    EXPECT_NE(problems_after([&](Machine& m) { m.links[5].lane_rate = value; }), "") << rate;
  }
  for (const double time : {-1e-9, 1.1, nan, infinity}) {
    EXPECT_NE(problems_after([&](Machine& m) { m.roots[0].latency = Seconds(time); }), "") << time;
    EXPECT_NE(problems_after([&](Machine& m) { m.switches[0].latency = Seconds(time); }), "") << time;
    EXPECT_NE(problems_after([&](Machine& m) { m.links[5].latency = Seconds(time); }), "") << time;
  }
  EXPECT_EQ(problems_after([](Machine& m) { m.links[4].count = 0; }),
            "links[4].count: count of link `nv0` is 0; it must lie in 1 to 1024\n");
  EXPECT_NE(problems_after([](Machine& m) { m.gpus[0].sm = -1; }), "");
  EXPECT_NE(problems_after([](Machine& m) { m.gpus[0].l2 = Bytes(0); }), "");
}

TEST(CheckMachine, FindsNamesThatClashOrCannotBe) {
  EXPECT_EQ(problems_after([](Machine& m) { m.gpus[1].name = "gpu0"; }),
            "gpus[1].name: the name `gpu0` is taken by gpus[0]\n");
  EXPECT_EQ(problems_after([](Machine& m) { m.links[2].name = "nv0"; }),
            "links[4].name: the name `nv0` is taken by links[2]\n");
  EXPECT_EQ(problems_after([](Machine& m) { m.switches[0].name = ""; }),
            "switches[0].name: a name is empty\n");
  EXPECT_EQ(problems_after([](Machine& m) { m.nics[0].name = std::string(65, 'a'); }),
            "nics[0].name: a name has 65 characters; at most 64 are allowed\n");
  EXPECT_EQ(problems_after([](Machine& m) { m.roots[0].name = "a b"; }),
            "roots[0].name: a name has characters other than letters, digits, `_`, `.` and `-`\n");
}

TEST(CheckMachine, FindsAllProblemsAtOnce) {
  const std::string problems = problems_after([](Machine& m) {
    m.cpus[0].memory_rate = BytesPerSecond(0);
    m.gpus[1].name = "gpu0";
    m.links[1].width = 3;
    m.links.pop_back();
  });
  EXPECT_EQ(std::count(problems.begin(), problems.end(), '\n'), 4) << problems;
}

TEST(CheckMachine, LooksNoFurtherWhereThereIsTooMuch) {
  EXPECT_EQ(problems_after([](Machine& m) { m.switches.resize(4097); }),
            "switches: 4097 entries; at most 4096 are allowed\n");
  EXPECT_EQ(problems_after([](Machine& m) { m.links.resize(16385); }),
            "links: 16385 entries; at most 16384 are allowed\n");
}

}  // namespace
}  // namespace lanecast
