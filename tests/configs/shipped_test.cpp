#include "configs/shipped.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "configs/machine_writer.hpp"
#include "tests/configs/refusal.hpp"

namespace lanecast {
namespace {

const Link* find_link(const Machine& machine, const std::string& name) {
  for (const Link& link : machine.links) {
    if (link.name == name) return &link;
  }
  return nullptr;
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

TEST(Shipped, MachinesOfTheContractAreThere) {
  const std::vector<std::string> names = shipped_machines();
  for (const char* name : {"v100x2-pcie3-switch", "v100x2-pcie3-sockets-nop2p", "v100x4-pcie3-2switch",
                           "a100x8-pcie4-shared-port", "rtxpro6000x8-2switch", "l40sx2", "h200x2-nvlink-vm",
                           "rtx4090x8-2socket-nop2p"}) {
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
  }
}

TEST(LoadMachine, AnUnknownNameIsAnsweredWithTheNearestOne) {
  const std::string message = refusal([] { load_machine("l40sx3"); });
  EXPECT_EQ(message.substr(0, message.find(" the shipped")),
            "there is no machine `l40sx3`\n  mend: did you mean `l40sx2`?");
}

TEST(LoadMachine, AOneLineSyntheticMachineIsNotReadYet) {
  EXPECT_EQ(refusal([] { load_machine("2x(sw:4xgpu)@gen4x16"); }),
            "`2x(sw:4xgpu)@gen4x16` looks like a one-line synthetic machine, which is not read yet\n"
            "  mend: it comes with `topo`; until then write a YAML file (docs/machine-file.md)");
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
