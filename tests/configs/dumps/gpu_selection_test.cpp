#include <gtest/gtest.h>

#include "configs/dumps/machine_items.hpp"
#include "tests/support/facts_builder.hpp"

namespace lanecast {
namespace {

using support::FactsBuilder;

Items select(const FactsBuilder& built) {
  OriginBook book;
  return select_devices(built.facts, book);
}

TEST(GpuSelection, BesideNvidiasGpusOtherDisplaysAreLeftOut) {
  FactsBuilder built;
  built.bare_gpu("0000:01:00.0");
  PciFacts& display = built.device("0000:05:00.0");
  display.class_code.add(0x030000, "dump");
  display.vendor.add(0x1002, "dump");
  EXPECT_EQ(select(built).gpus.size(), 1U);
  display.gpu_model.add("AMD Instinct MI210", "dump");
  EXPECT_EQ(select(built).gpus.size(), 2U) << "a dump speaks of it as of a GPU";
}

TEST(GpuSelection, AnAmdDisplayAloneIsAGpu) {
  FactsBuilder built;
  PciFacts& card = built.device("0000:05:00.0");
  card.class_code.add(0x038000, "dump");
  card.vendor.add(0x1002, "dump");
  EXPECT_EQ(select(built).gpus.size(), 1U);
}

TEST(GpuSelection, OneGpuACard) {
  FactsBuilder built;
  built.bare_gpu("0000:01:00.0", "");
  built.bare_gpu("0000:01:00.4", "");
  built.bare_gpu("0000:01:01.0", "").name.add("NVIDIA Corporation GA102GL [A40] Virtual Function", "dump");
  EXPECT_EQ(select(built).gpus.size(), 1U) << "virtual functions of a vGPU host";
}

TEST(GpuSelection, FunctionsWithoutAnyDescriptionAreGpusWhereTheyComeInEqualGroups) {
  // As in a cloud's topology file: nine bare addresses, four in one NUMA node, five in the other.
  FactsBuilder built;
  for (const char* device : {"16", "17", "18", "19"})
    built.device("0000:00:" + std::string(device) + ".0").numa.add(0, "dump");
  for (const char* device : {"15", "1a", "1b", "1c", "1d"})
    built.device("0000:00:" + std::string(device) + ".0").numa.add(1, "dump");
  OriginBook book;
  const Items items = select_devices(built.facts, book);
  ASSERT_EQ(items.gpus.size(), 8U);
  EXPECT_EQ(items.gpus.front().address, "0000:00:16.0");
  EXPECT_TRUE(items.adapters.empty());
  ImportedMachine result;
  book.hand_over(result);
  ASSERT_EQ(result.notes.size(), 1U);
  EXPECT_NE(result.notes[0].find("leaves out 0000:00:15.0"), std::string::npos);
}

TEST(GpuSelection, BareFunctionsAreNoGpusWhereOthersAre) {
  FactsBuilder built;
  built.bare_gpu("0000:01:00.0");
  built.device("0000:00:1f.0").numa.add(0, "dump");
  EXPECT_EQ(select(built).gpus.size(), 1U);
}

TEST(GpuSelection, VirtualAdaptersCountOnlyWithoutTheirCard) {
  FactsBuilder built;
  built.adapter("0000:41:00.0", "");
  built.adapter("0000:41:00.2", "")
      .name.add("Mellanox Technologies ConnectX Family mlx5Gen Virtual Function", "dump");
  built.adapter("0000:41:01.0", "")
      .name.add("Mellanox Technologies ConnectX Family mlx5Gen Virtual Function", "dump");
  EXPECT_EQ(select(built).adapters.size(), 1U);
  FactsBuilder guest;
  guest.adapter("0000:00:05.0", "")
      .name.add("Mellanox Technologies ConnectX Family mlx5Gen Virtual Function", "dump");
  EXPECT_EQ(select(guest).adapters.size(), 1U) << "all that a guest sees";
}

TEST(GpuSelection, GpusThatOnlyNumbersShowAreThoseOfTheMachine) {
  FactsBuilder built;
  built.facts.numbered_gpus[0].add("NVIDIA L40S", "smi.txt:1");
  built.facts.numbered_gpus[1].add("NVIDIA L40S", "smi.txt:2");
  const Machine machine = built.machine().machine;
  ASSERT_EQ(machine.gpus.size(), 2U);
  EXPECT_EQ(machine.gpus[1].model, "NVIDIA L40S");
  built.bare_gpu("0000:01:00.0", "");
  built.bare_gpu("0000:02:00.0", "");
  EXPECT_EQ(built.machine().machine.gpus[1].model, "NVIDIA L40S") << "numbers go by addresses";
}

}  // namespace
}  // namespace lanecast
