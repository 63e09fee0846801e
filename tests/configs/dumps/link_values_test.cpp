#include "configs/dumps/link_values.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/facts_builder.hpp"

namespace lanecast {
namespace {

using support::FactsBuilder;

constexpr const char* card = "0000:21:00.0";
constexpr const char* port = "0000:20:01.1";

/// A GPU below a root port, of which tests state what they like.
struct OneLink {
  FactsBuilder built{};
  PciFacts& above;
  PciFacts& gpu;

  OneLink() : above(built.root_port(port)), gpu(built.gpu(card, port)) {}

  ImportedMachine imported() const { return built.machine(); }
};

const Link& link_of(const ImportedMachine& imported) { return imported.machine.links.front(); }

bool says(const std::vector<std::string>& texts, const std::string& part) {
  return std::any_of(texts.begin(), texts.end(),
                     [&](const std::string& text) { return text.find(part) != std::string::npos; });
}

TEST(LinkValues, CapabilityIsTheSmallerOneOfBothEnds) {
  OneLink box;
  box.gpu.max_rate.add(PcieRate::gen5, "a:1 (LnkCap)");
  box.gpu.max_width.add(16, "a:1 (LnkCap)");
  box.above.max_rate.add(PcieRate::gen4, "a:9 (LnkCap)");
  box.above.max_width.add(8, "a:9 (LnkCap)");
  box.gpu.rate.add(PcieRate::gen4, "a:2 (LnkSta)");
  box.gpu.width.add(8, "a:2 (LnkSta)");
  const ImportedMachine imported = box.imported();
  const Link& link = link_of(imported);
  EXPECT_EQ(link.max_rate, PcieRate::gen4);
  EXPECT_EQ(link.max_width, 8);
  EXPECT_EQ(link.device_max_rate, PcieRate::gen5);
  EXPECT_EQ(link.device_max_width, 16);
  EXPECT_EQ(imported.origins.at("links.gpu0.max_width").from, "a:9 (LnkCap)");
  EXPECT_EQ(imported.origins.at("links.gpu0.device_max_width").from, "a:1 (LnkCap)");
  EXPECT_FALSE(is_assumed(imported.machine, "links.gpu0.max_rate"));
  EXPECT_TRUE(imported.contradictions.empty());
}

TEST(LinkValues, StatusFromThePortServesWhereTheCardIsSilent) {
  OneLink box;
  box.above.rate.add(PcieRate::gen3, "a:1 (LnkSta)");
  box.above.width.add(4, "a:1 (LnkSta)");
  const ImportedMachine imported = box.imported();
  EXPECT_EQ(link_of(imported).rate, PcieRate::gen3);
  EXPECT_EQ(link_of(imported).width, 4);
  EXPECT_EQ(link_of(imported).max_width, 4) << "no dump says that it could do more";
  EXPECT_TRUE(is_assumed(imported.machine, "links.gpu0.max_width"));
  EXPECT_FALSE(is_assumed(imported.machine, "links.gpu0.width"));
}

TEST(LinkValues, EndsThatDisagreeAreAContradictionAndTheKernelGoesBeforeNvidiaSmi) {
  OneLink box;
  box.gpu.width.add(16, "q.txt:30 (nvidia-smi -q)");
  box.above.width.add(8, "a:1 (LnkSta)");
  const ImportedMachine imported = box.imported();
  EXPECT_EQ(link_of(imported).width, 8);
  ASSERT_EQ(imported.contradictions.size(), 1U);
  EXPECT_EQ(imported.contradictions[0].what, "links.gpu0.width");
  EXPECT_EQ(imported.contradictions[0].taken, "x8");
  EXPECT_EQ(imported.contradictions[0].other, "x16");
  EXPECT_EQ(imported.contradictions[0].other_from, "q.txt:30 (nvidia-smi -q)");
}

TEST(LinkValues, CapabilityAloneIsWhatTheLinkDoes) {
  OneLink box;
  for (PciFacts* end : {&box.gpu, &box.above}) {
    end->max_rate.add(PcieRate::gen4, "a:1");
    end->max_width.add(16, "a:1");
  }
  const ImportedMachine imported = box.imported();
  EXPECT_EQ(link_of(imported).rate, PcieRate::gen4);
  EXPECT_TRUE(is_assumed(imported.machine, "links.gpu0.rate"));
  EXPECT_FALSE(is_assumed(imported.machine, "links.gpu0.max_rate"));
  EXPECT_TRUE(says(imported.unknown, "link status of gpu0: run `lspci -vvv` as root"));
}

TEST(LinkValues, WithoutAnyStatementTheModelTells) {
  FactsBuilder built;
  built.gpu("0000:01:00.0", "", "Tesla V100-PCIE-16GB");
  built.gpu("0000:02:00.0", "", "NVIDIA A100-PCIE-40GB");
  built.gpu("0000:03:00.0", "", "NVIDIA H100 PCIe");
  built.gpu("0000:04:00.0", "", "NVIDIA GeForce RTX 5090");
  const ImportedMachine imported = built.machine();
  const auto rate = [&](std::size_t i) { return imported.machine.links[i].rate; };
  EXPECT_EQ(rate(0), PcieRate::gen3);
  EXPECT_EQ(rate(1), PcieRate::gen4);
  EXPECT_EQ(rate(2), PcieRate::gen5);
  EXPECT_EQ(rate(3), PcieRate::gen5);
  EXPECT_TRUE(is_assumed(imported.machine, "links.gpu3.width"));
  EXPECT_TRUE(says(imported.unknown, "link capability and status of gpu0 to gpu3"));
}

TEST(LinkValues, ACardAtGen1WithAllItsLanesSleeps) {
  OneLink box;
  for (PciFacts* end : {&box.gpu, &box.above}) {
    end->max_rate.add(PcieRate::gen4, "a:1");
    end->max_width.add(16, "a:1");
    end->rate.add(PcieRate::gen1, "a:2 (LnkSta)");
    end->width.add(16, "a:2 (LnkSta)");
  }
  const ImportedMachine imported = box.imported();
  EXPECT_TRUE(link_of(imported).idle);
  EXPECT_EQ(link_of(imported).rate, PcieRate::gen4);
  EXPECT_TRUE(is_assumed(imported.machine, "links.gpu0.rate"));
  EXPECT_TRUE(says(imported.unknown, "link rate at work of gpu0: the card slept"));
}

TEST(LinkValues, ANarrowLinkAtGen1IsAFaultUnlessTheCardSaysThatItSleeps) {
  OneLink box;
  for (PciFacts* end : {&box.gpu, &box.above}) {
    end->max_rate.add(PcieRate::gen4, "a:1");
    end->max_width.add(16, "a:1");
    end->rate.add(PcieRate::gen1, "a:2 (LnkSta)");
    end->width.add(8, "a:2 (LnkSta)");
  }
  EXPECT_FALSE(link_of(box.imported()).idle);
  EXPECT_EQ(link_of(box.imported()).rate, PcieRate::gen1);
  box.gpu.asleep.add(true, "q.txt:12 (nvidia-smi -q: P8)");
  const ImportedMachine imported = box.imported();
  EXPECT_TRUE(link_of(imported).idle);
  EXPECT_EQ(link_of(imported).rate, PcieRate::gen4);
  EXPECT_EQ(link_of(imported).width, 8) << "sleep takes no lanes";
}

TEST(LinkValues, ACardThatSleptInOneDumpIsNoContradiction) {
  OneLink box;
  box.gpu.max_rate.add(PcieRate::gen4, "a:1");
  box.gpu.rate.add(PcieRate::gen1, "a:2 (LnkSta)");
  box.gpu.rate.add(PcieRate::gen4, "q.txt:30 (nvidia-smi -q)");
  const ImportedMachine imported = box.imported();
  EXPECT_EQ(link_of(imported).rate, PcieRate::gen4);
  EXPECT_FALSE(link_of(imported).idle);
  EXPECT_TRUE(imported.contradictions.empty());
  EXPECT_TRUE(says(imported.notes, "it slept while the first was taken"));
}

TEST(LinkValues, TheUplinkOfASwitchDoesNotSleep) {
  FactsBuilder built;
  PciFacts& above = built.root_port(port);
  PciFacts& chip = built.upstream_port(card, port);
  built.downstream_port("0000:22:00.0", card);
  built.gpu("0000:23:00.0", "0000:22:00.0");
  for (PciFacts* end : {&above, &chip}) {
    end->max_rate.add(PcieRate::gen4, "a:1");
    end->max_width.add(16, "a:1");
    end->rate.add(PcieRate::gen1, "a:2");
    end->width.add(16, "a:2");
  }
  const ImportedMachine imported = built.machine();
  ASSERT_EQ(link_of(imported).name, "uplink0");
  EXPECT_FALSE(link_of(imported).idle);
  EXPECT_EQ(link_of(imported).rate, PcieRate::gen1);
}

TEST(LinkValues, WidthsThatAreNoneAreUnknown) {
  for (const int width : {0, 3, 63, 255, -1}) {
    OneLink box;
    box.gpu.width.add(width, "a:1");
    box.gpu.max_width.add(width, "a:1");
    const ImportedMachine imported = box.imported();
    EXPECT_EQ(link_of(imported).width, 16) << width;
    EXPECT_TRUE(is_assumed(imported.machine, "links.gpu0.width")) << width;
  }
}

TEST(LinkValues, TheCapabilityOfOneEndIsAssumedToBeTheLinksUnlessTheLinkReachesIt) {
  OneLink reached;
  reached.gpu.max_width.add(16, "a:1");
  reached.gpu.width.add(16, "a:2");
  EXPECT_FALSE(is_assumed(reached.imported().machine, "links.gpu0.max_width"));
  OneLink narrower;
  narrower.gpu.max_width.add(16, "a:1");
  narrower.gpu.width.add(8, "a:2");
  const ImportedMachine imported = narrower.imported();
  EXPECT_EQ(link_of(imported).max_width, 16);
  EXPECT_TRUE(is_assumed(imported.machine, "links.gpu0.max_width"))
      << "the slot may have no more than 8 lanes";
}

TEST(LinkValues, WhatBothEndsCanDoTogetherIsNoStatementOfTheCard) {
  // NCCL prints the smaller one of both ends as if it were the card's.
  OneLink box;
  box.gpu.max_width.add(8, "topo.xml:4 (link_width)");
  const ImportedMachine alone = box.imported();
  EXPECT_EQ(link_of(alone).max_width, 8);
  EXPECT_FALSE(link_of(alone).device_max_width.has_value());
  EXPECT_FALSE(is_assumed(alone.machine, "links.gpu0.max_width"));
  box.gpu.max_width.add(16, "a:1 (LnkCap)");
  box.above.max_width.add(8, "a:9 (LnkCap)");
  const ImportedMachine both = box.imported();
  EXPECT_EQ(link_of(both).max_width, 8);
  EXPECT_EQ(link_of(both).device_max_width, 16);
  EXPECT_TRUE(both.contradictions.empty());
}

TEST(LinkValues, ACardsOwnWidthInANarrowSlotIsNoContradiction) {
  OneLink box;
  box.gpu.max_width.add(16, "a:1 (LnkCap)");
  box.above.max_width.add(8, "a:9 (LnkCap)");
  box.gpu.width.add(8, "a:2 (LnkSta)");
  box.gpu.link_max_width.add(16, "q.txt:31 (Link Width: Max)");
  EXPECT_EQ(link_of(box.imported()).max_width, 8);
  EXPECT_TRUE(box.imported().contradictions.empty());
}

TEST(LinkValues, ACardThatWasKeptBusyAndRunsAtGen1IsNotAsleep) {
  OneLink box;
  box.gpu.max_rate.add(PcieRate::gen5, "a:1");
  box.above.max_rate.add(PcieRate::gen5, "a:9");
  box.gpu.max_width.add(16, "a:1");
  box.gpu.width.add(16, "a:2");
  box.gpu.rate.add(PcieRate::gen1, "a:2");
  EXPECT_TRUE(link_of(box.imported()).idle);
  box.gpu.asleep.add(false, "live (kept busy)");
  EXPECT_FALSE(link_of(box.imported()).idle);
  EXPECT_EQ(link_of(box.imported()).rate, PcieRate::gen1);
}

TEST(LinkValues, StatusAboveCapabilityIsAContradictionAndBothHoldTheStatus) {
  OneLink box;
  box.gpu.max_rate.add(PcieRate::gen3, "a:1");
  box.gpu.rate.add(PcieRate::gen4, "b:1");
  const ImportedMachine imported = box.imported();
  EXPECT_EQ(link_of(imported).rate, PcieRate::gen4);
  EXPECT_EQ(link_of(imported).max_rate, PcieRate::gen4);
  EXPECT_EQ(imported.contradictions.size(), 1U);
}

TEST(LinkValues, PacketSizesAreTheSmallerOnesOfBothEnds) {
  OneLink box;
  box.gpu.max_payload.add(Bytes(256), "a:1 (DevCtl)");
  box.above.max_payload.add(Bytes(128), "a:9 (DevCtl)");
  box.gpu.max_read_request.add(Bytes(4096), "a:1 (DevCtl)");
  box.above.max_read_request.add(Bytes(128), "a:9 (DevCtl)");
  box.gpu.max_payload_capability.add(Bytes(256), "a:1 (DevCap)");
  box.above.max_payload_capability.add(Bytes(512), "a:9 (DevCap)");
  const Link link = link_of(box.imported());
  EXPECT_EQ(link.mps, Bytes(128));
  EXPECT_EQ(link.mrrs, Bytes(4096)) << "the device's own: a port asks for others";
  EXPECT_EQ(link.max_mps, Bytes(256));
  const ImportedMachine silent = OneLink().imported();
  EXPECT_EQ(link_of(silent).mps, Bytes(256));
  EXPECT_EQ(link_of(silent).mrrs, Bytes(512));
  EXPECT_FALSE(link_of(silent).max_mps.has_value());
  EXPECT_TRUE(is_assumed(silent.machine, "links.gpu0.mps"));
}

TEST(LinkValues, AspmIsOnOnlyWhereBothEndsHaveItOn) {
  OneLink box;
  box.gpu.aspm.add(Aspm::l1, "a:1");
  EXPECT_EQ(link_of(box.imported()).aspm, Aspm::l1);
  box.above.aspm.add(Aspm::off, "a:9");
  EXPECT_EQ(link_of(box.imported()).aspm, Aspm::off);
  EXPECT_FALSE(is_assumed(box.imported().machine, "links.gpu0.aspm"));
  EXPECT_TRUE(is_assumed(OneLink().imported().machine, "links.gpu0.aspm"));
}

TEST(LinkValues, ErrorCountersOfBothEndsAddUpAndTheHighestOfTwoDumpsCounts) {
  OneLink box;
  box.gpu.corrected_errors.add(3, "a:1");
  box.gpu.corrected_errors.add(7, "b:1");
  box.above.corrected_errors.add(5, "a:9");
  box.gpu.replays.add(2, "q:1");
  const ImportedMachine imported = box.imported();
  EXPECT_EQ(link_of(imported).corrected_errors, 12U);
  EXPECT_EQ(link_of(imported).replays, 2U);
  EXPECT_FALSE(link_of(imported).uncorrected_errors.has_value());
  EXPECT_TRUE(imported.contradictions.empty()) << "counters rise from one dump to the next";
  EXPECT_EQ(imported.origins.at("links.gpu0.corrected_errors").from, "b:1 + a:9");
}

TEST(LinkValues, TheSlotIsTheCardsElseThePorts) {
  OneLink box;
  box.above.slot.add("7", "a:9");
  EXPECT_EQ(link_of(box.imported()).slot, "7");
  box.gpu.slot.add("5-1", "a:1");
  EXPECT_EQ(link_of(box.imported()).slot, "5-1");
  EXPECT_EQ(link_of(box.imported()).port, port);
}

}  // namespace
}  // namespace lanecast
