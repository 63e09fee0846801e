// Rules about cards and NVLinks, and about what an earlier dump shows.
#include <gtest/gtest.h>

#include "tests/model/doctor_examples.hpp"

namespace lanecast::support {
namespace {

TEST(DoctorOfCards, FailsOneThatIsGoneAndPricesTheRingWithIt) {
  Machine machine = healthy();
  machine.gpus[2].present = false;
  EXPECT_EQ(troubles(machine), Codes{"LC-CARD-01"});
  const Finding finding = examined_for("LC-CARD-01", machine, healthy()).at(0);
  EXPECT_EQ(finding.status, FindingStatus::fail);
  EXPECT_EQ(finding.where, "gpu gpu2");
  EXPECT_NE(finding.fact.find("rings close over the other 3"), std::string::npos);
  EXPECT_NE(finding.fact.find("one rank more"), std::string::npos);
  EXPECT_EQ(*finding.mended, healthy());
  EXPECT_EQ(troubles(machine, healthy()), Codes{"LC-CARD-01"}) << "told once, though the earlier dump has it";
}

/// The machine without its last card.
Machine without_last(Machine machine) {
  const NodeId last{NodeKind::gpu, static_cast<int>(machine.gpus.size()) - 1};
  machine.links.erase(std::remove_if(machine.links.begin(), machine.links.end(),
                                     [&](const Link& link) { return link.to == last || link.from == last; }),
                      machine.links.end());
  machine.gpus.pop_back();
  return machine;
}

TEST(DoctorOfCards, FailsOneThatOnlyTheEarlierDumpShowsAndPutsItBack) {
  const Machine before = healthy();
  const Machine now = without_last(before);
  EXPECT_EQ(troubles(now), Codes{});
  EXPECT_EQ(troubles(now, before), Codes{"LC-CARD-01"});
  const Finding finding = examined_for("LC-CARD-01", now, before).at(0);
  EXPECT_EQ(finding.where, "gpu gpu3");
  EXPECT_EQ(finding.mended->gpus, before.gpus);
  EXPECT_EQ(troubles(*finding.mended, before), Codes{});
}

TEST(DoctorOfCards, RecognizesThemByAddressWhenNamesShift) {
  Machine before = healthy();
  for (std::size_t i = 0; i < before.gpus.size(); ++i)
    before.gpus[i].bdf = "0000:2" + std::to_string(i) + ":00.0";
  Machine now = without_last(before);
  for (std::size_t i = 1; i < now.gpus.size(); ++i)
    now.gpus[i].bdf = before.gpus[i + 1].bdf;  // the second is gone
  const Finding finding = examined_for("LC-CARD-01", now, before).at(0);
  EXPECT_EQ(finding.where, "gpu gpu1");
  EXPECT_NE(finding.fact.find("0000:21:00.0"), std::string::npos);
  EXPECT_TRUE(check_machine(*finding.mended).empty()) << "the name gpu1 is taken";
}

TEST(DoctorOfCards, WarnsWhereOnePlaceHoldsOneLess) {
  const Machine switches = without_last(complete(two_switches(4)));
  const Finding finding = examined_for("LC-CARD-01", switches).at(0);
  EXPECT_EQ(finding.status, FindingStatus::warn);
  EXPECT_EQ(finding.where, "switch sw1");
  EXPECT_EQ(finding.mended->gpus.size(), 8u);
  EXPECT_EQ(examined_for("LC-CARD-01", *finding.mended).at(0).status, FindingStatus::pass);
  EXPECT_EQ(examined_for("LC-CARD-01", without_last(complete(two_sockets(4)))).at(0).where, "root root1");
  Machine direct = complete(own_roots(7));
  direct.cpus.push_back(direct.cpus[0]);
  direct.cpus[1].name = "cpu1";
  add_socket_link(direct, {NodeKind::cpu, 0}, {NodeKind::cpu, 1});
  for (int i = 4; i < 7; ++i) direct.roots[static_cast<std::size_t>(i)].cpu = 1;
  EXPECT_EQ(examined_for("LC-CARD-01", direct).at(0).where, "cpu cpu1");
}

TEST(DoctorOfCards, TakesUnlikeBoxesAsTheyAre) {
  EXPECT_EQ(examined_for("LC-CARD-01", without_last(complete(two_switches(2)))).at(0).status,
            FindingStatus::pass)
      << "boxes of three cards are built";
  EXPECT_EQ(examined_for("LC-CARD-01", without_last(without_last(complete(two_switches(4))))).at(0).status,
            FindingStatus::pass)
      << "two fewer is no single card";
  Machine guessed = without_last(complete(two_switches(4)));
  guessed.assumed = {"links.gpu0.from"};
  EXPECT_EQ(examined_for("LC-CARD-01", guessed).at(0).status, FindingStatus::pass)
      << "a rule placed the cards";
}

TEST(DoctorOfCards, WarnsOfDifferentModels) {
  Machine machine = healthy();
  machine.gpus[3].model = "NVIDIA A30";
  EXPECT_EQ(troubles(machine), Codes{"LC-GPU-01"});
  EXPECT_NE(examined_for("LC-GPU-01", machine).at(0).fact.find("1 x NVIDIA A30"), std::string::npos);
  machine.gpus[3].model.clear();
  EXPECT_EQ(examined_for("LC-GPU-01", machine).at(0).status, FindingStatus::skip);
  Machine assumed = healthy();
  for (const Gpu& gpu : assumed.gpus) assumed.assumed.push_back("gpus." + gpu.name + ".model");
  for (const char* code : {"LC-GPU-01", "LC-NVLINK-01", "LC-LINK-03"})
    EXPECT_EQ(examined_for(code, assumed).at(0).status, FindingStatus::skip) << code;
}

Machine healthy_nvswitch(int gpus) {
  Machine machine = complete(with_nvswitch(gpus));
  for (Gpu& gpu : machine.gpus) gpu.model = "NVIDIA A100-SXM4-40GB";
  return machine;
}

TEST(DoctorOfNvlinks, FailsACardWithFewerThanEqualCards) {
  Machine machine = healthy_nvswitch(4);
  EXPECT_EQ(troubles(machine), Codes{});
  link_named(machine, "nv2").count = 11;
  EXPECT_EQ(troubles(machine), Codes{"LC-NVLINK-01"});
  const Finding finding = examined_for("LC-NVLINK-01", machine).at(0);
  EXPECT_EQ(finding.status, FindingStatus::fail);
  EXPECT_EQ(finding.where, "gpu gpu2 (11 of 12)");
  EXPECT_EQ(*finding.mended, healthy_nvswitch(4));
}

TEST(DoctorOfNvlinks, KnowsAMeshWithUnequalPairsForWhole) {
  const Machine whole = complete(cube_mesh());
  EXPECT_EQ(examined_for("LC-NVLINK-01", whole).at(0).status, FindingStatus::pass);
  Machine broken = whole;
  link_named(broken, "nv2").count = 1;  // 0 to 3, of two
  const Finding finding = examined_for("LC-NVLINK-01", broken).at(0);
  EXPECT_EQ(finding.where, "gpus gpu0 (5 of 6), gpu3 (5 of 6)");
  EXPECT_EQ(*finding.mended, whole);
}

TEST(DoctorOfNvlinks, PutsAPairsOnlyLinkBack) {
  Machine broken = complete(cube_mesh());
  broken.links.erase(std::find_if(broken.links.begin(), broken.links.end(),
                                  [](const Link& link) { return link.name == "nv0"; }));  // 0 to 1, of one
  const Finding finding = examined_for("LC-NVLINK-01", broken).at(0);
  EXPECT_EQ(finding.where, "gpus gpu0 (5 of 6), gpu1 (5 of 6)");
  ASSERT_TRUE(finding.mended);
  EXPECT_EQ(examined_for("LC-NVLINK-01", *finding.mended).at(0).status, FindingStatus::pass);
}

TEST(DoctorOfNvlinks, WarnsWhereBoardsWithNvlinkShowNone) {
  Machine machine = healthy_roots(2);
  for (Gpu& gpu : machine.gpus) gpu.model = "NVIDIA H200";
  EXPECT_EQ(troubles(machine), Codes{"LC-NVLINK-01"});
  EXPECT_EQ(examined_for("LC-NVLINK-01", machine).at(0).status, FindingStatus::warn);
  for (const char* without : {"NVIDIA H200 NVL", "NVIDIA H100 PCIe", "NVIDIA L40S", "Tesla V100-PCIE-16GB"}) {
    for (Gpu& gpu : machine.gpus) gpu.model = without;
    EXPECT_EQ(troubles(machine), Codes{}) << without;
  }
}

TEST(DoctorOfNvlinks, WarnsOfAPairWithoutTheBridgeThatAnotherHas) {
  Machine machine = healthy_roots(4);
  add_nvlink(machine, {NodeKind::gpu, 0}, {NodeKind::gpu, 1});
  EXPECT_EQ(troubles(machine), Codes{"LC-NVLINK-01"});
  const Finding finding = examined_for("LC-NVLINK-01", machine).at(0);
  EXPECT_EQ(finding.status, FindingStatus::warn);
  EXPECT_EQ(finding.where, "gpus gpu2, gpu3");
  EXPECT_EQ(finding.mended->links.back().count, 4);
}

TEST(DoctorOfNvlinks, ExpectsNoBridgeOnACardWithoutAPartner) {
  Machine machine = healthy_roots(3);
  add_nvlink(machine, {NodeKind::gpu, 0}, {NodeKind::gpu, 1});
  EXPECT_EQ(troubles(machine), Codes{});
}

TEST(DoctorOfNvlinks, KnowsNoEqualsAmongCardsWhoseModelNoDumpNames) {
  Machine machine = healthy_roots(4);
  for (const Gpu& gpu : machine.gpus) machine.assumed.push_back("gpus." + gpu.name + ".model");
  add_nvlink(machine, {NodeKind::gpu, 0}, {NodeKind::gpu, 1});
  EXPECT_EQ(examined_for("LC-NVLINK-01", machine).at(0).where, "gpus gpu2, gpu3");
  EXPECT_EQ(examined_for("LC-NVLINK-01", machine).at(0).status, FindingStatus::skip);
  add_nvlink(machine, {NodeKind::gpu, 2}, {NodeKind::gpu, 3}, 3);
  EXPECT_EQ(examined_for("LC-NVLINK-01", machine).at(0).status, FindingStatus::warn);
}

TEST(DoctorOfNvlinks, FailsWhatTheEarlierDumpHadMoreOf) {
  Machine now = healthy_nvswitch(2);
  for (const char* name : {"nv0", "nv1"}) link_named(now, name).count = 10;
  EXPECT_EQ(troubles(now), Codes{}) << "both alike";
  EXPECT_EQ(troubles(now, healthy_nvswitch(2)), Codes{"LC-NVLINK-01"});
  EXPECT_EQ(*examined_for("LC-NVLINK-01", now, healthy_nvswitch(2)).at(0).mended, healthy_nvswitch(2));
}

TEST(DoctorOfNvlinks, FailsABridgeThatOnlyTheEarlierDumpShows) {
  Machine before = healthy_roots(2);
  add_nvlink(before, {NodeKind::gpu, 0}, {NodeKind::gpu, 1});
  EXPECT_EQ(troubles(healthy_roots(2)), Codes{});
  EXPECT_EQ(troubles(healthy_roots(2), before), Codes{"LC-NVLINK-01"});
  EXPECT_EQ(examined_for("LC-NVLINK-01", healthy_roots(2), before).at(0).where,
            "gpus gpu0 (0 of 4), gpu1 (0 of 4)");
}

TEST(DoctorOfChanges, SkipsWithoutAnEarlierDump) {
  const std::vector<Finding> findings = examine({healthy(), std::nullopt, Implementation()});
  EXPECT_EQ(of_code(findings, "LC-CHANGE-01").at(0).status, FindingStatus::skip);
}

TEST(DoctorOfChanges, NamesACardThatMovedAndOneThatIsNew) {
  Machine before = complete(two_switches(2)), now = before;
  before.gpus[1].bdf = "0000:21:00.0";
  now.gpus[1].bdf = "0000:43:00.0";
  link_named(now, "gpu1").from = {NodeKind::pcie_switch, 1};
  const std::vector<Finding> moved = examined_for("LC-CHANGE-01", now, before);
  ASSERT_EQ(moved.size(), 1u);
  EXPECT_EQ(moved[0].status, FindingStatus::warn);
  for (const char* part : {"moved", "sw0", "sw1"}) EXPECT_NE(moved[0].fact.find(part), std::string::npos);
  EXPECT_EQ(examined_for("LC-CARD-01", now, before).at(0).status, FindingStatus::pass) << "not gone";
  const std::vector<Finding> added = examined_for("LC-CHANGE-01", healthy(), without_last(healthy()));
  ASSERT_EQ(added.size(), 1u);
  EXPECT_EQ(added[0].fact, "is new");
}

TEST(DoctorOfChanges, FailsALinkWhoseEndsCanDoLess) {
  Machine now = healthy();
  for (Link& link : now.links) {
    if (link.to.kind == NodeKind::gpu) link.width = link.max_width = *(link.device_max_width = 8);
  }
  EXPECT_EQ(troubles(now, healthy()), Codes{"LC-CHANGE-01"});
  EXPECT_EQ(examined_for("LC-CHANGE-01", now, healthy()).at(0).status, FindingStatus::fail);
  Machine before = healthy();
  for (const char* name : {"gpu0", "gpu1", "gpu2", "gpu3"})
    before.assumed.push_back(std::string("links.") + name + ".max_width");
  EXPECT_EQ(troubles(now, before), Codes{}) << "what was assumed before is no change";
}

TEST(DoctorOfChanges, WarnsOfDumpsThatDoNotBelongTogether) {
  Machine before = healthy(), now = healthy();
  before.host = "nodea";
  now.host = "nodeb";
  before.taken = "2026-11-30T06:25:03Z";
  now.taken = "2026-11-29T06:25:03Z";
  EXPECT_EQ(examined_for("LC-CHANGE-01", now, before).size(), 2u);
}

}  // namespace
}  // namespace lanecast::support
