#include "configs/dumps/device_values.hpp"

#include <gtest/gtest.h>

#include "tests/support/facts_builder.hpp"

namespace lanecast {
namespace {

using support::FactsBuilder;

struct NamedGpu {
  std::string name;
  std::string model;
  int sm;
};

Gpu gpu_of(const PciFacts& facts) {
  OriginBook book;
  return gpu_values({"0000:01:00.0", &facts, 0, {}, ""}, "gpu0", book);
}

TEST(DeviceValues, NamesOfLspciBecomeThoseOfNvidiaSmi) {
  for (const NamedGpu& card : std::vector<NamedGpu>{
           {"NVIDIA Corporation AD102GL [RTX 6000 Ada Generation]", "NVIDIA RTX 6000 Ada Generation", 89},
           {"NVIDIA Corporation AD102 [GeForce RTX 4090] [10de:2684]", "NVIDIA GeForce RTX 4090", 89},
           {"NVIDIA Corporation GV100GL [Tesla V100 PCIe 32GB]", "Tesla V100 PCIe 32GB", 70},
           {"NVIDIA Corporation GH100 [H100 SXM5 80GB]", "NVIDIA H100 SXM5 80GB", 90},
           {"NVIDIA Corporation Device 2bb5", "NVIDIA RTX PRO 6000 Blackwell Server Edition", 120},
           {"NVIDIA Corporation Device ffff", "unknown (10de:ffff)", 0},
           {"Advanced Micro Devices, Inc. [AMD/ATI] Aldebaran/MI200 [Instinct MI210]", "AMD Instinct MI210",
            0}}) {
    PciFacts facts;
    facts.name.add(card.name, "dump");
    const Gpu gpu = gpu_of(facts);
    EXPECT_EQ(gpu.model, card.model);
    EXPECT_EQ(gpu.sm, card.sm) << card.model;
  }
}

TEST(DeviceValues, WhatNvidiaSmiPrintsGoesBeforeIdsAndNamesAreComparedWithoutTheMaker) {
  PciFacts facts;
  facts.gpu_model.add("NVIDIA A100-SXM4-40GB", "topo.xml:5 (device)");
  facts.gpu_model.add("A100-SXM4-80GB", "q.txt:9 (Product Name)");
  facts.gpu_model.add("NVIDIA A100-SXM4-80GB", "new.txt:9 (Product Name)");
  OriginBook book;
  EXPECT_EQ(gpu_values({"", &facts, 0, {}, ""}, "gpu0", book).model, "A100-SXM4-80GB");
  ImportedMachine result;
  book.hand_over(result);
  EXPECT_TRUE(result.contradictions.empty());
}

TEST(DeviceValues, TwoProductsOfOneCardAreAContradiction) {
  PciFacts facts;
  facts.gpu_model.add("NVIDIA L40S", "a.txt:9 (Product Name)");
  facts.gpu_model.add("NVIDIA L4", "b.txt:9 (Product Name)");
  OriginBook book;
  EXPECT_EQ(gpu_values({"", &facts, 0, {}, ""}, "gpu0", book).model, "NVIDIA L40S");
  ImportedMachine result;
  book.hand_over(result);
  ASSERT_EQ(result.contradictions.size(), 1U);
  EXPECT_EQ(result.contradictions[0].what, "gpus.gpu0.model");
}

TEST(DeviceValues, StatedCapabilityGoesBeforeTheModels) {
  PciFacts facts;
  facts.gpu_model.add("NVIDIA A40", "dump");
  EXPECT_EQ(gpu_of(facts).sm, 86);
  facts.sm.add(80, "dump");
  EXPECT_EQ(gpu_of(facts).sm, 80);
}

TEST(DeviceValues, AnyDownstreamPortThatRedirectsMakesTheSwitchRedirect) {
  FactsBuilder built;
  built.root_port("0000:00:01.0");
  built.upstream_port("0000:01:00.0", "0000:00:01.0").name.add("PLX Technology, Inc. PEX 8747", "box:7");
  PciFacts& first = built.downstream_port("0000:02:00.0", "0000:01:00.0");
  PciFacts& second = built.downstream_port("0000:02:01.0", "0000:01:00.0");
  built.gpu("0000:03:00.0", "0000:02:00.0");
  built.gpu("0000:04:00.0", "0000:02:01.0");
  const ImportedMachine silent = built.machine();
  EXPECT_FALSE(silent.machine.switches[0].acs);
  EXPECT_TRUE(is_assumed(silent.machine, "switches.sw0.acs"));
  EXPECT_EQ(silent.machine.switches[0].model, "PLX Technology, Inc. PEX 8747");
  first.acs_redirect.add(false, "box:20 (ACSCtl)");
  second.acs_redirect.add(true, "box:30 (ACSCtl)");
  const ImportedMachine told = built.machine();
  EXPECT_TRUE(told.machine.switches[0].acs);
  EXPECT_EQ(told.origins.at("switches.sw0.acs").from, "box:30 (ACSCtl)");
}

TEST(DeviceValues, TheFastestPortStandsForAnAdapter) {
  FactsBuilder built;
  built.gpu("0000:01:00.0", "");
  built.adapter("0000:02:00.0", "").nic_rate.add(BytesPerSecond(12.5e9), "a:1");
  built.adapter("0000:02:00.1", "").nic_rate.add(BytesPerSecond(50e9), "a:2");
  built.adapter("0000:03:00.0", "").name.add("Mellanox Technologies MT2910 Family [ConnectX-7]", "a:3");
  const ImportedMachine imported = built.machine();
  ASSERT_EQ(imported.machine.nics.size(), 2U);
  EXPECT_EQ(imported.machine.nics[0].rate, BytesPerSecond(50e9));
  EXPECT_TRUE(imported.contradictions.empty());
  EXPECT_EQ(imported.machine.nics[1].rate, BytesPerSecond(50e9)) << "400 Gbit/s, as the family";
  EXPECT_TRUE(is_assumed(imported.machine, "nics.nic1.rate"));
}

}  // namespace
}  // namespace lanecast
