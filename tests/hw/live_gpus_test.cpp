#include "cli/live_gpus.hpp"

#include <gtest/gtest.h>

namespace lanecast {
namespace {

template <class T>
std::optional<T> only(const Statements<T>& statements) {
  if (statements.all().size() != 1) return std::nullopt;
  return statements.all().front().value;
}

constexpr const char* kFirst = "0000:3b:00.0";
constexpr const char* kSecond = "0000:3c:00.0";

TEST(LiveGpus, TakeWhatTheManagementLibrarySays) {
  MachineFacts facts;
  add_nvml_facts(discover_nvml_devices(FAKE_NVML), facts);
  ASSERT_EQ(facts.devices.count(kFirst), 1U);
  const PciFacts& gpu = facts.devices.at(kFirst);
  EXPECT_EQ(only(gpu.gpu_index), 0);
  EXPECT_EQ(only(gpu.gpu_model), "Example Accelerator 900");
  EXPECT_EQ(only(gpu.rate), PcieRate::gen5);
  EXPECT_EQ(only(gpu.width), 16);
  EXPECT_EQ(only(gpu.max_rate), PcieRate::gen5) << "the card's own";
  EXPECT_EQ(only(gpu.link_max_rate), PcieRate::gen4) << "with its slot";
  EXPECT_EQ(only(gpu.replays), 41U);
  EXPECT_TRUE(gpu.asleep.empty());
  EXPECT_EQ(only(facts.devices.at(kSecond).asleep), true) << "it idles in P8";
  EXPECT_EQ(only(facts.driver), "580.00.01");
}

TEST(LiveGpus, LetLinksAsSysfsStatesThemStand) {
  MachineFacts facts;
  facts.devices[kFirst].rate.add(PcieRate::gen4, "sysfs");
  add_nvml_facts(discover_nvml_devices(FAKE_NVML), facts);
  EXPECT_EQ(only(facts.devices.at(kFirst).rate), PcieRate::gen4);
}

TEST(LiveGpus, CountNvlinksInFactsAndMatrixAlike) {
  MachineFacts facts;
  add_nvml_facts(discover_nvml_devices(FAKE_NVML), facts);
  ASSERT_EQ(facts.nvlinks.size(), 2U);
  EXPECT_EQ(facts.nvlinks[0].to, kSecond);
  EXPECT_EQ(facts.nvlinks[0].count, 2);
  EXPECT_EQ(facts.nvlinks[1].to, "") << "a switch";
  ASSERT_EQ(facts.matrices.size(), 1U);
  EXPECT_EQ(facts.matrices[0].addresses, (std::vector<std::string>{kFirst, kSecond}));
  EXPECT_EQ(facts.matrices[0].cells[0][1].nvlinks, 2);
  EXPECT_EQ(facts.matrices[0].cells[0][1].distance, Distance::phb);
  EXPECT_EQ(facts.matrices[0].cells[0][0].distance, Distance::loc);
  ASSERT_EQ(facts.notes.size(), 1U);
  EXPECT_NE(facts.notes[0].find("NVLinks of the GPU at 0000:3b:00.0 that are down: 1"), std::string::npos);
}

TEST(LiveGpus, TakePeerAccessAndCapabilitiesFromCuda) {
  CudaDevices found;
  found.devices = {{"0000:3B:00.0", "Example", 90, Bytes(1 << 30), Bytes(50 << 20)},
                   {"0000:3C:00.0", "Example", 90, Bytes(1 << 30), Bytes(50 << 20)}};
  found.pairs = {{{}, {true, 1, true}}, {{false, 0, false}, {}}};
  MachineFacts facts;
  facts.devices[kSecond].memory.add(Bytes(3 << 20), "NVML");
  add_cuda_facts(found, {true, false}, facts);
  EXPECT_EQ(only(facts.devices.at(kFirst).sm), 90);
  EXPECT_EQ(only(facts.devices.at(kFirst).l2), Bytes(50 << 20));
  EXPECT_EQ(only(facts.devices.at(kFirst).asleep), false) << "it was kept awake";
  EXPECT_TRUE(facts.devices.at(kSecond).asleep.empty());
  EXPECT_EQ(only(facts.devices.at(kSecond).memory), Bytes(3 << 20))
      << "the two count reserved memory differently";
  EXPECT_TRUE(facts.peer_access.at({kFirst, kSecond}).value);
  EXPECT_FALSE(facts.peer_access.at({kSecond, kFirst}).value);
}

TEST(LiveGpus, SayNothingOfNvidiasDriverWhereAllGpusAreOfAnotherVendor) {
  if (discover_cuda_devices().problem.empty()) GTEST_SKIP() << "this machine has NVIDIA's driver";
  MachineFacts facts;
  facts.devices["0000:3b:00.0"].class_code.add(0x120000, "sysfs");
  facts.devices["0000:3b:00.0"].vendor.add(0x1002, "sysfs");
  add_live_gpus({}, facts);
  EXPECT_TRUE(facts.notes.empty());
}

TEST(LiveGpus, AnswerOnAnyMachine) {
  MachineFacts facts;
  add_live_gpus({}, facts);
  EXPECT_TRUE(!facts.notes.empty() || !facts.devices.empty());
}

}  // namespace
}  // namespace lanecast
