#include "configs/dumps/assumed_values.hpp"

#include <gtest/gtest.h>

namespace lanecast {
namespace {

TEST(AssumedValues, FamiliesAreFoundByWholeWords) {
  EXPECT_EQ(gpu_family("NVIDIA A10")->sm, 86);
  EXPECT_EQ(gpu_family("NVIDIA A100-SXM4-80GB")->sm, 80);
  EXPECT_EQ(gpu_family("NVIDIA L40S")->l2, Bytes(std::uint64_t{96} << 20));
  EXPECT_EQ(gpu_family("NVIDIA L4")->sm, 89);
  EXPECT_EQ(gpu_family("NVIDIA RTX 6000 Ada Generation")->sm, 89);
  EXPECT_EQ(gpu_family("Quadro RTX 6000")->sm, 75);
  EXPECT_EQ(gpu_family("NVIDIA RTX PRO 6000 Blackwell Server Edition")->sm, 120);
  EXPECT_EQ(gpu_family("NVIDIA GeForce RTX 3090 Ti")->nvlinks, 4);
  EXPECT_FALSE(gpu_family("unknown (10de:25b2)").has_value());
  EXPECT_FALSE(gpu_family("").has_value());
}

TEST(AssumedValues, GenerationsFollowTheFamilyElseTheCapability) {
  EXPECT_EQ(assumed_gpu_rate("Tesla V100-PCIE-16GB", 70).value, PcieRate::gen3);
  EXPECT_EQ(assumed_gpu_rate("NVIDIA L40S", 89).value, PcieRate::gen4);
  EXPECT_EQ(assumed_gpu_rate("NVIDIA B200", 100).value, PcieRate::gen5);
  EXPECT_EQ(assumed_gpu_rate("unknown", 75).value, PcieRate::gen3);
  EXPECT_EQ(assumed_gpu_rate("unknown", 120).value, PcieRate::gen5);
  EXPECT_EQ(assumed_gpu_rate("unknown", 0).value, PcieRate::gen4);
}

TEST(AssumedValues, SocketLinksAreThoseOfMeasuredMachines) {
  // facts.md C9: Turin 50, Genoa 39, Milan and Rome 20 GB/s, Xeons of 2023 22 to 40.
  EXPECT_EQ(assumed_host_rates("amd", CpuId{0x1a, 0x02}).socket, BytesPerSecond(50e9));
  EXPECT_EQ(assumed_host_rates("amd", CpuId{0x19, 0x11}).socket, BytesPerSecond(39e9));
  EXPECT_EQ(assumed_host_rates("amd", CpuId{0x19, 0x01}).socket, BytesPerSecond(20e9));
  EXPECT_EQ(assumed_host_rates("amd", CpuId{0x17, 0x31}).socket, BytesPerSecond(20e9));
  const double xeon = assumed_host_rates("intel", CpuId{6, 0x8f}).socket.value();
  EXPECT_GE(xeon, 22e9);
  EXPECT_LE(xeon, 40e9);
  EXPECT_EQ(assumed_host_rates("unknown", std::nullopt).socket, BytesPerSecond(20e9));
}

TEST(AssumedValues, EveryRuleHasWords) {
  EXPECT_FALSE(assumed_gpu_rate("", 0).rule.empty());
  EXPECT_FALSE(assumed_nvlink_rate("", 0).rule.empty());
  EXPECT_FALSE(assumed_adapter("").rule.empty());
  EXPECT_FALSE(assumed_host_rates("", std::nullopt).rule.empty());
}

TEST(AssumedValues, AdaptersAreFoundByProductAndByChip) {
  EXPECT_EQ(assumed_adapter("Mellanox Technologies MT2910 Family [ConnectX-7]").rate, BytesPerSecond(50e9));
  EXPECT_EQ(assumed_adapter("Mellanox Technologies MT27800 Family").link, PcieRate::gen3);
  EXPECT_EQ(assumed_adapter("eth0").rate, BytesPerSecond(12.5e9));
}

}  // namespace
}  // namespace lanecast
