#include <gtest/gtest.h>

#include <string>

#include "model/implementation/nccl/version_rules.hpp"

namespace lanecast {
namespace {

const NcclRules& of(int minor) { return nccl_rules({false, minor}); }

Cpu cpu(const std::string& vendor, const std::string& model = "") {
  Cpu one;
  one.vendor = vendor;
  one.model = model;
  return one;
}

TEST(NcclAlgorithmName, GoesBothWaysInAnyCase) {
  for (std::size_t i = 0; i < kNcclAlgorithms; ++i) {
    const auto algorithm = static_cast<NcclAlgorithm>(i);
    EXPECT_EQ(nccl_algorithm_from_string(to_string(algorithm)), algorithm);
  }
  EXPECT_EQ(nccl_algorithm_from_string("collnetdirect"), NcclAlgorithm::collnet_direct);
  EXPECT_EQ(nccl_algorithm_from_string("RING"), NcclAlgorithm::ring);
  EXPECT_EQ(nccl_algorithm_from_string("rings"), std::nullopt);
}

TEST(NcclP2pLevel, IsTheSameHostBridgeFrom223) {  // facts.md A7
  for (const int minor : {23, 28, 30}) {
    for (const char* vendor : {"intel", "amd", "arm", "ibm"}) {
      EXPECT_EQ(default_p2p_level(of(minor), vendor, 4), PathType::pxb) << vendor;
    }
    EXPECT_EQ(default_p2p_level(of(minor), "intel", 2), PathType::pxb);
    EXPECT_EQ(default_p2p_level(of(minor), "amd", 2), PathType::sys);
  }
}

TEST(NcclP2pLevel, WasEverythingUpTo222ButOnIntelArmAndZhaoxin) {  // facts.md A7; src/graph/paths.cc, v2.22.3
  for (const NcclVersion version : {NcclVersion{false, 18}, {false, 21}, {false, 22}, {true, 21}}) {
    EXPECT_EQ(default_p2p_level(nccl_rules(version), "amd", 8), PathType::sys) << version.name();
    EXPECT_EQ(default_p2p_level(nccl_rules(version), "ibm", 8), PathType::sys);
    for (const char* vendor : {"intel", "arm", "zhaoxin"}) {
      EXPECT_EQ(default_p2p_level(nccl_rules(version), vendor, 2), PathType::pxb) << vendor;
    }
  }
}

TEST(NcclSpeeds, OfTheSearchAreThoseOfTheOldestGpu) {  // facts.md A10
  const std::vector<double> old = {40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3};
  const std::vector<double> hopper = {60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3};
  const std::vector<double> blackwell = {90, 80, 70, 60, 50, 45, 40, 30, 24, 20, 19, 18};
  for (const int sm : {70, 80, 86, 89}) EXPECT_EQ(search_speeds(of(30), sm), old);
  EXPECT_EQ(search_speeds(of(30), 90), hopper);
  EXPECT_EQ(search_speeds(of(30), 100), blackwell);
  EXPECT_EQ(search_speeds(of(30), 120), blackwell);
}

TEST(NcclSpeeds, GrewWithTheReleases) {  // src/graph/search.cc: v2.18.3, v2.20.3, v2.21.5, v2.25.1, v2.28.3
  EXPECT_EQ(search_speeds(of(18), 90), (std::vector<double>{60, 40, 30, 24, 20, 15, 12, 6, 3}));
  EXPECT_EQ(search_speeds(of(20), 90), (std::vector<double>{60, 50, 40, 30, 24, 20, 15, 12, 6, 3}));
  EXPECT_EQ(search_speeds(of(21), 90), search_speeds(of(30), 90));
  EXPECT_EQ(search_speeds(of(24), 120), search_speeds(of(24), 90)) << "before Blackwell had its own";
  EXPECT_EQ(search_speeds(of(25), 120), (std::vector<double>{90, 80, 70, 60, 50, 40, 30, 24, 20, 19}));
  EXPECT_EQ(search_speeds(of(28), 120), (std::vector<double>{90, 80, 70, 60, 50, 40, 30, 24, 20, 19, 18}));
}

TEST(NcclSpeeds, AlwaysFall) {
  for (int minor = 18; minor <= 30; ++minor) {
    for (const int sm : {70, 90, 100}) {
      const std::vector<double>& speeds = search_speeds(of(minor), sm);
      for (std::size_t i = 1; i < speeds.size(); ++i) EXPECT_LT(speeds[i], speeds[i - 1]) << minor;
    }
  }
}

TEST(NcclLinks, OfNvlinkAreByCapability) {  // facts.md A8; src/graph/topo.h, v2.22.3, v2.25.1, v2.28.3
  EXPECT_DOUBLE_EQ(nvlink_GBps(of(30), 60), 18);
  EXPECT_DOUBLE_EQ(nvlink_GBps(of(30), 70), 20);
  EXPECT_DOUBLE_EQ(nvlink_GBps(of(30), 80), 20);
  EXPECT_DOUBLE_EQ(nvlink_GBps(of(30), 86), 12);
  EXPECT_DOUBLE_EQ(nvlink_GBps(of(30), 90), 20.6);
  EXPECT_DOUBLE_EQ(nvlink_GBps(of(30), 100), 40.1);
  EXPECT_DOUBLE_EQ(nvlink_GBps(of(26), 100), 40.0);
  EXPECT_DOUBLE_EQ(nvlink_GBps(of(22), 100), 20.6);
}

TEST(NcclLinks, BetweenCpusAreByVendorAndGeneration) {  // facts.md A8; src/graph/topo.h, v2.25.1, v2.26.2
  EXPECT_DOUBLE_EQ(cpu_link_GBps(of(30), cpu("amd", "AMD EPYC 9575F")), 16);
  EXPECT_DOUBLE_EQ(cpu_link_GBps(of(30), cpu("arm")), 6);
  EXPECT_DOUBLE_EQ(cpu_link_GBps(of(30), cpu("ibm")), 32);
  EXPECT_DOUBLE_EQ(cpu_link_GBps(of(30), cpu("zhaoxin")), 6);
  EXPECT_DOUBLE_EQ(cpu_link_GBps(of(30), cpu("intel", "Intel(R) Xeon(R) CPU E5-2690 v4 @ 2.60GHz")), 6);
  for (const char* skylake : {"", "Intel Xeon", "Intel Xeon Gold 6130", "Intel Xeon Platinum 8380"}) {
    EXPECT_DOUBLE_EQ(cpu_link_GBps(of(30), cpu("intel", skylake)), 10) << skylake;
  }
  EXPECT_DOUBLE_EQ(cpu_link_GBps(of(30), cpu("intel", "Intel Xeon Platinum 8480+")), 22);
  EXPECT_DOUBLE_EQ(cpu_link_GBps(of(30), cpu("intel", "Intel Xeon Gold 6530")), 40);
  EXPECT_DOUBLE_EQ(cpu_link_GBps(of(30), cpu("intel", "Intel Xeon 6980P")), 22);
  EXPECT_DOUBLE_EQ(cpu_link_GBps(of(26), cpu("intel", "Intel Xeon Gold 6530")), 40);
  EXPECT_DOUBLE_EQ(cpu_link_GBps(of(25), cpu("intel", "Intel Xeon Gold 6530")), 10);
}

TEST(NcclRulesByRelease, ChangeWhereTheSourcesSay) {
  EXPECT_TRUE(of(29).shm_copy_engine);  // facts.md A7: through 2.29
  EXPECT_FALSE(of(30).shm_copy_engine);
  EXPECT_FALSE(of(29).current_gpu_links);  // facts.md A8
  EXPECT_TRUE(of(30).current_gpu_links);
  EXPECT_FALSE(of(23).lists_by_collective);
  EXPECT_TRUE(of(24).lists_by_collective);
  EXPECT_EQ(of(22).most_channels, 32);  // src/include/device.h, v2.22.3 and v2.25.1
  EXPECT_EQ(of(25).most_channels, 64);
  EXPECT_FALSE(of(22).cost.pat);
  EXPECT_TRUE(of(23).cost.pat);
  EXPECT_FALSE(of(18).ring_second_pass);  // src/graph/search.cc, v2.18.3 and v2.20.3
  EXPECT_TRUE(of(20).ring_second_pass);
  EXPECT_FALSE(of(25).two_for_split_nvlink);  // v2.25.1 and v2.26.2
  EXPECT_TRUE(of(26).two_for_split_nvlink);
}

TEST(NcclRulesByRelease, OutsideTheKnownAreTheNearest) {
  EXPECT_EQ(&of(17), &of(18));
  EXPECT_EQ(&of(31), &of(30));
}

TEST(NcclTables, AreThoseOfTheNewest) {  // facts.md A6, 2.30.7
  const NcclCostRules& cost = of(30).cost;
  EXPECT_EQ(cost.ll_GBps[0], (ByNodes{39, 39, 20.4}));
  EXPECT_EQ(cost.ll_GBps[1], (ByNodes{87.7, 22.5, 19}));
  EXPECT_EQ(cost.ll_GBps[2], (ByNodes{141, 45, 35}));
  EXPECT_EQ(cost.ll_GBps[3], (ByNodes{282, 90, 70}));
  EXPECT_EQ(cost.ring_ll128_GBps[3], (ByNodes{40, 40, 40}));
  EXPECT_EQ(cost.tree_ll128_GBps[2], (ByNodes{36.7, 36.7, 29}));
  EXPECT_EQ(cost.tree_ll128_GBps[3], (ByNodes{55.6, 31.67, 20}));
  EXPECT_EQ(cost.tree_GBps[0], (ByNodes{26.5, 18.5, 10}));
  EXPECT_EQ(cost.tree_GBps[3], (ByNodes{70, 42.8, 24}));
}

TEST(NcclTables, CorrectTreeByPowersOfTwoFrom64Bytes) {  // facts.md A6
  const SizeCorrection& tree = of(30).cost.tree;
  EXPECT_DOUBLE_EQ(tree.of(Protocol::simple, Bytes(64)), 0.9);
  EXPECT_DOUBLE_EQ(tree.of(Protocol::ll, Bytes((64u << 12) - 1)), 0.5);
  EXPECT_DOUBLE_EQ(tree.of(Protocol::ll, Bytes(64u << 12)), 0.4);
  EXPECT_DOUBLE_EQ(tree.of(Protocol::simple, Bytes(64u << 22)), 0.9);
  EXPECT_DOUBLE_EQ(tree.of(Protocol::simple, Bytes(std::uint64_t{64} << 23)), 1) << "past the table";
}

}  // namespace
}  // namespace lanecast
