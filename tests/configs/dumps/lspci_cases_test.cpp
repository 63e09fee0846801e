// What the lspci files of the shared cases hold, counted and looked up by hand. The files are not part of the
// repository: without them these tests are skipped.
#include "tests/configs/dumps/lspci_support.hpp"

namespace lanecast {
namespace {

using namespace lspci_test;

#define LANECAST_NEEDS_CASE(text) \
  if (!(text)) GTEST_SKIP() << "the shared cases are not here"

using Addresses = std::vector<std::string>;

bool is_accelerator(const PciFacts& facts) {
  const auto class_code = only(facts.class_code);
  return only(facts.vendor) == 0x10deu && class_code && *class_code >> 16 == 0x03;
}

Addresses gpus_of(const MachineFacts& facts) {
  Addresses gpus;
  for (const auto& [address, each] : facts.devices) {
    if (is_accelerator(each)) gpus.push_back(address);
  }
  return gpus;
}

TEST(LspciCases, TheV100SitsBelowThreeBridges) {
  const auto text = shared_case("from-fetch/lspci-tree-plx8747-v100-a100.txt");
  LANECAST_NEEDS_CASE(text);
  const MachineFacts facts = tree_facts(*text);
  EXPECT_EQ(facts.devices.size(), 7u);
  EXPECT_EQ(gpus_of(facts), Addresses{"0000:b6:00.0"});
  EXPECT_EQ(bridges_above(facts, "0000:b6:00.0"),
            (Addresses{"0000:b4:10.0", "0000:b3:00.0", "0000:b2:00.0"}));
  EXPECT_EQ(bridges_above(facts, "0000:b5:00.1"),
            (Addresses{"0000:b4:08.0", "0000:b3:00.0", "0000:b2:00.0"}));
  EXPECT_EQ(only(at(facts, "0000:b5:00.0").class_code), 0x020000u) << "MT28841, an adapter";
}

TEST(LspciCases, FourCardsSitOnFourRootBuses) {
  const auto text = shared_case("from-fetch/lspci-tv-esc8000a-e12-4x6000ada.txt");
  LANECAST_NEEDS_CASE(text);
  const MachineFacts facts = tree_facts(*text);
  EXPECT_EQ(gpus_of(facts), (Addresses{"0000:01:00.0", "0000:41:00.0", "0000:c1:00.0", "0000:e1:00.0"}));
  EXPECT_EQ(only(at(facts, "0000:01:00.0").root_bus), "0000:00");
  EXPECT_EQ(only(at(facts, "0000:41:00.0").root_bus), "0000:40");
  EXPECT_EQ(only(at(facts, "0000:c1:00.0").root_bus), "0000:c0");
  EXPECT_EQ(only(at(facts, "0000:e1:00.0").root_bus), "0000:e0");
  EXPECT_EQ(bridges_above(facts, "0000:68:00.0"),
            (Addresses{"0000:64:1c.0", "0000:63:00.0", "0000:62:00.0", "0000:61:00.0", "0000:60:01.1"}));
  EXPECT_EQ(bridges_above(facts, "0000:b1:00.0"),
            (Addresses{"0000:b0:14.0", "0000:af:00.0", "0000:a2:0c.0", "0000:a1:00.0", "0000:a0:01.1"}));
  EXPECT_EQ(only(at(facts, "0000:60:01.1").subordinate_bus), 0x73);
  EXPECT_TRUE(facts.notes.empty());
  for (const auto& [address, each] : facts.devices) {
    EXPECT_TRUE(only(each.parent).has_value() && only(each.root_bus).has_value()) << address;
  }
}

TEST(LspciCases, TwoCardsShareOneRootBus) {
  const auto text = shared_case("from-fetch/lspci-tv-wrx90-2x6000ada.txt");
  LANECAST_NEEDS_CASE(text);
  const MachineFacts facts = tree_facts(*text);
  EXPECT_EQ(gpus_of(facts), (Addresses{"0000:c1:00.0", "0000:c2:00.0"}));
  EXPECT_EQ(only(at(facts, "0000:c1:00.0").root_bus), "0000:c0");
  EXPECT_EQ(bridges_above(facts, "0000:c2:00.0"), Addresses{"0000:c0:03.1"});
  EXPECT_EQ(only(at(facts, "0000:23:00.0").secondary_bus), 0x28) << "an empty slot";
}

TEST(LspciCases, ListsAndTreesOfOneMachineAgree) {
  const auto tree = shared_case("from-fetch/lspci-tv-esc8000a-e12-4x6000ada.txt");
  const auto list = shared_case("from-fetch/lspci-vvv-esc8000a-e12-selected.txt");
  LANECAST_NEEDS_CASE(tree && list);
  const MachineFacts from_tree = tree_facts(*tree);
  const MachineFacts facts = verbose_facts(*list);
  EXPECT_EQ(facts.devices.size(), 8u);
  EXPECT_EQ(gpus_of(facts), gpus_of(from_tree));
  for (const auto& [address, each] : facts.devices) {
    EXPECT_EQ(only(each.name), only(at(from_tree, address).name)) << address;
    EXPECT_EQ(only(each.vendor), only(at(from_tree, address).vendor)) << address;
  }
  const PciFacts& gpu = at(facts, "0000:e1:00.0");
  EXPECT_EQ(only(gpu.numa), 1);
  EXPECT_EQ(only(gpu.max_rate), PcieRate::gen4);
  EXPECT_EQ(only(gpu.rate), PcieRate::gen1) << "idle";
  EXPECT_EQ(only(gpu.width), 16);
  EXPECT_EQ(only(gpu.l1_exit), Seconds(4 * 1e-6));
  EXPECT_EQ(only(gpu.bar1), Bytes(std::uint64_t{64} << 30));
  EXPECT_EQ(only(at(facts, "0000:21:00.0").max_payload), Bytes(512));
  EXPECT_EQ(only(at(facts, "0000:71:00.0").width), 1);
  EXPECT_EQ(only(at(facts, "0000:71:00.0").max_width), 2);
}

TEST(LspciCases, DownstreamPortsLeadToEightGpus) {
  const auto text = shared_case("from-fetch/lspci-esc8000a-e13p-gpus-and-switch.txt");
  LANECAST_NEEDS_CASE(text);
  const MachineFacts facts = verbose_facts(*text);
  EXPECT_EQ(facts.devices.size(), 40u);
  Addresses gpus;
  Addresses ports;
  for (const std::string& gpu : gpus_of(facts)) {
    gpus.push_back(gpu);
    const int bus = std::stoi(bus_of(gpu).substr(5), nullptr, 16);
    for (const auto& [address, each] : facts.devices) {
      if (only(each.secondary_bus) == bus) ports.push_back(address);
    }
  }
  EXPECT_EQ(gpus, (Addresses{"0000:06:00.0", "0000:07:00.0", "0000:75:00.0", "0000:76:00.0", "0000:84:00.0",
                             "0000:85:00.0", "0000:f4:00.0", "0000:f5:00.0"}));
  EXPECT_EQ(ports, (Addresses{"0000:02:03.0", "0000:02:04.0", "0000:72:02.0", "0000:72:03.0", "0000:82:01.0",
                              "0000:82:02.0", "0000:f2:01.0", "0000:f2:02.0"}));
  EXPECT_EQ(only(at(facts, "0000:f2:00.0").width), 8);
  EXPECT_EQ(only(at(facts, "0000:f2:00.0").rate), PcieRate::gen3);
  EXPECT_EQ(only(at(facts, "0000:f2:00.0").acs_redirect), false);
  EXPECT_EQ(only(at(facts, "0000:71:00.0").subordinate_bus), 0x78);
  EXPECT_EQ(only(at(facts, "0000:f5:00.0").slot), "7-1");
  EXPECT_EQ(only(at(facts, "0000:81:00.0").max_payload_capability), Bytes(2048));
}

TEST(LspciCases, APartOfAListGivesWhatItHolds) {
  const auto text = shared_case("lspci-vvv-rtxa400-pi.partial.txt");
  LANECAST_NEEDS_CASE(text);
  const MachineFacts facts = verbose_facts(*text);
  ASSERT_EQ(facts.devices.size(), 1u);
  const PciFacts& gpu = at(facts, "0004:01:00.0");
  EXPECT_EQ(only(gpu.slot), "1-3");
  EXPECT_EQ(only(gpu.bar1), Bytes(256 << 20));
  EXPECT_EQ(only(gpu.port), PciePort::endpoint);
  EXPECT_EQ(only(gpu.max_payload_capability), Bytes(256));
  EXPECT_TRUE(gpu.max_payload.empty() && gpu.rate.empty() && gpu.width.empty())
      << "the text ends before them";
}

}  // namespace
}  // namespace lanecast
