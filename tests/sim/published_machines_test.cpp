// Shipped machines with the profile `generic` against the figures that the issue states for them.
#include <gtest/gtest.h>

#include "configs/shipped.hpp"
#include "tests/support/simulated.hpp"

namespace lanecast::support {
namespace {

Prediction on(const std::string& machine, std::uint64_t size, Protocol protocol) {
  return predict_one(load_machine(machine), ring_call(Bytes(size), protocol));
}

TEST(DualV100, UnderOneSwitchReachesWhatWasMeasured) {
  const double simple = busbw_GBps(on("v100x2-pcie3-switch", 128u << 20, Protocol::simple));
  EXPECT_GT(simple, 10.5);  // measured 11.2; raw 15.75
  EXPECT_LT(simple, 12.0);
  const double ll = busbw_GBps(on("v100x2-pcie3-switch", 128u << 20, Protocol::ll));
  EXPECT_GT(ll, 5.0);  // measured just under 7
  EXPECT_LT(ll, 7.0);
}

TEST(DualV100, OneCardASocketWithoutPeerAccessGoesThroughHostMemoryAndSaysSo) {
  for (const std::uint64_t size : {64u << 20, 256u << 20}) {
    const Prediction p = on("v100x2-pcie3-sockets-nop2p", size, Protocol::simple);
    EXPECT_EQ(p.transport, "shm");
    EXPECT_TRUE(std::any_of(p.warnings.begin(), p.warnings.end(),
                            [](const Warning& w) { return w.code == "LC-TRANSPORT-01"; }));
    EXPECT_GT(busbw_GBps(p), 6.5);  // published 7.1 with two channels; 9.2 and 10.5 elsewhere
    EXPECT_LT(busbw_GBps(p), 11.0);
  }
  const auto us = [](std::uint64_t size) {
    return on("v100x2-pcie3-sockets-nop2p", size, Protocol::ll).time.value() * 1e6;
  };
  EXPECT_GT(us(1024), 12 / 1.5);
  EXPECT_LT(us(1024), 12 * 1.5);
  EXPECT_GT(us(65536), 25 / 1.5);
  EXPECT_LT(us(65536), 25 * 1.5);
}

TEST(ShippedMachines, AllAnswerWithEveryProtocolBelowTheLimit) {
  for (const std::string& name : shipped_machines()) {
    const Machine machine = load_machine(name);
    std::vector<Call> calls;
    for (const Protocol protocol : {Protocol::simple, Protocol::ll, Protocol::ll128}) {
      for (const std::uint64_t size : {8u, 65536u, 16u << 20})
        calls.push_back(ring_call(Bytes(size), protocol));
    }
    for (const Prediction& p : predict_all(machine, calls)) {
      EXPECT_LE(p.busbw().value(), p.limit_busbw->value() * (1 + 1e-9)) << name;
    }
  }
}

}  // namespace
}  // namespace lanecast::support
