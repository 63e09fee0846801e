#include "configs/dumps/nccl_system_lines.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "configs/dumps/readers.hpp"
#include "tests/configs/dumps/stated.hpp"

namespace lanecast {
namespace {

/// Lines of one thread, in the form that NCCL_DEBUG_SUBSYS=GRAPH prints.
std::string thread(int number, const std::vector<std::string>& messages) {
  std::string text;
  for (const std::string& message : messages)
    text +=
        "box:7:" + std::to_string(number) + " [" + std::to_string(number) + "] NCCL INFO " + message + "\n";
  return text;
}

MachineFacts facts_of(const std::string& text) {
  MachineFacts facts;
  read_nccl_log_facts(text, "run.log", facts);
  return facts;
}

const std::vector<std::string> tree{
    "=== System : maxBw 20.0 totalBw 40.0 ===",
    "CPU/1 (1/2/-1)",
    "+ PCI[24.0] - PCI/41000 (1000c0101000ffff)",
    "              + PCI[24.0] - GPU/43000 (0)",
    "                            + NVL[40.0] - GPU/44000",
    "              + PCI[24.0] - GPU/44000 (1)",
    "                            + NVL[40.0] - GPU/43000",
    "              + PCI[12.0] - NIC/45000",
    "                            + NET[25.0] - NET/0 (6c/1/25.000000)",
    "+ SYS[16.0] - CPU/0",
    "CPU/0 (1/2/-1)",
    "+ PCI[24.0] - GPU/3000 (2)",
    "+ SYS[16.0] - CPU/1",
    "==========================================",
};

TEST(NcclSystemLines, IndentsAreTheTree) {
  const MachineFacts facts = facts_of(thread(1, tree));
  ASSERT_EQ(facts.devices.size(), 5u);
  EXPECT_EQ(only(facts.devices.at("0000:43:00.0").ancestor), "0000:41:00.0");
  EXPECT_EQ(only(facts.devices.at("0000:45:00.0").ancestor), "0000:41:00.0");
  EXPECT_TRUE(facts.devices.at("0000:03:00.0").ancestor.empty());
  EXPECT_EQ(only(facts.devices.at("0000:44:00.0").numa), 1);
  EXPECT_EQ(only(facts.devices.at("0000:03:00.0").numa), 0);
  EXPECT_EQ(only(facts.devices.at("0000:41:00.0").class_code), 0x060400u);
  EXPECT_EQ(only(facts.devices.at("0000:41:00.0").vendor), 0x1000u);
  EXPECT_EQ(only(facts.devices.at("0000:41:00.0").device), 0xc010u);
  EXPECT_EQ(only(facts.cpus.at(1).vendor), "amd");
}

TEST(NcclSystemLines, AdaptersTakeTheNamesThatNcclLists) {
  const std::string list =
      thread(1, {"NET/IB : Using [0]mlx5_2:1/IB [1]mlx5_4:1/RoCE [RO]; OOB eth0:192.0.2.2<0>"});
  const MachineFacts facts = facts_of(list + thread(1, tree));
  EXPECT_EQ(only(facts.devices.at("0000:45:00.0").nic_name), "mlx5_2");
  EXPECT_EQ(only(facts.devices.at("0000:45:00.0").nic_rate), BytesPerSecond(25e9));
}

TEST(NcclSystemLines, NvlinksAreCountedByWhatNcclCountsForOne) {
  const MachineFacts facts = facts_of(thread(1, tree));
  ASSERT_EQ(facts.nvlinks.size(), 2u);
  EXPECT_EQ(facts.nvlinks[0].from, "0000:43:00.0");
  EXPECT_EQ(facts.nvlinks[0].to, "0000:44:00.0");
  EXPECT_EQ(facts.nvlinks[0].count, 2) << "20 GB/s a link";
  EXPECT_FALSE(facts.nvlinks[0].rate) << "NCCL's figure is not the link's rate";
  const auto links_of = [](const std::string& GBps) {
    const MachineFacts one = facts_of(thread(1, {"CPU/0 (1/1/3)", "+ PCI[48.0] - GPU/3000 (0)",
                                                 "                           + NVL[" + GBps + "] - NVS/0"}));
    return one.nvlinks.size() == 1 ? one.nvlinks[0] : NvlinkFacts{};
  };
  EXPECT_EQ(links_of("370.8").count, 18) << "Hopper: 20.6";
  EXPECT_EQ(links_of("240.0").count, 12) << "Ampere: 20";
  EXPECT_EQ(links_of("721.8").count, 18) << "Blackwell: 40.1";
  EXPECT_EQ(links_of("48.0").count, 4) << "GA102: 12";
  EXPECT_EQ(links_of("370.8").to, "");
  EXPECT_EQ(links_of("36.0").count, 1) << "2 x 18 and 3 x 12";
  EXPECT_EQ(links_of("36.0").rate, BytesPerSecond(36e9));
}

TEST(NcclSystemLines, LinesOfSeveralThreadsMix) {
  std::string text;
  for (const std::string& line : tree) text += thread(1, {line}) + thread(2, {line});
  const MachineFacts mixed = facts_of(text);
  EXPECT_EQ(mixed.devices.size(), 5u);
  EXPECT_EQ(only(mixed.devices.at("0000:44:00.0").ancestor), "0000:41:00.0");
  EXPECT_EQ(mixed.nvlinks.size(), 2u);
}

TEST(NcclSystemLines, NewerReleasesPutTheHostBeforeEachNumber) {
  const MachineFacts facts = facts_of(thread(
      1, {"CPU/0-1 (1/1/3)", "+ PCI[48.0] - PCI/0-17000 (1000c0301000ffff)",
          "              + PCI[48.0] - DEV/0-18000 (10de233510de18bf)",
          "                            + LOC[5000.0] - GPU/0-18000",
          "                            + NVL[370.8] - NVS/0-0", "CPU/1-0 (1/1/3)",
          "+ PCI[48.0] - GPU/1-18000 (8)", "CPU/0-ffffffffffffff (1/1/3)", "+ PCI[48.0] - GPU/0-60 (1)"}));
  ASSERT_EQ(facts.devices.size(), 3u) << "host 1 is another computer";
  EXPECT_EQ(only(facts.devices.at("0000:18:00.0").ancestor), "0000:17:00.0");
  EXPECT_EQ(only(facts.devices.at("0000:18:00.0").device), 0x2335u);
  EXPECT_TRUE(facts.devices.at("0000:00:06.0").numa.empty()) << "all ones is node -1";
  EXPECT_EQ(only(facts.cpus.at(1).vendor), "intel");
  EXPECT_EQ(only(facts.cpus.at(1).model), "Intel Xeon 8400 series (Sapphire Rapids)");
}

const std::vector<std::string> paths{
    "GPU/43000 :GPU/43000 (0/5000.000000/LOC) GPU/44000 (2/24.000000/PIX) GPU/3000 (4/16.000000/SYS) CPU/1 "
    "(2/24.000000/PHB) CPU/0 (3/16.000000/SYS) NET/0 (3/12.000000/PIX) ",
    "GPU/44000 :GPU/43000 (2/24.000000/PIX) GPU/44000 (0/5000.000000/LOC) GPU/3000 (4/16.000000/SYS) CPU/1 "
    "(2/24.000000/PHB) CPU/0 (3/16.000000/SYS) NET/0 (3/12.000000/PIX) ",
    "GPU/3000 :GPU/43000 (4/16.000000/SYS) GPU/44000 (4/16.000000/SYS) GPU/3000 (0/5000.000000/LOC) CPU/1 "
    "(2/16.000000/SYS) CPU/0 (1/24.000000/PHB) NET/0 (4/12.000000/SYS) ",
};

TEST(NcclSystemLines, PathsAreAMatrix) {
  const MachineFacts facts =
      facts_of(thread(1, {"NET/IB : Using [0]mlx5_2:1/IB [RO]; OOB eth0:192.0.2.2<0>"}) + thread(1, paths));
  ASSERT_EQ(facts.matrices.size(), 1u);
  const TopoMatrix& matrix = facts.matrices[0];
  EXPECT_EQ(matrix.names, (std::vector<std::string>{"GPU0", "GPU1", "GPU2", "NIC0"}));
  EXPECT_EQ(matrix.addresses, (std::vector<std::string>{"0000:43:00.0", "0000:44:00.0", "0000:03:00.0", ""}));
  EXPECT_EQ(matrix.cells[0][0].distance, Distance::loc);
  EXPECT_EQ(matrix.cells[0][1].distance, Distance::pix);
  EXPECT_EQ(matrix.cells[2][0].distance, Distance::sys);
  EXPECT_EQ(matrix.cells[3][1].distance, Distance::pix) << "the adapter's row is its column";
  EXPECT_EQ(matrix.cells[2][3].distance, Distance::sys);
  EXPECT_EQ(matrix.numa, (std::vector<std::optional<int>>{1, 1, 0, std::nullopt}));
  EXPECT_EQ(matrix.adapters.at("NIC0"), "mlx5_2");
  EXPECT_EQ(only(facts.devices.at("0000:03:00.0").numa), 0);
}

TEST(NcclSystemLines, WhereThereIsNoPeerAccessTheTreeKnowsBetter) {
  const std::vector<std::string> refused{
      "GPU/43000 :GPU/43000 (0/5000.0/LOC) GPU/44000 (4/24.0/PHB) CPU/1 (2/24.0/PHB) ",
      "GPU/44000 :GPU/43000 (4/24.0/PHB) GPU/44000 (0/5000.0/LOC) CPU/1 (2/24.0/PHB) "};
  EXPECT_EQ(facts_of(thread(1, refused)).matrices.at(0).cells[0][1].distance, Distance::phb);
  EXPECT_EQ(facts_of(thread(1, tree) + thread(1, refused)).matrices.at(0).cells[0][1].distance, std::nullopt)
      << "both hang below 0000:41:00.0: the way through the CPU says nothing of their distance";
}

TEST(NcclSystemLines, NvlinkHidesTheDistance) {
  const MachineFacts facts =
      facts_of(thread(1, {"GPU/3000 :GPU/3000 (0/5000.0/LOC) GPU/4000 (1/48.0/NVL) CPU/0 (1/24.0/PHB) "}));
  const TopoCell& cell = facts.matrices.at(0).cells.at(0).at(1);
  EXPECT_FALSE(cell.distance);
  EXPECT_EQ(cell.nvlinks, 4);
  ASSERT_EQ(facts.nvlinks.size(), 1u);
  EXPECT_EQ(facts.nvlinks[0].to, "0000:04:00.0");
  EXPECT_EQ(facts.nvlinks[0].count, 4);
}

TEST(NcclSystemLines, CutAnywhereItPlacesNothingWrongly) {
  const std::string whole = thread(1, tree) + thread(1, paths);
  const MachineFacts all = facts_of(whole);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const MachineFacts part = facts_of(whole.substr(0, length));
    for (const auto& [address, device] : part.devices) {
      const auto full = all.devices.find(address);
      ASSERT_NE(full, all.devices.end()) << length << ": " << address;
      EXPECT_TRUE(within(device.ancestor, full->second.ancestor) && within(device.numa, full->second.numa))
          << length;
    }
  }
}

TEST(RealNcclSystemLines, TwoGpusOnNvswitches) {
  const auto text = shared_dump("cases/raw/nccl-info-paths-nvs-2gpu.partial.txt");
  if (!text) GTEST_SKIP() << "no shared dumps";
  const MachineFacts facts = facts_of(*text);
  ASSERT_EQ(facts.devices.size(), 2u);
  EXPECT_EQ(only(facts.devices.at("0000:51:00.0").numa), 0);
  ASSERT_EQ(facts.nvlinks.size(), 2u);
  for (const NvlinkFacts& link : facts.nvlinks) {
    EXPECT_EQ(link.to, "");
    EXPECT_EQ(link.count, 8) << "160 GB/s at 20 a link";
  }
  ASSERT_EQ(facts.matrices.size(), 1u);
  EXPECT_EQ(facts.matrices[0].cells[0][1].nvlinks, 8);
  EXPECT_FALSE(facts.matrices[0].cells[0][1].distance);
}

}  // namespace
}  // namespace lanecast
