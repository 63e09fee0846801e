#include "hw/nvml_discovery.hpp"

#include <gtest/gtest.h>

namespace lanecast {
namespace {

TEST(NvmlDiscovery, ReadsWhatTheManagementLibrarySaysOfEachGpu) {
  const NvmlDevices found = discover_nvml_devices(FAKE_NVML);
  EXPECT_EQ(found.problem, "");
  EXPECT_EQ(found.driver, "580.00.01");
  ASSERT_EQ(found.devices.size(), 2U) << "the third is lost";
  const NvmlDevice& gpu = found.devices[0];
  EXPECT_EQ(gpu.bus_id, "00000000:3B:00.0");
  EXPECT_EQ(gpu.vendor, 0x10deU);
  EXPECT_EQ(gpu.device, 0x2335U);
  EXPECT_EQ(gpu.name, "Example Accelerator 900");
  EXPECT_EQ(gpu.memory, Bytes(std::uint64_t{80} << 30));
  EXPECT_EQ(gpu.bar1, Bytes(std::uint64_t{128} << 30));
  EXPECT_EQ(gpu.rate, PcieRate::gen5);
  EXPECT_EQ(gpu.width, 16);
  EXPECT_EQ(gpu.device_max_rate, PcieRate::gen5);
  EXPECT_EQ(gpu.max_rate, PcieRate::gen4);
  EXPECT_EQ(gpu.max_width, 16);
  EXPECT_EQ(gpu.performance_state, 0);
  EXPECT_EQ(gpu.replays, 41U);
}

TEST(NvmlDiscovery, CountsNvlinksByWhereTheyEnd) {
  const NvmlDevices found = discover_nvml_devices(FAKE_NVML);
  ASSERT_EQ(found.devices.size(), 2U);
  const NvmlDevice& gpu = found.devices[0];
  ASSERT_EQ(gpu.nvlinks.size(), 2U);
  EXPECT_FALSE(gpu.nvlinks[0].to_switch);
  EXPECT_EQ(gpu.nvlinks[0].remote_bus_id, "00000000:3C:00.0");
  EXPECT_EQ(gpu.nvlinks[0].count, 2);
  EXPECT_TRUE(gpu.nvlinks[1].to_switch);
  EXPECT_EQ(gpu.nvlinks[1].count, 1);
  EXPECT_EQ(gpu.nvlinks_down, 1);
  EXPECT_EQ(gpu.nvlink_version, 4);
  EXPECT_EQ(gpu.nvlink_rate, BytesPerSecond(26.562e9));
  EXPECT_TRUE(found.devices[1].nvlinks.empty());
}

TEST(NvmlDiscovery, LeavesOutWhatACallDoesNotAnswer) {
  const NvmlDevices found = discover_nvml_devices(FAKE_NVML);
  ASSERT_EQ(found.devices.size(), 2U);
  const NvmlDevice& gpu = found.devices[1];
  EXPECT_EQ(gpu.width, std::nullopt) << "x3 is no width";
  EXPECT_EQ(gpu.max_width, std::nullopt);
  EXPECT_EQ(gpu.replays, std::nullopt);
  EXPECT_EQ(gpu.performance_state, 8);
  EXPECT_EQ(found.pairs[0][1].distance, Distance::phb);
  EXPECT_EQ(found.pairs[0][1].peer_read, std::nullopt) << "this library lacks the function";
  EXPECT_EQ(found.pairs[0][0].distance, std::nullopt);
}

TEST(NvmlDiscovery, SaysWhyThereAreNone) {
  EXPECT_EQ(discover_nvml_devices("libno-such-library.so").problem,
            "NVIDIA's management library (libno-such-library.so) is not installed");
  EXPECT_EQ(discover_nvml_devices(FAKE_NVML_WITHOUT_DRIVER).problem, "NVIDIA's driver is not loaded");
}

TEST(NvmlDiscovery, AnswersOnAnyMachine) {
  const NvmlDevices found = discover_nvml_devices();
  EXPECT_EQ(found.devices.empty(), !found.problem.empty()) << found.problem;
  EXPECT_EQ(found.pairs.size(), found.devices.size());
}

}  // namespace
}  // namespace lanecast
