// Rules about settings of links and cards, about error counters, and about ways that are redirected or
// barred.
#include <gtest/gtest.h>

#include "tests/model/doctor_examples.hpp"

namespace lanecast::support {
namespace {

TEST(DoctorOfAspm, WarnsOfLinksThatMayFallAsleep) {
  Machine machine = healthy();
  link_named(machine, "gpu1").aspm = Aspm::l1;
  link_named(machine, "uplink0").aspm = Aspm::l0s;
  EXPECT_EQ(troubles(machine), Codes{"LC-ASPM-01"});
  const Finding finding = examined_for("LC-ASPM-01", machine).at(0);
  EXPECT_EQ(finding.status, FindingStatus::warn);
  EXPECT_NE(finding.where.find("gpu1 (L1)"), std::string::npos);
  EXPECT_EQ(*finding.mended, healthy());
  machine.assumed = {"links.gpu1.aspm", "links.uplink0.aspm"};
  EXPECT_EQ(examined_for("LC-ASPM-01", machine).at(0).status, FindingStatus::skip);
}

TEST(DoctorOfPayloads, WarnsWhereTheWholePathCouldTakeMore) {
  Machine machine = healthy();
  for (const char* name : {"uplink0", "gpu0", "gpu1", "gpu2", "gpu3"})
    link_named(machine, name).max_mps = Bytes(512);
  EXPECT_EQ(troubles(machine), Codes{"LC-MPS-01"});
  const Finding finding = examined_for("LC-MPS-01", machine).at(0);
  EXPECT_NE(finding.where.find("gpu3 (256 of 512 B)"), std::string::npos);
  EXPECT_EQ(troubles(*finding.mended), Codes{});
}

TEST(DoctorOfPayloads, CountsTheSmallestOnThePath) {
  Machine machine = healthy();
  link_named(machine, "gpu0").max_mps = Bytes(512);  // the uplink still takes 256 B only
  EXPECT_EQ(troubles(machine), Codes{});
  link_named(machine, "uplink0").mps = Bytes(128);
  EXPECT_EQ(troubles(machine), Codes{"LC-MPS-01"});
}

TEST(DoctorOfPayloads, SkipsWhereALinkOnThePathIsUnknown) {
  Machine machine = healthy();
  link_named(machine, "uplink0").max_mps.reset();
  EXPECT_EQ(examined_for("LC-MPS-01", machine).at(0).status, FindingStatus::skip);
  machine = healthy();
  machine.assumed = {"links.gpu2.mps"};
  EXPECT_EQ(examined_for("LC-MPS-01", machine).at(0).where, "gpu gpu2");
}

TEST(DoctorOfWindows, WarnsOfASmallBar1WithoutACost) {
  Machine machine = healthy();
  machine.gpus[1].bar1 = Bytes(256u << 20);
  EXPECT_EQ(troubles(machine), Codes{"LC-BAR-01"});
  const Finding finding = examined_for("LC-BAR-01", machine).at(0);
  EXPECT_EQ(finding.where, "gpu gpu1 (256 MiB of 40 GiB)");
  EXPECT_FALSE(finding.mended);
  EXPECT_NE(finding.fact.find("not modelled"), std::string::npos);
  EXPECT_NE(finding.mend.find("Above 4G"), std::string::npos);
  machine.gpus[1].memory.reset();
  EXPECT_EQ(examined_for("LC-BAR-01", machine).at(0).status, FindingStatus::skip);
}

TEST(DoctorOfErrors, WarnsOfCorrectedOnesAndFailsRisingOnes) {
  Machine machine = healthy();
  link_named(machine, "gpu1").corrected_errors = 7;
  const Finding alone = of_code(examine({machine, std::nullopt, Implementation()}), "LC-AER-01").at(0);
  EXPECT_EQ(alone.status, FindingStatus::warn);
  EXPECT_FALSE(alone.mended) << "no share of packets, no cost";
  const Finding rising = examined_for("LC-AER-01", machine, healthy()).at(0);
  EXPECT_EQ(rising.status, FindingStatus::fail);
  EXPECT_NE(rising.fact.find("7 corrected errors, 7 of them since"), std::string::npos) << rising.fact;
  EXPECT_EQ(examined_for("LC-AER-01", machine, machine).at(0).status, FindingStatus::pass)
      << "it stands still";
  EXPECT_EQ(troubles(machine, healthy()), Codes{"LC-AER-01"});
}

TEST(DoctorOfErrors, TakesACounterThatFellAsBegunAnew) {
  Machine machine = healthy(), before = healthy();
  link_named(before, "gpu1").corrected_errors = 100;
  link_named(machine, "gpu1").corrected_errors = 3;
  EXPECT_EQ(examined_for("LC-AER-01", machine, before).at(0).status, FindingStatus::fail);
}

TEST(DoctorOfErrors, FailsAnyUncorrectedOne) {
  Machine machine = healthy();
  link_named(machine, "uplink0").uncorrected_errors = 1;
  EXPECT_EQ(troubles(machine), Codes{"LC-AER-02"});
  EXPECT_EQ(examined_for("LC-AER-02", machine).at(0).status, FindingStatus::fail);
}

TEST(DoctorOfErrors, SkipsCountersThatWereNotRead) {
  Machine machine = healthy();
  for (Link& link : machine.links) {
    link.corrected_errors.reset();
    link.uncorrected_errors.reset();
    link.replays.reset();
  }
  for (const char* code : {"LC-AER-01", "LC-AER-02", "LC-REPLAY-01"})
    EXPECT_EQ(examined_for(code, machine).at(0).status, FindingStatus::skip) << code;
}

TEST(DoctorOfReplays, WarnsOfSomeFailsRisingOnesAndPricesAStatedShare) {
  Machine machine = healthy();
  link_named(machine, "gpu0").replays = 41;
  EXPECT_EQ(of_code(examine({machine, std::nullopt, Implementation()}), "LC-REPLAY-01").at(0).status,
            FindingStatus::warn);
  EXPECT_EQ(examined_for("LC-REPLAY-01", machine, healthy()).at(0).status, FindingStatus::fail);
  machine = healthy();
  link_named(machine, "gpu0").replay_rate = 1e-3;
  const Finding stated = examined_for("LC-REPLAY-01", machine).at(0);
  EXPECT_EQ(stated.status, FindingStatus::fail);
  EXPECT_EQ(*stated.mended, healthy());
  EXPECT_EQ(troubles(machine), Codes{"LC-REPLAY-01"});
}

TEST(DoctorOfRedirects, FailsAcsOnASwitchThatTurnsPeerTraffic) {
  Machine machine = healthy();
  machine.switches[0].acs = true;
  EXPECT_EQ(troubles(machine), Codes{"LC-ACS-01"});
  const Finding finding = examined_for("LC-ACS-01", machine).at(0);
  EXPECT_EQ(finding.status, FindingStatus::fail);
  EXPECT_NE(finding.fact.find("6 pairs"), std::string::npos);
  EXPECT_EQ(*finding.mended, healthy());
  machine.assumed = {"switches.sw0.acs"};
  EXPECT_EQ(examined_for("LC-ACS-01", machine).at(0).status, FindingStatus::skip);
}

TEST(DoctorOfRedirects, NamesTheSwitchThatCouldTurnNotThoseAbove) {
  Machine machine = complete(nested_switches(2, 2));
  machine.switches[0].acs = true;  // the upper one: pairs of different leaves
  Finding finding = examined_for("LC-ACS-01", machine).at(0);
  EXPECT_EQ(finding.where, "switch sw0");
  EXPECT_NE(finding.fact.find("4 pairs"), std::string::npos) << finding.fact;
  machine.switches[0].acs = false;
  machine.switches[2].acs = true;
  finding = examined_for("LC-ACS-01", machine).at(0);
  EXPECT_EQ(finding.where, "switch sw2");
  EXPECT_NE(finding.fact.find("1 pair "), std::string::npos) << finding.fact;
}

TEST(DoctorOfRedirects, OnlyWarnsOfAcsThatNothingMakesUseOf) {
  Machine machine = healthy();
  machine.switches[0].acs = true;
  for (Gpu& gpu : machine.gpus) gpu.p2p = false;
  EXPECT_EQ(examined_for("LC-ACS-01", machine).at(0).status, FindingStatus::warn);
}

TEST(DoctorOfRedirects, FailsTranslationByTheIommu) {
  Machine machine = healthy();
  machine.p2p.iommu = true;
  EXPECT_EQ(troubles(machine), Codes{"LC-IOMMU-01"});
  EXPECT_EQ(examined_for("LC-IOMMU-01", machine).at(0).status, FindingStatus::fail);
  EXPECT_EQ(*examined_for("LC-IOMMU-01", machine).at(0).mended, healthy());
  machine.assumed = {"p2p.iommu"};
  EXPECT_EQ(examined_for("LC-IOMMU-01", machine).at(0).status, FindingStatus::skip);
}

TEST(DoctorOfPeerAccess, WarnsOfPairsBeyondTheLevelOfTheImplementation) {
  Machine machine = healthy_roots(4);
  machine.p2p.level.reset();  // NCCL's default reaches PXB; these are NODE
  EXPECT_EQ(troubles(machine), Codes{"LC-P2P-01"});
  const Finding finding = examined_for("LC-P2P-01", machine).at(0);
  EXPECT_EQ(finding.status, FindingStatus::warn);
  for (const char* part : {"6 of 6 pairs", "6 NODE", "PXB", "nccl-2.30"})
    EXPECT_NE(finding.fact.find(part), std::string::npos) << finding.fact;
  EXPECT_EQ(*finding.mended, healthy_roots(4));
  DoctorInput input{machine, machine, implementation_from_string("lanecast")};
  EXPECT_EQ(of_code(examine(input), "LC-P2P-01").at(0).status, FindingStatus::pass)
      << "our engine reaches SYS";
}

TEST(DoctorOfPeerAccess, FailsASwitchedOffOneWhereASwitchCouldTurn) {
  for (const bool by_level : {false, true}) {
    Machine machine = healthy();
    by_level ? void(machine.p2p.level = Distance::loc) : void(machine.p2p.enabled = false);
    const Finding finding = examined_for("LC-P2P-01", machine).at(0);
    EXPECT_EQ(finding.status, FindingStatus::fail);
    EXPECT_EQ(*finding.mended, healthy());
  }
  Machine roots = healthy_roots(2);
  roots.p2p.enabled = false;
  EXPECT_EQ(troubles(roots), Codes{"LC-P2P-01"});
  EXPECT_EQ(examined_for("LC-P2P-01", roots).at(0).status, FindingStatus::warn)
      << "host memory may be as fast";
  EXPECT_EQ(*examined_for("LC-P2P-01", roots).at(0).mended, healthy_roots(2));
  roots.p2p.level.reset();
  roots.cpus[0].vendor = "intel";  // of two cards on AMD, NCCL lets any pair
  EXPECT_EQ(examined_for("LC-P2P-01", roots).at(0).mended->p2p.level, Distance::sys) << "both are needed";
}

TEST(DoctorOfPeerAccess, MendsNothingForCardsWhoseFamilyHasNone) {
  Machine machine = healthy_roots(4);
  for (Gpu& gpu : machine.gpus) {
    gpu.model = "NVIDIA GeForce RTX 4090";
    gpu.p2p.reset();
  }
  const Finding finding = examined_for("LC-P2P-01", machine).at(0);
  EXPECT_EQ(finding.status, FindingStatus::warn);
  EXPECT_FALSE(finding.mended);
  machine.p2p.enabled = false;
  EXPECT_FALSE(examined_for("LC-P2P-01", machine).at(0).mended) << "switching it on would not help them";
}

TEST(DoctorOfPeerAccess, MendsCardsThatTheDriverKeepsOutAlthoughTheModelIsAble) {
  Machine machine = healthy_roots(4);
  machine.gpus[2].p2p = false;
  EXPECT_EQ(troubles(machine), Codes{"LC-P2P-01"});
  const Finding finding = examined_for("LC-P2P-01", machine).at(0);
  EXPECT_EQ(finding.where, "gpu gpu2");
  EXPECT_EQ(*finding.mended, healthy_roots(4));
}

TEST(DoctorOfPeerAccess, SkipsCardsOfWhichNothingIsKnown) {
  Machine machine = healthy();
  machine.gpus[1].p2p.reset();
  machine.gpus[1].model.clear();
  EXPECT_EQ(examined_for("LC-P2P-01", machine).at(0).status, FindingStatus::skip);
  machine = healthy();
  machine.assumed = {"gpus.gpu1.p2p"};
  EXPECT_EQ(examined_for("LC-P2P-01", machine).at(0).where, "gpu gpu1");
}

}  // namespace
}  // namespace lanecast::support
