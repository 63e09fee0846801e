#include "configs/shipped.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "configs/machine_writer.hpp"
#include "model/topology/peer_access.hpp"
#include "model/topology/routes.hpp"
#include "tests/configs/refusal.hpp"

namespace lanecast {
namespace {

const Link* find_link(const Machine& machine, const std::string& name) {
  for (const Link& link : machine.links) {
    if (link.name == name) return &link;
  }
  return nullptr;
}

/// Whether a link joins these two GPUs, in either direction.
bool joins(const Link& link, int a, int b) {
  const NodeId one{NodeKind::gpu, a};
  const NodeId other{NodeKind::gpu, b};
  return (link.from == one && link.to == other) || (link.from == other && link.to == one);
}

class ShippedMachine : public testing::TestWithParam<std::string> {};

TEST_P(ShippedMachine, LoadsAndIsWhole) {
  const Machine machine = load_machine(GetParam());
  EXPECT_TRUE(check_machine(machine).empty());
  EXPECT_EQ(machine.name, GetParam());
  EXPECT_FALSE(machine.description.empty());
  EXPECT_FALSE(machine.source.empty());
  EXPECT_FALSE(machine.assumptions.empty());
}

TEST_P(ShippedMachine, NamesTheLinkOfEachGpuAsTheGpu) {
  const Machine machine = load_machine(GetParam());
  for (std::size_t i = 0; i < machine.gpus.size(); ++i) {
    const std::string name = "gpu" + std::to_string(i);
    EXPECT_EQ(machine.gpus[i].name, name);
    const Link* link = find_link(machine, name);
    ASSERT_NE(link, nullptr) << name;
    EXPECT_EQ(link->to, (NodeId{NodeKind::gpu, static_cast<int>(i)}));
  }
}

TEST_P(ShippedMachine, SaysWhatItsGpusAre) {
  for (const Gpu& gpu : load_machine(GetParam()).gpus) {
    EXPECT_FALSE(gpu.model.empty());
    EXPECT_GE(gpu.sm, 70);
    EXPECT_TRUE(gpu.l2.has_value());
    EXPECT_FALSE(gpu.source.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(All, ShippedMachine, testing::ValuesIn(shipped_machines()), [](const auto& shipped) {
  std::string name = shipped.param;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

TEST(Shipped, TheUplinksOfTheTwoSwitchBoxAreCalledUplink0AndUplink1) {
  const Machine machine = load_machine("rtxpro6000x8-2switch");
  const Link* uplink = find_link(machine, "uplink0");
  ASSERT_NE(uplink, nullptr);
  ASSERT_NE(find_link(machine, "uplink1"), nullptr);
  for (const Link& link : machine.links) {
    const bool below_first = link.to.kind == NodeKind::gpu && link.to.index < 4;
    EXPECT_EQ(below_first, link.from == uplink->to) << link.name;
  }
}

struct Pair {
  int a;
  int b;
  Distance distance;
};

/// What one shipped machine is made of: GPUs, the links beside their own ones, and how far GPUs are apart.
struct Layout {
  std::string machine;
  std::size_t gpus;
  std::vector<std::string> other_links;
  std::vector<Pair> pairs;
};

const std::vector<Layout>& layouts() {
  using enum Distance;
  static const std::vector<Layout> table{
      {"v100x2-pcie3-switch", 2, {"uplink0"}, {{0, 1, pix}}},
      {"v100x2-pcie3-sockets-nop2p", 2, {"upi0"}, {{0, 1, sys}}},
      {"v100x4-pcie3-2switch", 4, {"uplink0", "uplink1", "upi0"}, {{0, 1, pix}, {1, 2, sys}, {2, 3, pix}}},
      {"a100x8-pcie4-shared-port",
       8,
       {"uplink0", "uplink1", "pair0", "pair1", "pair2", "pair3", "xgmi0"},
       {{0, 1, pix}, {1, 2, pxb}, {3, 4, sys}}},
      {"a100x4-pcie4-sys",
       4,
       {"die0", "die1", "xgmi0"},
       {{0, 1, sys}, {0, 2, sys}, {0, 3, sys}, {1, 2, sys}, {1, 3, sys}, {2, 3, sys}}},
      {"rtx4090x2-sameswitch", 2, {"uplink0"}, {{0, 1, pix}}},
      {"rtx4090x4-2switch", 4, {"uplink0", "uplink1"}, {{0, 1, pix}, {1, 2, node}, {2, 3, pix}}},
      {"rtx4090x8-2socket-nop2p", 8, {"xgmi0"}, {{0, 3, node}, {3, 4, sys}, {4, 7, node}}},
      {"rtx4090x8-2socket-p2p", 8, {"xgmi0"}, {{0, 3, node}, {3, 4, sys}, {4, 7, node}}},
      {"l40sx2", 2, {}, {{0, 1, node}}},
      {"l40sx4", 4, {"upi0"}, {{0, 1, node}, {1, 2, sys}, {2, 3, node}}},
      {"rtxpro6000x8-2switch", 8, {"uplink0", "uplink1"}, {{0, 3, pix}, {3, 4, node}, {4, 7, pix}}},
      {"rtx5090x4", 4, {}, {{0, 1, node}, {0, 3, node}}},
      {"rtx5090x8", 8, {"upi0"}, {{0, 3, node}, {3, 4, sys}, {4, 7, node}}},
      {"rtx2080tix2-switch", 2, {"uplink0"}, {{0, 1, pix}}},
      {"h200x2-nvlink-vm", 2, {"nv01"}, {{0, 1, nvl}}},
      {"dgx1-v100",
       8,
       {"uplink0", "uplink1", "uplink2", "uplink3", "nic0", "nic1", "nic2", "nic3", "nv01",
        "nv02",    "nv03",    "nv04",    "nv12",    "nv13", "nv15", "nv23", "nv26", "nv37",
        "nv45",    "nv46",    "nv47",    "nv56",    "nv57", "nv67", "qpi0"},
       {{0, 4, nvl}, {0, 5, sys}, {0, 7, sys}, {2, 6, nvl}, {3, 4, sys}, {6, 7, nvl}}},
      {"hgx-h100x8",
       8,
       {"uplink0", "uplink1", "uplink2", "uplink3", "uplink4", "uplink5", "uplink6", "uplink7", "nic0",
        "nic1",    "nic2",    "nic3",    "nic4",    "nic5",    "nic6",    "nic7",    "nv0",     "nv1",
        "nv2",     "nv3",     "nv4",     "nv5",     "nv6",     "nv7",     "upi0"},
       {{0, 1, nvl}, {0, 7, nvl}}},
      {"epycx8-direct", 8, {"xgmi0"}, {{0, 3, node}, {3, 4, sys}, {4, 7, node}}},
  };
  return table;
}

TEST(Shipped, EachMachineOfTheContractHasItsGpusLinksAndDistances) {
  for (const Layout& layout : layouts()) {
    SCOPED_TRACE(layout.machine);
    const Machine machine = load_machine(layout.machine);
    EXPECT_EQ(machine.gpus.size(), layout.gpus);
    EXPECT_EQ(machine.links.size(), layout.gpus + layout.other_links.size());
    for (const std::string& link : layout.other_links) EXPECT_NE(find_link(machine, link), nullptr) << link;
    for (const auto& [a, b, expected] : layout.pairs) {
      EXPECT_EQ(to_string(distance(machine, a, b)), std::string(to_string(expected))) << a << " and " << b;
    }
  }
}

TEST(Shipped, TheTableOfLayoutsCoversEveryShippedMachine) {
  std::vector<std::string> expected;
  for (const Layout& layout : layouts()) expected.push_back(layout.machine);
  std::sort(expected.begin(), expected.end());
  std::vector<std::string> names = shipped_machines();
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, expected);
}

TEST(Shipped, GeForceCardsHavePeerAccessWithThePatchedDriverOnly) {
  for (const Layout& layout : layouts()) {
    const Machine machine = load_machine(layout.machine);
    if (machine.gpus[0].model.find("GeForce") == std::string::npos) continue;
    EXPECT_EQ(peer_access(machine, 0, 1, Distance::sys).allowed, layout.machine == "rtx4090x8-2socket-p2p")
        << layout.machine;
  }
}

TEST(Shipped, ThePatchedAndTheStockEightCardHostHaveTheSameLinks) {
  const Machine patched = load_machine("rtx4090x8-2socket-p2p");
  const Machine stock = load_machine("rtx4090x8-2socket-nop2p");
  ASSERT_EQ(patched.links.size(), stock.links.size());
  for (std::size_t i = 0; i < patched.links.size(); ++i) {
    EXPECT_EQ(patched.links[i].name, stock.links[i].name);
    EXPECT_EQ(patched.links[i].from, stock.links[i].from);
    EXPECT_EQ(patched.links[i].rate, stock.links[i].rate);
    EXPECT_EQ(patched.links[i].width, stock.links[i].width);
  }
}

TEST(Shipped, TheCubeMeshGivesEachV100SixLinksAndARingOfDoubleOnes) {
  const Machine machine = load_machine("dgx1-v100");
  std::vector<int> links_of(machine.gpus.size());
  for (const Link& link : machine.links) {
    if (link.kind != LinkKind::nvlink) continue;
    links_of[static_cast<std::size_t>(link.from.index)] += link.count;
    links_of[static_cast<std::size_t>(link.to.index)] += link.count;
  }
  EXPECT_EQ(links_of, std::vector<int>(8, 6));
  const std::vector<int> ring{0, 3, 2, 1, 5, 6, 7, 4};
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const int next = ring[(i + 1) % ring.size()];
    const auto link = std::find_if(machine.links.begin(), machine.links.end(),
                                   [&](const Link& l) { return joins(l, ring[i], next); });
    ASSERT_NE(link, machine.links.end()) << ring[i] << " to " << next;
    EXPECT_EQ(link->count, 2) << link->name;
  }
}

TEST(Shipped, EachH100HasEighteenLinksToTheSwitchAndAnAdapterBesideIt) {
  const Machine machine = load_machine("hgx-h100x8");
  ASSERT_EQ(machine.nics.size(), 8U);
  for (int i = 0; i < 8; ++i) {
    const Link* nvlink = find_link(machine, "nv" + std::to_string(i));
    ASSERT_NE(nvlink, nullptr);
    EXPECT_EQ(nvlink->from, (NodeId{NodeKind::gpu, i}));
    EXPECT_EQ(nvlink->count, 18);
    EXPECT_EQ(find_link(machine, "gpu" + std::to_string(i))->from,
              find_link(machine, "nic" + std::to_string(i))->from);
  }
}

TEST(LoadMachine, AnUnknownNameIsAnsweredWithTheNearestOne) {
  const std::string message = refusal([] { load_machine("l40sx3"); });
  EXPECT_EQ(message.substr(0, message.find(" the shipped")),
            "there is no machine `l40sx3`\n  mend: did you mean `l40sx2`?");
}

TEST(LoadMachine, ALineIsAMachineUnlessAFileIsCalledSo) {
  EXPECT_EQ(load_machine("2x(sw:4xgpu)@gen4x16").gpus.size(), 8U);
  EXPECT_EQ(load_machine("2xcpu(4xgpu@gen4x8/gen4x16) ~20GB/s").cpus.size(), 2U);
  EXPECT_EQ(refusal([] { load_machine("2x(swi:4xgpu)"); }),
            "there is no part `swi`\n  at 2x(swi:4xgpu)\n        ^\n  mend: did you mean `sw`?");
  EXPECT_EQ(refusal([] { machine_path("8xgpu"); }),
            "`8xgpu` is a one-line machine, which has no file\n  mend: write it to one with `topo export`");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(testing::TempDir());
  std::ofstream("8xgpu") << write_machine(load_machine("l40sx2"));
  EXPECT_EQ(load_machine("8xgpu").name, "l40sx2");
  std::remove("8xgpu");
  std::filesystem::current_path(before);
}

TEST(LoadMachine, TheValuesOfALineHavePlacesInTheFileThatItWouldBe) {
  const MachineDocument document = load_machine_document("2xgpu@gen5");
  EXPECT_EQ(document.file, "one-line.yaml");
  EXPECT_EQ(document.machine.gpus.size(), 2U);
  EXPECT_EQ(document.positions.count("links[0].rate"), 1U);
  EXPECT_EQ(load_machine_document("l40sx2").machine.name, "l40sx2");
}

TEST(LoadMachine, APathIsReadAsAFile) {
  const std::string path = testing::TempDir() + "/lanecast_shipped_test.yaml";
  std::ofstream(path) << write_machine(load_machine("l40sx2"));
  EXPECT_EQ(load_machine(path).name, "l40sx2");
  std::remove(path.c_str());
  EXPECT_EQ(refusal([] { load_machine("./l40sx2"); }).substr(0, 24), "cannot read `./l40sx2`: ");
}

TEST(DataDirectory, TheEnvironmentComesFirst) {
  const std::string before = std::getenv("LANECAST_DATA") != nullptr ? std::getenv("LANECAST_DATA") : "";
  const std::string folder = testing::TempDir() + "/lanecast_data_test";
  std::filesystem::create_directories(folder + "/machines");
  setenv("LANECAST_DATA", folder.c_str(), 1);
  EXPECT_EQ(data_directory(), folder);
  EXPECT_TRUE(shipped_machines().empty());
  std::filesystem::remove_all(folder);
  EXPECT_EQ(refusal([] { data_directory(); }),
            "LANECAST_DATA has no folder `machines`\n  at " + folder +
                "\n  mend: let it name the folder that holds `machines`, or unset it");
  unsetenv("LANECAST_DATA");
  if (!before.empty()) setenv("LANECAST_DATA", before.c_str(), 1);
}

}  // namespace
}  // namespace lanecast
