#include <gtest/gtest.h>

#include <string>

#include "configs/dumps/readers.hpp"

namespace lanecast {
namespace {

using namespace literals;

MachineFacts facts_of(const std::string& text) {
  MachineFacts facts;
  read_nvidia_smi_csv(text, "box.csv", facts);
  return facts;
}

template <class T>
T only(const Statements<T>& statements) {
  EXPECT_EQ(statements.all().size(), 1U);
  return statements.empty() ? T{} : statements.all()[0].value;
}

const std::string two_gpus =
    "index, pci.bus_id, pcie.link.gen.current, pcie.link.gen.max, pcie.link.gen.gpumax, "
    "pcie.link.gen.hostmax, "
    "pcie.link.width.current, pcie.link.width.max, pstate, memory.total [MiB], driver_version, timestamp, "
    "compute_cap, "
    "uuid, name\n"
    "0, 00000000:3B:00.0, 1, 4, 5, 4, 8, 16, P8, 24564 MiB, 550.54.14, 2024/03/04 10:20:30.123, 8.9, GPU-1, "
    "Example 90\n"
    "1, 00000000:D8:00.0, 4, 4, 5, [N/A], 16, 16, P0, 24564 MiB, 550.54.14, 2024/03/04 10:20:30.456, 8.9, "
    "GPU-2, "
    "Example 90\n";

TEST(NvidiaSmiCsv, TheHeaderTellsWhatAFieldIs) {
  const MachineFacts facts = facts_of(two_gpus);
  const PciFacts& gpu = facts.devices.at("0000:3b:00.0");
  EXPECT_EQ(only(gpu.gpu_index), 0);
  EXPECT_EQ(only(gpu.rate), PcieRate::gen1);
  EXPECT_EQ(only(gpu.link_max_rate), PcieRate::gen4);
  EXPECT_EQ(only(gpu.max_rate), PcieRate::gen5);
  EXPECT_EQ(only(gpu.host_max_rate), PcieRate::gen4);
  EXPECT_EQ(only(gpu.width), 8);
  EXPECT_EQ(only(gpu.link_max_width), 16);
  EXPECT_TRUE(only(gpu.asleep));
  EXPECT_EQ(only(gpu.memory), 24564_MiB);
  EXPECT_EQ(only(gpu.sm), 89);
  EXPECT_EQ(only(gpu.gpu_model), "Example 90");
  EXPECT_EQ(gpu.rate.all()[0].from, "box.csv:2 (pcie.link.gen.current)");
  EXPECT_TRUE(facts.devices.at("0000:d8:00.0").host_max_rate.empty());
  EXPECT_EQ(only(facts.driver), "550.54.14");
  EXPECT_EQ(only(facts.taken), "2024-03-04T10:20:30");
  EXPECT_TRUE(facts.numbered_gpus.empty());
}

TEST(NvidiaSmiCsv, ReadsFieldsInAnyOrderWithoutUnits) {
  const MachineFacts facts = facts_of(
      "$ nvidia-smi --query-gpu=... --format=csv,nounits\r\nname, memory.total [MiB], pci.bus_id\r\n"
      "Example 90, 24564, 00000000:3B:00.0\r\n$\r\n");
  EXPECT_EQ(only(facts.devices.at("0000:3b:00.0").memory), 24564_MiB);
  EXPECT_TRUE(facts.devices.at("0000:3b:00.0").gpu_index.empty());
}

TEST(NvidiaSmiCsv, NumbersGpusThatHaveNoAddress) {
  const MachineFacts facts =
      facts_of("index, name, memory.total [MiB]\n0, Example 90, 24564 MiB\n1, Example 80, 8192 MiB\n");
  EXPECT_TRUE(facts.devices.empty());
  ASSERT_EQ(facts.numbered_gpus.size(), 2U);
  EXPECT_EQ(only(facts.numbered_gpus.at(1)), "Example 80");
}

TEST(NvidiaSmiCsv, GoesOnBehindAGpuThatCannotBeReached) {
  MachineFacts facts;
  EXPECT_EQ(read_nvidia_smi_csv(
                "index, pci.bus_id\n0, 00000000:01:00.0\nUnable to determine the device handle for GPU1: "
                "0000:02:00.0: Unknown Error\n2, 00000000:03:00.0\n",
                "box.csv", facts),
            2);
  EXPECT_EQ(only(facts.devices.at("0000:03:00.0").gpu_index), 2);
}

TEST(NvidiaSmiCsv, TakesNothingWithoutAHeaderThatNamesGpus) {
  for (const char* text : {"0, 00000000:3B:00.0, Example 90\n", "size, count, index\n8, 2, 0\n",
                           "index, b\n0, 1\n", "index\n0\n", "a, pcie.link.gen.max\n0, 4\n"}) {
    MachineFacts facts;
    EXPECT_EQ(read_nvidia_smi_csv(text, "box.csv", facts), 0) << text;
    EXPECT_TRUE(facts.devices.empty() && facts.numbered_gpus.empty()) << text;
  }
}

TEST(NvidiaSmiCsv, TakesNothingFromARowOfAnotherLength) {
  for (const char* row :
       {"0, 00000000:3B:00.0, 4, 16, 1", "0, 00000000:3B:00.0, 4, 16, 1\n", "0, 00000000:3B:00.0\n"}) {
    const MachineFacts facts =
        facts_of(std::string("index, pci.bus_id, pcie.link.gen.current, pcie.link.width.current\n") + row);
    EXPECT_TRUE(facts.devices.empty()) << row;
  }
}

TEST(NvidiaSmiCsv, StopsAtALineOfAnotherShape) {
  const MachineFacts facts = facts_of("index, pci.bus_id\n0, 00000000:3B:00.0\n\n1, 00000000:D8:00.0\n");
  EXPECT_EQ(facts.devices.size(), 1U);
}

TEST(NvidiaSmiCsv, TakesANameAtTheVeryEndOnlyWhereAnotherRowConfirmsIt) {
  const std::string rows =
      "index, pci.bus_id, name\n0, 00000000:3B:00.0, Example 90\n1, 00000000:D8:00.0, Example ";
  EXPECT_EQ(only(facts_of(rows + "90").devices.at("0000:d8:00.0").gpu_model), "Example 90");
  EXPECT_TRUE(facts_of(rows + "9").devices.at("0000:d8:00.0").gpu_model.empty()) << "it may be cut";
  EXPECT_EQ(only(facts_of(rows + "9\n").devices.at("0000:d8:00.0").gpu_model), "Example 9");
}

TEST(NvidiaSmiCsv, NeverStatesAFalseValueWhereTheTextIsCut) {
  const MachineFacts whole = facts_of(two_gpus);
  for (std::size_t length = 0; length < two_gpus.size(); ++length) {
    SCOPED_TRACE(length);
    const MachineFacts facts = facts_of(two_gpus.substr(0, length));
    for (const auto& [address, cut] : facts.devices) {
      ASSERT_EQ(whole.devices.count(address), 1U) << address;
      const PciFacts& gpu = whole.devices.at(address);
      for (const auto& each : cut.gpu_index.all()) EXPECT_EQ(each.value, only(gpu.gpu_index));
      for (const auto& each : cut.rate.all()) EXPECT_EQ(each.value, only(gpu.rate));
      for (const auto& each : cut.width.all()) EXPECT_EQ(each.value, only(gpu.width));
      for (const auto& each : cut.link_max_width.all()) EXPECT_EQ(each.value, only(gpu.link_max_width));
      for (const auto& each : cut.memory.all()) EXPECT_EQ(each.value, only(gpu.memory));
      for (const auto& each : cut.sm.all()) EXPECT_EQ(each.value, only(gpu.sm));
      for (const auto& each : cut.gpu_model.all()) EXPECT_EQ(each.value, only(gpu.gpu_model));
    }
  }
}

}  // namespace
}  // namespace lanecast
