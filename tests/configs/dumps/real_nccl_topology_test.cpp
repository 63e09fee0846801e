#include <gtest/gtest.h>

#include <algorithm>

#include "configs/dumps/readers.hpp"
#include "tests/configs/dumps/stated.hpp"

namespace lanecast {
namespace {

/// What each real file holds, counted by hand in its text.
struct RealFile {
  const char* name;
  int gpus;      // by class 0x03
  int bridges;   // by class 0x0604
  int adapters;  // by class 0x02
  int nvlinks;   // statements, both ends of a link counted
  std::vector<int> gpus_of_node;
};

void PrintTo(const RealFile& file, std::ostream* out) { *out << file.name; }

const std::vector<RealFile> real_files{
    {"cases/raw/from-fetch/nccl-topo-a100-4plx-1gpu.xml", 1, 3, 1, 1, {0, 1}},
    {"cases/raw/from-fetch/nccl-topo-aws-g5.48xl.xml", 0, 0, 0, 0, {0, 0}},
    {"cases/raw/from-fetch/nccl-topo-aws-p4d-24xl.xml", 8, 4, 4, 0, {4, 4}},
    {"cases/raw/from-fetch/nccl-topo-azure-ncv4.xml", 4, 0, 0, 0, {1, 1, 1, 1}},
    {"cases/raw/from-fetch/nccl-topo-azure-ndv2.xml", 8, 0, 1, 0, {4, 4}},
    {"cases/raw/from-fetch/nccl-topo-azure-ndv4.xml", 8, 4, 8, 0, {2, 2, 2, 2}},
    {"cases/raw/from-fetch/rccl-topo_3p_pcie.xml", 3, 3, 1, 0, {1, 2}},
    {"cases/raw/from-fetch/rccl-topo_4p2h.xml", 8, 10, 1, 16, {8}},
    {"cases/raw/from-fetch/rccl-topo_8p_90a.xml", 8, 1, 1, 24, {8}},
    {"cases/raw/from-fetch/rccl-topo_8p_pcie.xml", 8, 10, 1, 0, {8}},
    {"cases/raw/from-fetch/rccl-topo_8p_pcie_1.xml", 8, 10, 1, 0, {8}},
    {"cases/raw/from-fetch/rccl-topo_8p_rome.xml", 8, 8, 1, 16, {4, 4}},
    {"measurements/h200x2-nvlink/nccl-topo.xml", 2, 0, 0, 2, {0}},
};

class RealNcclTopology : public testing::TestWithParam<RealFile> {
 protected:
  void SetUp() override {
    const auto text = shared_dump(GetParam().name);
    if (!text) GTEST_SKIP() << "there is no " << GetParam().name;
    items_ = read_nccl_topology(*text, "topo.xml", facts_);
  }
  int of_class(std::uint32_t code, int bits) const {
    return static_cast<int>(std::count_if(
        facts_.devices.begin(), facts_.devices.end(),
        [&](const auto& device) { return only(device.second.class_code).value_or(0) >> bits == code; }));
  }
  MachineFacts facts_;
  int items_ = 0;
};

TEST_P(RealNcclTopology, HoldsWhatItsTextHolds) {
  EXPECT_EQ(of_class(0x03, 16), GetParam().gpus);
  EXPECT_EQ(of_class(0x0604, 8), GetParam().bridges);
  EXPECT_EQ(of_class(0x02, 16), GetParam().adapters);
  EXPECT_EQ(static_cast<int>(facts_.nvlinks.size()), GetParam().nvlinks);
  EXPECT_EQ(facts_.cpus.size(), GetParam().gpus_of_node.size());
  EXPECT_EQ(items_, static_cast<int>(facts_.devices.size() + facts_.cpus.size()));
  std::vector<int> per_node(GetParam().gpus_of_node.size());
  for (const auto& [address, device] : facts_.devices) {
    if (only(device.class_code).value_or(0) >> 16 != 0x03) continue;
    if (const auto numa = only(device.numa)) ++per_node.at(static_cast<std::size_t>(*numa));
  }
  EXPECT_EQ(per_node, GetParam().gpus_of_node);
}

INSTANTIATE_TEST_SUITE_P(All, RealNcclTopology, testing::ValuesIn(real_files));

std::optional<MachineFacts> facts_of_shared(const std::string& name) {
  const auto text = shared_dump(name);
  if (!text) return std::nullopt;
  MachineFacts facts;
  read_nccl_topology(*text, "topo.xml", facts);
  return facts;
}

using Chain = std::vector<std::string>;

/// The bridges above a function, nearest first.
Chain above(const MachineFacts& facts, std::string address) {
  Chain chain;
  while (const auto ancestor = only(facts.devices.at(address).ancestor)) {
    address = *ancestor;
    chain.push_back(address);
  }
  return chain;
}

TEST(RealNcclTopologyFile, A100BehindThreeLevelsOfSwitches) {
  const auto facts = facts_of_shared("cases/raw/from-fetch/nccl-topo-a100-4plx-1gpu.xml");
  if (!facts) GTEST_SKIP() << "no shared dumps";
  EXPECT_EQ(above(*facts, "0000:84:00.0"), (Chain{"0000:82:00.0", "0000:80:00.0", "0000:7e:00.0"}));
  const PciFacts& gpu = facts->devices.at("0000:84:00.0");
  EXPECT_EQ(only(gpu.gpu_index), 4);
  EXPECT_EQ(only(gpu.gpu_model), "NVIDIA A100-SXM4-80GB");
  EXPECT_EQ(only(gpu.numa), 1);
  EXPECT_EQ(facts->nvlinks[0].count, 12) << "six switches, two links each";
  const PciFacts& nic = facts->devices.at("0000:2c:00.0");
  EXPECT_EQ(only(nic.nic_name), "enp44s0f0");
  EXPECT_EQ(only(nic.nic_rate), BytesPerSecond(125e6));
  EXPECT_EQ(only(nic.link_max_rate), PcieRate::gen3);
  EXPECT_EQ(only(nic.link_max_width), 4);
  EXPECT_EQ(only(facts->cpus.at(0).cores), "0-31,64-95");
  EXPECT_EQ(only(facts->cpus.at(1).cores), "32-63,96-127");
  EXPECT_EQ(only(facts->cpus.at(1).model), "AMD EPYC 7003 (Milan)");
}

TEST(RealNcclTopologyFile, CloudFilesGiveSwitchesInventedAddresses) {
  const auto p4d = facts_of_shared("cases/raw/from-fetch/nccl-topo-aws-p4d-24xl.xml");
  if (!p4d) GTEST_SKIP() << "no shared dumps";
  EXPECT_EQ(above(*p4d, "0000:90:1d.0"), Chain{"ffff:ff:03.0"});
  EXPECT_EQ(above(*p4d, "0000:a0:1b.0"), Chain{"ffff:ff:04.0"});
  EXPECT_EQ(only(p4d->devices.at("0000:10:1c.0").gpu_model), "NVIDIA A100-SXM4-40GB");
  EXPECT_EQ(only(p4d->devices.at("0000:10:1c.0").link_max_rate), PcieRate::gen3);
  EXPECT_TRUE(p4d->devices.at("ffff:ff:03.0").vendor.empty());
  EXPECT_EQ(only(p4d->cpus.at(0).cores), "0-23,48-71");
  EXPECT_EQ(only(p4d->cpus.at(1).cores), "24-47,72-95");

  const auto ndv4 = facts_of_shared("cases/raw/from-fetch/nccl-topo-azure-ndv4.xml");
  ASSERT_TRUE(ndv4);
  EXPECT_EQ(above(*ndv4, "000d:00:00.0"), Chain{"ffff:ff:03.0"});
  EXPECT_EQ(above(*ndv4, "0104:00:00.0"), Chain{"ffff:ff:01.0"});
  EXPECT_EQ(only(ndv4->devices.at("0001:00:00.0").numa), 1);
  EXPECT_EQ(only(ndv4->cpus.at(3).model), "AMD EPYC 7002 (Rome)");
}

TEST(RealNcclTopologyFile, WhatCloudFilesDoNotTellIsNoted) {
  const auto g5 = facts_of_shared("cases/raw/from-fetch/nccl-topo-aws-g5.48xl.xml");
  if (!g5) GTEST_SKIP() << "no shared dumps";
  EXPECT_EQ(g5->devices.size(), 9u);
  EXPECT_TRUE(noted(*g5, "PCI functions without a class"));
  const auto ncv4 = facts_of_shared("cases/raw/from-fetch/nccl-topo-azure-ncv4.xml");
  ASSERT_TRUE(ncv4);
  EXPECT_EQ(
      std::count_if(ncv4->notes.begin(), ncv4->notes.end(),
                    [](const std::string& note) { return note.find("lead back") != std::string::npos; }),
      4);
  EXPECT_TRUE(ncv4->devices.at("0002:00:00.0").link_max_rate.empty());
  EXPECT_EQ(only(ncv4->devices.at("0002:00:00.0").gpu_model), "NVIDIA A100 80GB PCIe");
}

TEST(RealNcclTopologyFile, RcclsModelsHaveTheCardsOwnSwitches) {
  const auto three = facts_of_shared("cases/raw/from-fetch/rccl-topo_3p_pcie.xml");
  if (!three) GTEST_SKIP() << "no shared dumps";
  EXPECT_EQ(above(*three, "0000:e4:00.0"), Chain{"0000:e2:00.0"});
  EXPECT_EQ(only(three->devices.at("0000:23:00.0").gpu_model), "AMD Instinct MI210");
  EXPECT_EQ(only(three->devices.at("0000:41:00.0").nic_rate), BytesPerSecond(25e9));
  const auto eight = facts_of_shared("cases/raw/from-fetch/rccl-topo_4p2h.xml");
  ASSERT_TRUE(eight);
  EXPECT_EQ(above(*eight, "0000:49:00.0"), (Chain{"0000:47:00.0", "0000:3b:00.0"}));
  EXPECT_EQ(above(*eight, "0000:1a:00.0"), Chain{"0000:18:00.0"});
  EXPECT_EQ(only(eight->cpus.at(0).cores), "0-13,28-41");
  EXPECT_EQ(only(eight->devices.at("0000:1b:00.0").link_max_rate), PcieRate::gen3);
  EXPECT_EQ(only(eight->devices.at("0000:1d:00.0").link_max_rate), PcieRate::gen4);
}

TEST(RealNcclTopologyFile, TwoH200InAGuestHaveNoPlaceButNvswitches) {
  const auto facts = facts_of_shared("measurements/h200x2-nvlink/nccl-topo.xml");
  if (!facts) GTEST_SKIP() << "no shared dumps";
  const PciFacts& gpu = facts->devices.at("0000:00:07.0");
  EXPECT_EQ(only(gpu.gpu_index), 1);
  EXPECT_EQ(only(gpu.gpu_model), "NVIDIA H200");
  EXPECT_EQ(only(gpu.sm), 90);
  EXPECT_EQ(only(gpu.link_max_rate), PcieRate::gen5);
  EXPECT_TRUE(gpu.link_max_width.empty() && gpu.numa.empty());
  for (const NvlinkFacts& link : facts->nvlinks) {
    EXPECT_EQ(link.to, "");
    EXPECT_EQ(link.count, 18);
  }
  EXPECT_TRUE(noted(*facts, "eth0"));
}

}  // namespace
}  // namespace lanecast
