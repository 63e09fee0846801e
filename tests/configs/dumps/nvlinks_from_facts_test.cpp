#include <gtest/gtest.h>

#include <algorithm>

#include "model/topology/routes.hpp"
#include "tests/support/facts_builder.hpp"

namespace lanecast {
namespace {

using support::FactsBuilder;

FactsBuilder gpus(int count, const std::string& model) {
  FactsBuilder built;
  for (int i = 0; i < count; ++i) built.gpu("0000:0" + std::to_string(i + 1) + ":00.0", "", model);
  return built;
}

std::vector<Link> nvlinks_of(const Machine& machine) {
  std::vector<Link> found;
  std::copy_if(machine.links.begin(), machine.links.end(), std::back_inserter(found),
               [](const Link& link) { return link.kind == LinkKind::nvlink; });
  return found;
}

void all_to_all(FactsBuilder& built, int gpus, const std::string& cell) {
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> rows;
  for (int i = 0; i < gpus; ++i) {
    names.push_back("GPU" + std::to_string(i));
    rows.emplace_back(static_cast<std::size_t>(gpus), cell);
    rows.back()[static_cast<std::size_t>(i)] = "X";
  }
  built.matrix(names, rows);
}

TEST(NvlinksFromFacts, BothDirectionsAreOneLink) {
  FactsBuilder built = gpus(2, "NVIDIA A40");
  built.facts.nvlinks.push_back({"0000:01:00.0", "0000:02:00.0", 4, BytesPerSecond(14e9), "a:1"});
  built.facts.nvlinks.push_back({"0000:02:00.0", "0000:01:00.0", 4, std::nullopt, "a:2"});
  const ImportedMachine imported = built.machine();
  const std::vector<Link> links = nvlinks_of(imported.machine);
  ASSERT_EQ(links.size(), 1U);
  EXPECT_EQ(links[0].name, "nv0");
  EXPECT_EQ(links[0].count, 4);
  EXPECT_EQ(links[0].lane_rate, BytesPerSecond(14e9));
  EXPECT_FALSE(is_assumed(imported.machine, "links.nv0.rate"));
}

TEST(NvlinksFromFacts, DirectionsWithDifferentNumbersAreAContradiction) {
  FactsBuilder built = gpus(2, "NVIDIA A40");
  built.facts.nvlinks.push_back({"0000:01:00.0", "0000:02:00.0", 4, std::nullopt, "a:1"});
  built.facts.nvlinks.push_back({"0000:02:00.0", "0000:01:00.0", 3, std::nullopt, "a:2"});
  const ImportedMachine imported = built.machine();
  ASSERT_EQ(imported.contradictions.size(), 1U);
  EXPECT_EQ(imported.contradictions[0].taken, "4");
}

TEST(NvlinksFromFacts, AllLinksToNvswitchesGoToOne) {
  FactsBuilder built = gpus(2, "NVIDIA H200");
  for (const char* gpu : {"0000:01:00.0", "0000:02:00.0"})
    built.facts.nvlinks.push_back({gpu, "", 18, std::nullopt, "a:1"});
  all_to_all(built, 2, "NV18");
  const ImportedMachine imported = built.machine();
  EXPECT_EQ(imported.machine.nvswitches.size(), 1U);
  EXPECT_EQ(nvlinks_of(imported.machine).size(), 2U);
  EXPECT_TRUE(imported.contradictions.empty()) << "18 links to the switches are NV18";
}

TEST(NvlinksFromFacts, AMatrixThatNeedsMoreLinksThanACardHasMeansNvswitches) {
  FactsBuilder hopper = gpus(8, "NVIDIA H100 80GB HBM3");
  all_to_all(hopper, 8, "NV18");
  EXPECT_EQ(nvlinks_of(hopper.machine().machine).size(), 8U);
  EXPECT_EQ(hopper.machine().machine.nvswitches.size(), 1U);
  FactsBuilder four = gpus(4, "NVIDIA A100-SXM4-40GB");
  all_to_all(four, 4, "NV4");
  EXPECT_EQ(nvlinks_of(four.machine().machine).size(), 6U) << "3 x 4 links are the 12 that an A100 has";
  EXPECT_TRUE(four.machine().machine.nvswitches.empty());
  FactsBuilder pair = gpus(2, "NVIDIA H200");
  all_to_all(pair, 2, "NV18");
  EXPECT_TRUE(pair.machine().machine.nvswitches.empty());
}

TEST(NvlinksFromFacts, PairsThatDifferAreDirect) {
  FactsBuilder built = gpus(3, "Tesla V100-SXM2-16GB");
  built.matrix({"GPU0", "GPU1", "GPU2"}, {{"X", "NV1", "NV2"}, {"NV1", "X", "SYS"}, {"NV2", "SYS", "X"}});
  const std::vector<Link> links = nvlinks_of(built.machine().machine);
  ASSERT_EQ(links.size(), 2U);
  EXPECT_EQ(links[1].count, 2);
  EXPECT_EQ(links[1].lane_rate, BytesPerSecond(25.781e9));
}

TEST(NvlinksFromFacts, AMatrixAndStatedLinksThatDifferAreAContradiction) {
  FactsBuilder built = gpus(2, "NVIDIA A40");
  built.facts.nvlinks.push_back({"0000:01:00.0", "0000:02:00.0", 3, std::nullopt, "a:1"});
  all_to_all(built, 2, "NV4");
  const ImportedMachine imported = built.machine();
  EXPECT_EQ(nvlinks_of(imported.machine)[0].count, 3);
  ASSERT_EQ(imported.contradictions.size(), 1U);
  EXPECT_EQ(imported.contradictions[0].other, "4");
}

TEST(NvlinksFromFacts, LinksToStrangersAndToItselfAreLeftOutWithANote) {
  FactsBuilder built = gpus(1, "NVIDIA A40");
  built.facts.nvlinks.push_back({"0000:01:00.0", "0000:01:00.0", 12, std::nullopt, "a:1"});
  built.facts.nvlinks.push_back({"0000:01:00.0", "0000:77:00.0", 12, std::nullopt, "a:2"});
  const ImportedMachine imported = built.machine();
  EXPECT_TRUE(nvlinks_of(imported.machine).empty());
  EXPECT_EQ(imported.notes.size(), 2U);
}

}  // namespace
}  // namespace lanecast
