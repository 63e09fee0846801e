#include "model/topology/difference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/machine_builders.hpp"

namespace lanecast {
namespace {

using support::link_named;

/// "kind: text" of each.
std::vector<std::string> told(const Machine& before, const Machine& after) {
  std::vector<std::string> lines;
  for (const MachineChange& change : differences(before, after)) {
    lines.push_back(std::string(to_string(change.kind)) + ": " + change.text);
  }
  return lines;
}

using Lines = std::vector<std::string>;

/// Two switches with two cards each, as a dump shows them: addresses, buses, slots, models.
Machine addressed() {
  Machine machine = support::two_switches(2);
  machine.roots[0].bus = "0000:20";
  machine.roots[1].bus = "0000:40";
  machine.switches[0].bdf = "0000:21:00.0";
  machine.switches[1].bdf = "0000:41:00.0";
  const std::vector<std::string> addresses{"0000:23:00.0", "0000:24:00.0", "0000:43:00.0", "0000:44:00.0"};
  for (std::size_t i = 0; i < 4; ++i) {
    machine.gpus[i].bdf = addresses[i];
    machine.gpus[i].model = "NVIDIA L40S";
  }
  return machine;
}

/// The dump of the same box without this card: the cards behind it get its name.
Machine without_gpu(Machine machine, int index) {
  machine.gpus.erase(machine.gpus.begin() + index);
  auto& links = machine.links;
  links.erase(std::remove_if(links.begin(), links.end(),
                             [&](const Link& link) {
                               return link.to == NodeId{NodeKind::gpu, index};
                             }),
              links.end());
  for (Link& link : links) {
    if (link.to.kind == NodeKind::gpu && link.to.index > index)
      link.name = "gpu" + std::to_string(--link.to.index);
  }
  for (std::size_t i = 0; i < machine.gpus.size(); ++i) machine.gpus[i].name = "gpu" + std::to_string(i);
  return machine;
}

TEST(Differences, NothingChangedNothingIsTold) {
  EXPECT_EQ(told(addressed(), addressed()), Lines{});
  EXPECT_FALSE(any_change(differences(addressed(), addressed())));
}

TEST(Differences, ACardIsGoneByItsAddressAlthoughTheNamesShift) {
  const Machine before = addressed(), after = without_gpu(before, 1);
  EXPECT_EQ(told(before, after), Lines{"gone: gpu1 (0000:24:00.0), NVIDIA L40S: gone"});
  EXPECT_EQ(told(after, before), Lines{"new: gpu1 (0000:24:00.0), NVIDIA L40S: new"});
  EXPECT_TRUE(any_change(differences(before, after)));
}

TEST(Differences, ACardMarkedAsNotPresentIsGoneToo) {
  Machine after = addressed();
  after.gpus[3].present = false;
  EXPECT_EQ(told(addressed(), after), Lines{"gone: gpu3 (0000:44:00.0), NVIDIA L40S: gone"});
  EXPECT_EQ(told(after, addressed()), Lines{"new: gpu3 (0000:44:00.0), NVIDIA L40S: new"});
}

TEST(Differences, WithoutAddressesTheNameDecides) {
  const Machine before = support::one_root(3), after = without_gpu(before, 0);
  EXPECT_EQ(told(before, after), Lines{"gone: gpu2, NVIDIA A100-PCIE-40GB: gone"});
}

TEST(Differences, OneGoneAndOneNewOfTheSameModelIsACardThatMoved) {
  Machine after = addressed();
  after.gpus[1].bdf = "0000:45:00.0";
  link_named(after, "gpu1").from = {NodeKind::pcie_switch, 1};
  EXPECT_EQ(
      told(addressed(), after),
      Lines{"moved: gpu1 (0000:24:00.0), NVIDIA L40S: gone from its place below sw0 (0000:21:00.0); one of "
            "its model is new, gpu1 (0000:45:00.0) below sw1 (0000:41:00.0)"});
}

TEST(Differences, ANewCardOfAnotherModelDidNotMove) {
  Machine after = addressed();
  after.gpus[1].bdf = "0000:45:00.0";
  after.gpus[1].model = "NVIDIA L4";
  EXPECT_EQ(told(addressed(), after), (Lines{"gone: gpu1 (0000:24:00.0), NVIDIA L40S: gone",
                                             "new: gpu1 (0000:45:00.0), NVIDIA L4: new"}));
}

TEST(Differences, AnotherModelAtTheSameAddressIsAReplacedCard) {
  Machine after = addressed();
  after.gpus[1].model = "NVIDIA L4";
  EXPECT_EQ(told(addressed(), after),
            Lines{"replaced: gpu1 (0000:24:00.0), NVIDIA L40S: another card is there, "
                  "gpu1 (0000:24:00.0), NVIDIA L4"});
}

TEST(Differences, TheSpellingOfAModelByLspciIsNoOtherCard) {
  Machine after = addressed();
  after.gpus[1].model = "NVIDIA Corporation AD102GL [L40S] (rev a1)";
  EXPECT_EQ(told(addressed(), after), Lines{});
}

TEST(Differences, ACardInItsOldSlotStaysItselfWhenBusNumbersShift) {
  Machine before = addressed(), after = addressed();
  link_named(before, "gpu2").slot = link_named(after, "gpu2").slot = "7";
  after.gpus[2].bdf = "0000:47:00.0";
  EXPECT_EQ(told(before, after),
            Lines{"value: gpu2 (0000:43:00.0): PCI address 0000:47:00.0, 0000:43:00.0 in A"});
}

TEST(Differences, AKnownCardBelowAnotherSwitchMoved) {
  Machine after = addressed();
  link_named(after, "gpu1").from = {NodeKind::pcie_switch, 1};
  EXPECT_EQ(told(addressed(), after),
            Lines{"moved: gpu1 (0000:24:00.0): now below sw1 (0000:41:00.0), below sw0 "
                  "(0000:21:00.0) in A"});
  Machine named = support::two_switches(2);
  link_named(named, "gpu1").from = {NodeKind::pcie_switch, 1};
  EXPECT_EQ(told(support::two_switches(2), named), Lines{"moved: gpu1: now below sw1, below sw0 in A"});
}

TEST(Differences, AnotherPortOfTheSameSwitchIsAMoveAsWell) {
  Machine before = addressed(), after = addressed();
  link_named(before, "gpu1").port = "0000:22:04.0";
  link_named(after, "gpu1").port = "0000:22:0c.0";
  EXPECT_EQ(told(before, after),
            Lines{"moved: gpu1 (0000:24:00.0): now below sw0 (0000:21:00.0), port 0000:22:0c.0, below sw0 "
                  "(0000:21:00.0), port 0000:22:04.0 in A"});
}

TEST(Differences, NamesOfBridgesThatShiftedMoveNobody) {
  Machine before = support::own_roots(3);
  for (std::size_t i = 0; i < 3; ++i) before.gpus[i].bdf = "0000:0" + std::to_string(i + 1) + ":00.0";
  Machine after = support::own_roots(2);
  after.gpus[0].bdf = "0000:02:00.0";
  after.gpus[1].bdf = "0000:03:00.0";
  EXPECT_EQ(told(before, after), Lines{"gone: gpu0 (0000:01:00.0), NVIDIA A100-PCIE-40GB: gone"});
}

TEST(Differences, StatusAndCapabilityOfALinkAreToldApart) {
  Machine after = addressed();
  Link& link = link_named(after, "gpu0");
  link.width = 8;
  link.rate = PcieRate::gen2;
  EXPECT_EQ(told(addressed(), after), (Lines{"link-slower: gpu0 (0000:23:00.0): link rate gen2, gen4 in A",
                                             "link-narrower: gpu0 (0000:23:00.0): link width x8, x16 in A"}));
  EXPECT_EQ(told(after, addressed()), (Lines{"link-faster: gpu0 (0000:23:00.0): link rate gen4, gen2 in A",
                                             "link-wider: gpu0 (0000:23:00.0): link width x16, x8 in A"}));
  Machine lower = addressed();
  link_named(lower, "uplink1").max_rate = PcieRate::gen5;
  EXPECT_EQ(told(addressed(), lower),
            Lines{"capability-higher: sw1 (0000:41:00.0): possible link rate gen5, gen4 in A"});
}

TEST(Differences, ACardThatSleptInOneOfTheTwoIsNoSlowerLink) {
  Machine before = addressed();
  Link& link = link_named(before, "gpu0");
  link.idle = true;
  link.rate = link.max_rate = PcieRate::gen5;
  Machine after = addressed();
  link_named(after, "gpu0").max_rate = PcieRate::gen5;
  EXPECT_EQ(told(before, after),
            Lines{"idle: gpu0 (0000:23:00.0): idle in A, so that link rate gen4, gen5 in A, "
                  "tells nothing"});
  EXPECT_FALSE(any_change(differences(before, after)));
}

TEST(Differences, WhatOnlyARuleChoseIsNotKnownAndNoChange) {
  Machine before = addressed(), after = addressed();
  before.assumed = {"links.gpu0.mps"};
  link_named(after, "gpu0").mps = Bytes(512);
  link_named(after, "gpu1").max_mps = Bytes(512);
  EXPECT_EQ(told(before, after),
            (Lines{"not-known: gpu0 (0000:23:00.0): payload 512 B in B, assumed to be 256 B in A",
                   "not-known: gpu1 (0000:24:00.0): possible payload 512 B in B, not known in A"}));
  EXPECT_FALSE(any_change(differences(before, after)));
  after.assumed = {"links.gpu0.mps"};
  link_named(after, "gpu1").max_mps.reset();
  EXPECT_EQ(told(before, after), Lines{});
}

TEST(Differences, ARuleThatPlacedACardElsewhereMovesNobody) {
  Machine before = addressed(), after = addressed();
  link_named(before, "gpu1").from = {NodeKind::pcie_switch, 1};
  before.assumed = {"links.gpu1.from"};
  EXPECT_EQ(told(before, after), Lines{});
  Machine numbered = support::two_sockets(1);
  numbered.cpus[0].numa = 0;
  numbered.cpus[1].numa = 1;
  Machine guessed = numbered;
  guessed.roots[1].cpu = 0;
  guessed.assumed = {"roots.root1.cpu"};
  EXPECT_EQ(told(guessed, numbered), Lines{"not-known: gpu1: NUMA node 1 in B, assumed to be 0 in A"});
}

TEST(Differences, ErrorCountersThatRiseAreAChangeThoseThatFellWereReset) {
  Machine before = addressed(), after = addressed();
  link_named(before, "gpu0").corrected_errors = 5;
  link_named(after, "gpu0").corrected_errors = 20;
  link_named(before, "gpu1").replays = 9;
  link_named(after, "gpu1").replays = 2;
  EXPECT_EQ(told(before, after),
            (Lines{"errors-rose: gpu0 (0000:23:00.0): corrected errors 20, 5 in A",
                   "counters-reset: gpu1 (0000:24:00.0): replays 2, 9 in A: counted anew"}));
}

TEST(Differences, NvlinksAreCountedPerPairAndGoWithTheirGpu) {
  Machine before = support::own_roots(3);
  support::add_nvlink(before, {NodeKind::gpu, 0}, {NodeKind::gpu, 1}, 4);
  support::add_nvlink(before, {NodeKind::gpu, 1}, {NodeKind::gpu, 2}, 4);
  Machine after = before;
  link_named(after, "nv0").count = 2;
  EXPECT_EQ(told(before, after), Lines{"nvlinks: gpu0 to gpu1: NVLinks 2, 4 in A"});
  after.gpus[1].present = false;
  EXPECT_EQ(told(before, after), Lines{"gone: gpu1, NVIDIA A100-PCIE-40GB: gone"});
}

TEST(Differences, FewerNvlinksToTheSwitchesAreTold) {
  const Machine before = support::with_nvswitch(2);
  Machine after = before;
  link_named(after, "nv1").count -= 1;
  const std::string had = std::to_string(link_named(after, "nv0").count);
  EXPECT_EQ(told(before, after),
            Lines{"nvlinks: gpu1 to NVSwitches: NVLinks " + std::to_string(link_named(after, "nv1").count) +
                  ", " + had + " in A"});
}

TEST(Differences, SettingsOfTheMachineAndItsBridges) {
  Machine after = addressed();
  after.switches[1].acs = true;
  after.p2p.iommu = true;
  after.p2p.enabled = false;
  after.gpus[0].bar1 = Bytes(256ULL << 20);
  Machine before = addressed();
  before.gpus[0].bar1 = Bytes(64ULL << 30);
  before.driver = "550.54";
  after.driver = "580.95";
  before.host = "box1";
  after.host = "box2";
  link_named(after, "gpu3").aspm = Aspm::l1;
  EXPECT_EQ(told(before, after), (Lines{"aspm: gpu3 (0000:44:00.0): ASPM L1, off in A",
                                        "bar1: gpu0 (0000:23:00.0): BAR1 256 MiB, 64 GiB in A",
                                        "acs: sw1 (0000:41:00.0): ACS redirect on, off in A",
                                        "peer-access: machine: peer access off, on in A",
                                        "iommu: machine: IOMMU translation on, off in A",
                                        "driver: machine: driver 580.95, 550.54 in A",
                                        "other-host: machine: read from box2, from box1 in A"}));
}

TEST(Differences, ACardOfAnotherNumaNodeAndASlowerSocketLink) {
  const Machine before = support::two_sockets(1);
  Machine after = before;
  after.roots[1].cpu = 0;
  link_named(after, "upi0").lane_rate = BytesPerSecond(10e9);
  EXPECT_EQ(told(before, after), (Lines{"value: cpu0 to cpu1: rate of the socket link 10 GB/s, 20 GB/s in A",
                                        "numa: gpu1: NUMA node cpu0, cpu1 in A"}));
}

TEST(DifferencesProperty, AMachineDoesNotDifferFromItself) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Machine machine = support::random_machine(seed);
    EXPECT_EQ(told(machine, machine), Lines{}) << "seed " << seed;
  }
}

TEST(DifferencesProperty, SwappingTheTwoSwapsBeforeAndAfter) {
  for (std::uint64_t seed = 0; seed + 1 < 200; ++seed) {
    const Machine a = support::random_machine(seed), b = support::random_machine(seed + 1);
    const auto there = differences(a, b), back = differences(b, a);
    EXPECT_EQ(any_change(there), any_change(back)) << "seed " << seed;
    const auto count = [](const std::vector<MachineChange>& list, ChangeKind kind) {
      return std::count_if(list.begin(), list.end(),
                           [&](const MachineChange& change) { return change.kind == kind; });
    };
    EXPECT_EQ(count(there, ChangeKind::gone), count(back, ChangeKind::added)) << "seed " << seed;
    EXPECT_EQ(count(there, ChangeKind::link_slower), count(back, ChangeKind::link_faster)) << "seed " << seed;
    EXPECT_EQ(count(there, ChangeKind::payload), count(back, ChangeKind::payload)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace lanecast
