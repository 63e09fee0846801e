#include "model/topology/peer_access.hpp"

#include <gtest/gtest.h>

#include "model/topology/routes.hpp"
#include "tests/support/machine_builders.hpp"

namespace lanecast {
namespace {

constexpr Distance kAll[] = {Distance::loc, Distance::nvl,  Distance::pix, Distance::pxb,
                             Distance::phb, Distance::node, Distance::sys};

bool allowed(const Machine& machine, int from, int to, Distance level) {
  return peer_access(machine, from, to, level).allowed;
}

Machine geforce_pair() {
  Machine machine = support::one_switch(2);
  for (Gpu& gpu : machine.gpus) gpu.model = "NVIDIA GeForce RTX 4090";
  return machine;
}

TEST(ModelHasPeerAccess, GeForceCardsSinceTuringHaveNone) {  // facts.md E7, shared/cases
  EXPECT_FALSE(model_has_peer_access("NVIDIA GeForce RTX 2080 Ti"));
  EXPECT_FALSE(model_has_peer_access("NVIDIA GeForce RTX 3090"));
  EXPECT_FALSE(model_has_peer_access("NVIDIA GeForce RTX 4090"));
  EXPECT_FALSE(model_has_peer_access("NVIDIA GeForce RTX 5090"));
}

TEST(ModelHasPeerAccess, DataCentreWorkstationOlderAndUnknownCardsHave) {
  for (const char* model : {"Tesla V100-PCIE-16GB", "NVIDIA A100-PCIE-40GB", "NVIDIA L40S", "NVIDIA H200",
                            "NVIDIA RTX PRO 6000 Blackwell Server Edition", "NVIDIA RTX A6000",
                            "GeForce GTX 1080 Ti", "AMD Instinct MI210", "", "something new"}) {
    EXPECT_TRUE(model_has_peer_access(model)) << model;
  }
}

TEST(PeerAccess, ReachesAsFarAsTheLevel) {
  const Machine near = support::one_switch(2);            // PIX
  const Machine nested = support::nested_switches(2, 1);  // PXB
  const Machine root = support::one_root(2);              // PHB
  const Machine node = support::own_roots(2);             // NODE
  const Machine far = support::two_sockets();             // SYS
  for (const Distance level : kAll) {
    EXPECT_EQ(allowed(near, 0, 1, level), level >= Distance::pix) << to_string(level);
    EXPECT_EQ(allowed(nested, 0, 1, level), level >= Distance::pxb) << to_string(level);
    EXPECT_EQ(allowed(root, 0, 1, level), level >= Distance::phb) << to_string(level);
    EXPECT_EQ(allowed(node, 0, 1, level), level >= Distance::node) << to_string(level);
    EXPECT_EQ(allowed(far, 0, 1, level), level >= Distance::sys) << to_string(level);
  }
}

TEST(PeerAccess, TheMachinesLevelGoesBeforeTheImplementations) {
  Machine machine = support::own_roots(2);
  machine.p2p.level = Distance::sys;
  EXPECT_TRUE(allowed(machine, 0, 1, Distance::pxb));
  machine.p2p.level = Distance::pix;
  EXPECT_FALSE(allowed(machine, 0, 1, Distance::sys));
}

TEST(PeerAccess, OffForTheMachineIsOffForAllPairs) {
  for (Machine machine : {support::one_switch(2), support::nvlink_pair()}) {
    machine.p2p.enabled = false;
    const PeerVerdict verdict = peer_access(machine, 0, 1, Distance::sys);
    EXPECT_FALSE(verdict.allowed) << machine.name;
    EXPECT_NE(verdict.reason.find("p2p.enabled"), std::string::npos) << verdict.reason;
  }
}

TEST(PeerAccess, NeedsBothCardsToBeAble) {
  Machine machine = support::one_switch(2);
  EXPECT_TRUE(allowed(machine, 0, 1, Distance::pxb));
  machine.gpus[1].model = "NVIDIA GeForce RTX 4090";
  EXPECT_FALSE(allowed(machine, 0, 1, Distance::pxb));
  EXPECT_FALSE(allowed(machine, 1, 0, Distance::pxb));
}

TEST(PeerAccess, SaysWhichCardIsNotAbleAndWhy) {
  const std::string reason = peer_access(geforce_pair(), 0, 1, Distance::sys).reason;
  EXPECT_NE(reason.find("gpu0"), std::string::npos) << reason;
  EXPECT_NE(reason.find("GeForce RTX 4090"), std::string::npos) << reason;
}

TEST(PeerAccess, AGpusOwnSettingGoesBeforeItsModel) {
  Machine patched = geforce_pair();  // the driver with P2P for GeForce cards (facts.md E7)
  for (Gpu& gpu : patched.gpus) gpu.p2p = true;
  EXPECT_TRUE(allowed(patched, 0, 1, Distance::pxb));
  Machine barred = support::one_switch(2);
  barred.gpus[0].p2p = false;
  EXPECT_FALSE(allowed(barred, 0, 1, Distance::pxb));
  EXPECT_NE(peer_access(barred, 0, 1, Distance::pxb).reason.find("p2p: false"), std::string::npos);
}

TEST(PeerAccess, OverNvlinkNeedsNoPcieAbilityNorLevel) {
  Machine machine = support::nvlink_pair();
  for (Gpu& gpu : machine.gpus) gpu.model = "NVIDIA GeForce RTX 3090";
  for (const Distance level : {Distance::nvl, Distance::pix, Distance::sys}) {
    EXPECT_TRUE(allowed(machine, 0, 1, level));
  }
  EXPECT_EQ(peer_access(machine, 0, 1, Distance::pxb).reason, "NVLink");
}

TEST(PeerAccess, OfLevelLocIsNone) {  // facts.md A7: NCCL_P2P_DISABLE=1 is NCCL_P2P_LEVEL=LOC
  Machine machine = support::nvlink_pair();
  machine.p2p.level = Distance::loc;
  EXPECT_FALSE(allowed(machine, 0, 1, Distance::sys));
}

TEST(PeerAccess, NeedsARoute) {
  Machine machine = support::two_sockets();
  machine.links.pop_back();  // the socket link
  const PeerVerdict verdict = peer_access(machine, 0, 1, Distance::sys);
  EXPECT_FALSE(verdict.allowed);
  EXPECT_NE(verdict.reason.find("no PCIe route"), std::string::npos) << verdict.reason;
}

TEST(PeerAccessProperty, IsMutual) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const Machine machine = support::random_machine(seed);
    const auto gpus = static_cast<int>(machine.gpus.size());
    for (int a = 0; a < gpus; ++a) {
      for (int b = a + 1; b < gpus; ++b) {
        for (const Distance level : kAll) {
          EXPECT_EQ(allowed(machine, a, b, level), allowed(machine, b, a, level)) << "seed " << seed;
        }
      }
    }
  }
}

}  // namespace
}  // namespace lanecast
