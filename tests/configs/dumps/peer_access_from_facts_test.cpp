#include <gtest/gtest.h>

#include <algorithm>

#include "model/topology/peer_access.hpp"
#include "tests/support/facts_builder.hpp"

namespace lanecast {
namespace {

using support::FactsBuilder;

/// Four GPUs of a GeForce family: two below one root, two below another of another NUMA node.
FactsBuilder four_cards() {
  FactsBuilder built;
  for (int i = 0; i < 4; ++i) {
    const std::string bus = i < 2 ? "0000:20" : "0000:a0";
    const std::string port = bus + ":0" + std::to_string(1 + i) + ".0";
    built.root_port(port);
    built.gpu("0000:" + std::to_string(31 + i) + ":00.0", port, "NVIDIA GeForce RTX 4090")
        .numa.add(i / 2, built.place("NUMA node"));
  }
  return built;
}

void report(FactsBuilder& built, int a, int b, bool granted) {
  built.facts.numbered_peer_access[{a, b}] = {granted, "p2p.txt:3 (nvidia-smi topo -p2p)"};
}

TEST(PeerAccessFromFacts, RefusedToAllMeansThatTheCardsTakeNoPart) {
  FactsBuilder built = four_cards();
  for (int a = 0; a < 4; ++a) {
    for (int b = 0; b < 4; ++b) report(built, a, b, a == b);
  }
  const ImportedMachine imported = built.machine();
  for (const Gpu& gpu : imported.machine.gpus) EXPECT_EQ(gpu.p2p, false);
  EXPECT_FALSE(imported.machine.p2p.level.has_value());
  EXPECT_EQ(imported.origins.at("gpus.gpu0.p2p").from, "p2p.txt:3 (nvidia-smi topo -p2p)");
}

TEST(PeerAccessFromFacts, GrantedToAllHoldsAgainstWhatTheModelUsuallyDoes) {
  FactsBuilder built = four_cards();
  for (int a = 0; a < 4; ++a) {
    for (int b = 0; b < 4; ++b) report(built, a, b, true);
  }
  const Machine machine = built.machine().machine;
  EXPECT_EQ(machine.gpus[0].p2p, true);
  EXPECT_TRUE(peer_access(machine, 0, 3, Distance::sys).allowed) << "a patched driver";
}

TEST(PeerAccessFromFacts, RefusedFartherThanGrantedIsALevel) {
  FactsBuilder built = four_cards();
  for (int a = 0; a < 4; ++a) {
    for (int b = 0; b < 4; ++b) report(built, a, b, a / 2 == b / 2);
  }
  const Machine machine = built.machine().machine;
  EXPECT_EQ(machine.p2p.level, Distance::phb);
  EXPECT_TRUE(peer_access(machine, 0, 1, Distance::sys).allowed);
  EXPECT_FALSE(peer_access(machine, 0, 2, Distance::sys).allowed);
}

TEST(PeerAccessFromFacts, WhatNoLevelExplainsIsANote) {
  FactsBuilder built = four_cards();
  report(built, 0, 1, false);
  report(built, 0, 2, true);
  report(built, 1, 3, true);
  const ImportedMachine imported = built.machine();
  EXPECT_FALSE(imported.machine.p2p.level.has_value());
  EXPECT_TRUE(std::any_of(imported.notes.begin(), imported.notes.end(), [](const std::string& note) {
    return note.find("no level says that") != std::string::npos;
  }));
}

TEST(PeerAccessFromFacts, PairsWithNvlinkTellNothingOfPcie) {
  FactsBuilder built = four_cards();
  built.facts.nvlinks.push_back({"0000:31:00.0", "0000:32:00.0", 4, std::nullopt, "a:1"});
  report(built, 0, 1, true);
  report(built, 0, 2, false);
  report(built, 1, 2, false);
  const Machine machine = built.machine().machine;
  EXPECT_EQ(machine.gpus[0].p2p, false);
  EXPECT_TRUE(peer_access(machine, 0, 1, Distance::sys).allowed) << "by NVLink";
}

TEST(PeerAccessFromFacts, AddressesServeAsWellAsNumbers) {
  FactsBuilder built = four_cards();
  built.facts.peer_access[{"0000:31:00.0", "0000:32:00.0"}] = {false, "cuda"};
  EXPECT_EQ(built.machine().machine.gpus[1].p2p, false);
  EXPECT_FALSE(built.machine().machine.gpus[2].p2p.has_value());
}

}  // namespace
}  // namespace lanecast
