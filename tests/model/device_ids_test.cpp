#include <gtest/gtest.h>

#include "model/implementation/nccl/version_rules.hpp"
#include "model/topology/cpu_ids.hpp"
#include "model/topology/gpu_ids.hpp"

namespace lanecast {
namespace {

TEST(GpuIds, GiveModelAndCapability) {
  const auto gpu = known_gpu({0x10de, 0x2335});
  ASSERT_TRUE(gpu);
  EXPECT_EQ(gpu->model, "NVIDIA H200");
  EXPECT_EQ(gpu->sm, 90);
  EXPECT_EQ(gpu_model_of(0x1002, 0x740f), "AMD Instinct MI210");
  EXPECT_EQ(known_gpu({0x1002, 0x740f})->sm, 0);
  EXPECT_FALSE(gpu_model_of(0x1002, 0x2335));
  EXPECT_FALSE(pci_id_of_gpu("NVIDIA H200 but not quite"));
}

TEST(GpuIds, ModelsLeadBackToTheirGpu) {
  for (std::uint32_t device = 0; device <= 0xffff; ++device) {
    for (const std::uint32_t vendor : {0x10deu, 0x1002u}) {
      const auto model = gpu_model_of(vendor, device);
      if (!model) continue;
      const auto id = pci_id_of_gpu(*model);
      ASSERT_TRUE(id);
      EXPECT_EQ(gpu_model_of(id->vendor, id->device), model) << *model;
    }
  }
}

TEST(CpuIds, NcclsFamilyIsBasePlusSixteenTimesTheExtendedOne) {
  EXPECT_EQ(cpu_id_from_nccl(175, 17), (CpuId{0x19, 0x11}));
  EXPECT_EQ(cpu_id_from_nccl(143, 49), (CpuId{0x17, 0x31}));
  EXPECT_EQ(cpu_id_from_nccl(191, 2), (CpuId{0x1a, 2}));
  EXPECT_EQ(cpu_id_from_nccl(6, 143), (CpuId{6, 0x8f}));
  EXPECT_EQ(cpu_id_from_nccl(23, 49), (CpuId{0x17, 0x31})) << "Azure's file has the family itself";
  for (int family = 0; family <= 0x2f; ++family) {
    EXPECT_EQ(cpu_id_from_nccl(nccl_familyid({family, 1}), 1).family, family);
  }
}

TEST(CpuIds, GenerationsLeadBackToTheirNumbers) {
  for (const char* vendor : {"amd", "intel"}) {
    for (int family : {6, 0x17, 0x19, 0x1a}) {
      for (int model = 0; model <= 0xff; ++model) {
        const std::string text = cpu_model_of(vendor, {family, model});
        if (text.find("family") != std::string::npos) continue;
        EXPECT_EQ(cpu_id_of(vendor, text), (CpuId{family, model})) << text;
      }
    }
  }
  EXPECT_EQ(cpu_model_of("amd", {0x19, 0x75}), "AMD family 0x19, model 0x75");
}

TEST(CpuIds, NamesOfOtherToolsGiveTheGenerationAway) {
  EXPECT_EQ(cpu_id_of("amd", "AMD EPYC 9575F 64-Core Processor"), (CpuId{0x1a, 0x02}));
  EXPECT_EQ(cpu_id_of("amd", "AMD EPYC 7763 64-Core Processor"), (CpuId{0x19, 0x01}));
  EXPECT_EQ(cpu_id_of("amd", "AMD EPYC 7302"), (CpuId{0x17, 0x31}));
  EXPECT_EQ(cpu_id_of("amd", "AMD Ryzen Threadripper PRO 7955WX 16-Cores"), (CpuId{0x19, 0x18}));
  EXPECT_EQ(cpu_id_of("intel", "Intel(R) Xeon(R) Platinum 8480C"), (CpuId{6, 0x8f}));
  EXPECT_EQ(cpu_id_of("intel", "Intel(R) Xeon(R) Gold 6530"), (CpuId{6, 0xcf}));
  EXPECT_EQ(cpu_id_of("intel", "Intel(R) Xeon(R) CPU E5-2698 v4 @ 2.20GHz"), (CpuId{6, 0x4f}));
  EXPECT_EQ(cpu_id_of("intel", "Intel(R) Xeon(R) Gold 6248"), (CpuId{6, 0x55}));
  EXPECT_EQ(cpu_id_of("intel", "Intel Xeon"), std::nullopt);
  EXPECT_EQ(cpu_id_of("amd", ""), std::nullopt);
  EXPECT_EQ(cpu_id_of("arm", "Neoverse-V2"), std::nullopt);
}

TEST(CpuIds, NcclsClassesSurviveTheText) {
  const NcclRules& rules = nccl_rules({.minor = 28});
  const auto rate = [&](int model) {
    Cpu cpu;
    cpu.vendor = "intel";
    cpu.model = cpu_model_of("intel", {6, model});
    return cpu_link_GBps(rules, cpu);
  };
  EXPECT_EQ(rate(0x4f), 6) << "Broadwell";
  EXPECT_EQ(rate(0x55), 10) << "Skylake";
  EXPECT_EQ(rate(0x6a), 10) << "Ice Lake, which NCCL takes for Skylake";
  EXPECT_EQ(rate(0x8f), 22) << "Sapphire Rapids";
  EXPECT_EQ(rate(0xcf), 40) << "Emerald Rapids";
}

}  // namespace
}  // namespace lanecast
