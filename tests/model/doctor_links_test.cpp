// Rules about PCIe links: each breaks a healthy machine in one way.
#include <gtest/gtest.h>

#include "tests/model/doctor_examples.hpp"

namespace lanecast::support {
namespace {

TEST(DoctorOfAHealthyMachine, PassesEveryRule) {
  const std::vector<Finding> findings = examined(healthy());
  EXPECT_GE(findings.size(), 20u);
  for (const Finding& finding : findings)
    EXPECT_EQ(finding.status, FindingStatus::pass) << finding.code << ": " << finding.fact;
  EXPECT_EQ(troubles(healthy_roots(4)), Codes{});
}

/// One link, with its capability at Gen4 x16 as all others'.
Machine with_link(const std::string& name, PcieRate rate, int width) {
  Machine machine = healthy();
  link_named(machine, name).rate = rate;
  link_named(machine, name).width = width;
  return machine;
}

TEST(DoctorOfLinks, FailsALinkThatIsSlowerOrNarrowerThanItsEndsAndMendsIt) {
  for (const char* name : {"gpu2", "uplink0"}) {
    for (const Machine& broken : {with_link(name, PcieRate::gen2, 16), with_link(name, PcieRate::gen4, 8),
                                  with_link(name, PcieRate::gen1, 1)}) {
      EXPECT_EQ(troubles(broken), Codes{"LC-LINK-01"});
      const std::vector<Finding> findings = examined_for("LC-LINK-01", broken);
      ASSERT_EQ(findings.size(), 1u);
      EXPECT_EQ(findings[0].status, FindingStatus::fail);
      EXPECT_EQ(findings[0].where, std::string("link ") + name);
      ASSERT_TRUE(findings[0].mended);
      EXPECT_EQ(*findings[0].mended, healthy());
    }
  }
}

TEST(DoctorOfLinks, SaysWhatTheLinkDoesWhatItCouldAndWhereItIs) {
  Machine broken = with_link("gpu1", PcieRate::gen3, 8);
  link_named(broken, "gpu1").slot = "5";
  link_named(broken, "gpu1").port = "0000:40:01.1";
  const Finding finding = examined_for("LC-LINK-01", broken).at(0);
  for (const char* part : {"gen3 x8", "gen4 x16", "7.9 GB/s", "31.5 GB/s"})
    EXPECT_NE(finding.fact.find(part), std::string::npos) << finding.fact;
  for (const char* part : {"slot 5", "0000:40:01.1", "reseat", "riser", "firmware",
                           "--set links.gpu1.rate=gen4 --set links.gpu1.width=x16"})
    EXPECT_NE(finding.mend.find(part), std::string::npos) << finding.mend;
}

TEST(DoctorOfLinks, MendsEachOfTwoFaultsAlone) {
  Machine broken = with_link("gpu1", PcieRate::gen3, 16);
  link_named(broken, "gpu3").width = 4;
  const std::vector<Finding> findings = examined_for("LC-LINK-01", broken);
  ASSERT_EQ(findings.size(), 2u);
  for (const Finding& finding : findings) EXPECT_EQ(examined_for("LC-LINK-01", *finding.mended).size(), 1u);
}

TEST(DoctorOfLinks, WarnsOnlyWhereAnAdaptersLinkStillCarriesItsPort) {
  Machine broken = healthy();  // the adapter's port does 25 GB/s, Gen4 x16 31.5, Gen3 x16 15.8
  link_named(broken, "nic0").max_rate = PcieRate::gen5;
  EXPECT_EQ(examined_for("LC-LINK-01", broken).at(0).status, FindingStatus::warn);
  link_named(broken, "nic0").rate = PcieRate::gen3;
  EXPECT_EQ(examined_for("LC-LINK-01", broken).at(0).status, FindingStatus::fail);
}

TEST(DoctorOfLinks, LeavesOutWhatLeadsToNoCard) {
  Machine gone = with_link("gpu2", PcieRate::gen1, 1);
  gone.gpus[2].present = false;
  EXPECT_EQ(examined_for("LC-LINK-01", gone).at(0).status, FindingStatus::pass);
}

TEST(DoctorOfLinks, SkipsWhatWasOnlyAssumedAndNamesTheCommand) {
  for (const char* key : {"rate", "width", "max_rate", "max_width"}) {
    Machine machine = healthy();
    machine.assumed = {std::string("links.gpu1.") + key};
    const Finding finding = examined_for("LC-LINK-01", machine).at(0);
    EXPECT_EQ(finding.status, FindingStatus::skip) << key;
    EXPECT_EQ(finding.where, "link gpu1");
    EXPECT_NE(finding.mend.find("lspci -vvv"), std::string::npos);
  }
  Machine whole = healthy();
  whole.assumed = {"links.uplink0"};
  EXPECT_EQ(examined_for("LC-LINK-01", whole).at(0).status, FindingStatus::skip);
}

TEST(DoctorOfLinks, WarnsWhereOnlyTheCapabilityWasAssumedAndSkipsWhereTheStatusWas) {
  Machine machine = with_link("gpu1", PcieRate::gen3, 16);
  machine.assumed = {"links.gpu1.max_rate"};
  EXPECT_EQ(examined_for("LC-LINK-01", machine).at(0).status, FindingStatus::warn);
  machine.assumed = {"links.gpu1.rate"};
  EXPECT_EQ(examined_for("LC-LINK-01", machine).at(0).status, FindingStatus::skip);
}

TEST(DoctorOfSleepingLinks, SkipsTheRateOfACardThatSlept) {
  Machine machine = healthy();
  link_named(machine, "gpu1").idle = true;
  machine.assumed = {"links.gpu1.rate"};
  EXPECT_EQ(troubles(machine), Codes{});
  EXPECT_EQ(examined_for("LC-LINK-02", machine).at(0).status, FindingStatus::skip);
  EXPECT_EQ(examined_for("LC-LINK-01", machine).at(0).status, FindingStatus::pass) << "the width was read";
}

TEST(DoctorOfSleepingLinks, SkipsALinkThatNobodyRead) {
  Machine machine = healthy();
  machine.assumed = {"links.gpu1.rate"};
  EXPECT_EQ(examined_for("LC-LINK-02", machine).at(0).status, FindingStatus::skip);
}

TEST(DoctorOfSleepingLinks, WarnsWhereTheSlowRateOfASleepingCardWasTaken) {
  Machine machine = with_link("gpu1", PcieRate::gen1, 16);
  link_named(machine, "gpu1").idle = true;
  EXPECT_EQ(troubles(machine), Codes{"LC-LINK-02"});
  Machine awake = healthy();
  link_named(awake, "gpu1").idle = true;
  EXPECT_EQ(*examined_for("LC-LINK-02", machine).at(0).mended, awake);
  link_named(machine, "gpu1").width = 8;
  EXPECT_EQ(troubles(machine), (Codes{"LC-LINK-01", "LC-LINK-02"})) << "sleep takes no lanes away";
}

TEST(DoctorOfEqualCards, WarnsWhereOneOfThemCanDoLess) {
  for (const bool narrower : {true, false}) {
    Machine machine = healthy();
    Link& link = link_named(machine, "gpu3");
    if (narrower) {
      link.width = link.max_width = 8;
      link.device_max_width = 8;
    } else {
      link.rate = link.max_rate = PcieRate::gen3;
      link.device_max_rate = PcieRate::gen3;
    }
    EXPECT_EQ(troubles(machine), Codes{"LC-LINK-03"});
    const Finding finding = examined_for("LC-LINK-03", machine).at(0);
    EXPECT_EQ(finding.status, FindingStatus::warn);
    EXPECT_NE(finding.where.find("gpu3"), std::string::npos);
    EXPECT_EQ(troubles(*finding.mended), Codes{});
    machine.gpus[3].model = "NVIDIA A30";
    EXPECT_EQ(examined_for("LC-LINK-03", machine).at(0).status, FindingStatus::pass) << "another card";
  }
}

TEST(DoctorOfSlots, WarnsWhereTheCardCouldDoMore) {
  Machine machine = healthy();
  for (Link& link : machine.links) {
    if (link.to.kind == NodeKind::gpu) link.width = link.max_width = 8;
  }
  EXPECT_EQ(troubles(machine), Codes{"LC-SLOT-01"});
  const std::vector<Finding> findings = examined_for("LC-SLOT-01", machine);
  ASSERT_EQ(findings.size(), 4u);
  Machine mended = *findings[0].mended;
  EXPECT_EQ(link_named(mended, "gpu0").width, 16);
  machine.assumed = {"links.gpu0.device_max_width"};
  EXPECT_EQ(examined_for("LC-SLOT-01", machine).back().status, FindingStatus::skip);
}

TEST(DoctorOfSlots, SkipsWhereTheCardsOwnAbilityIsNotKnown) {
  Machine machine = healthy();
  link_named(machine, "gpu0").device_max_rate.reset();
  EXPECT_EQ(examined_for("LC-SLOT-01", machine).at(0).status, FindingStatus::skip);
}

}  // namespace
}  // namespace lanecast::support
