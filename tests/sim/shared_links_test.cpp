// What flows share, and what they don't: the statements that the model is judged by.
#include <gtest/gtest.h>

#include "sim/copies.hpp"
#include "tests/support/machine_builders.hpp"
#include "tests/support/simulated.hpp"

namespace lanecast::support {
namespace {

std::vector<double> rates_GBps(const Machine& machine, const std::vector<CopyFlow>& flows) {
  std::vector<double> rates;
  for (const CopyRate& copy : concurrent_copies(machine, Profile(), Engine::copy, flows)) {
    rates.push_back(copy.rate.value() / 1e9);
  }
  return rates;
}

constexpr double kGen5Copy =
    63.015 * 256.0 / 280.0 * 0.98;  // raw x packets of 256 B x less DLLPs (facts.md C1 to C3)
/// Two switches of four cards whose copy engines send 256 B packets, as Hopper's and Blackwell's do.
Machine eight_blackwell() {
  Machine machine = two_switches(4, {PcieRate::gen5, 16, Bytes(256)});
  for (Gpu& gpu : machine.gpus) gpu.sm = 120;
  return machine;
}

const PcieSpec kGen5{PcieRate::gen5, 16, Bytes(256)};

TEST(SharedLinks, FlowsOfUnequalLatencyAndHopCountShareEqually) {
  Machine machine =
      nested_switches(2, 2, kGen5);  // gpu0 gpu1 | gpu2 gpu3, each pair below a switch of its own
  link_named(machine, "gpu3").latency = Seconds(5e-6);
  for (Gpu& gpu : machine.gpus) gpu.sm = 90;
  // both end at gpu0: one comes from its own switch, one over two more switches and a long cable
  const auto rates = rates_GBps(machine, {{1, 0}, {3, 0}});
  EXPECT_NEAR(rates[0], rates[1], rates[0] * 1e-6);
  EXPECT_NEAR(rates[0] + rates[1], kGen5Copy, kGen5Copy * 1e-3);
}

TEST(SharedLinks, CopiesThroughOneUplinkShareIt) {
  const Machine machine = eight_blackwell();
  for (const std::vector<CopyFlow>& flows :
       {std::vector<CopyFlow>{{0, 4}, {1, 5}}, std::vector<CopyFlow>{{0, 4}, {1, 5}, {2, 6}, {3, 7}}}) {
    double total = 0;
    for (const double rate : rates_GBps(machine, flows)) total += rate;
    EXPECT_NEAR(total, 56, 56 * 0.05);  // facts.md C6
  }
}

TEST(SharedLinks, BothDirectionsOfAnUplinkReachTwiceOneLessTheDuplexLoss) {
  const auto rates = rates_GBps(eight_blackwell(), {{0, 4}, {5, 1}});
  EXPECT_NEAR(rates[0] + rates[1], 109, 109 * 0.05);  // facts.md C6
}

TEST(SharedLinks, DisjointPairsInOneSwitchDontDisturbEachOther) {
  const Machine machine = one_switch(4, kGen5);
  const double alone = rates_GBps(machine, {{0, 1}})[0];
  const auto together = rates_GBps(machine, {{0, 1}, {2, 3}});
  EXPECT_NEAR(together[0], alone, alone * 1e-6);
  EXPECT_NEAR(together[1], alone, alone * 1e-6);
}

TEST(DegradedUplink, CutsCopiesAcrossItAndLeavesTheOthers) {
  const Machine healthy = eight_blackwell();
  Machine degraded = healthy;
  link_named(degraded, "uplink0").rate = PcieRate::gen2;
  EXPECT_NEAR(rates_GBps(degraded, {{0, 4}})[0], 7.0, 7.0 * 0.05);  // facts.md C10
  for (const CopyFlow inside : {CopyFlow{0, 1}, CopyFlow{4, 5}, CopyFlow{6, 7}}) {
    EXPECT_EQ(rates_GBps(degraded, {inside}), rates_GBps(healthy, {inside}));
  }
}

Call p2p_ring(std::vector<int> order, std::uint64_t size = 256u << 20) {
  Call call = ring_call(Bytes(size));
  call.transport = Transport::p2p;
  call.channels = 4;
  call.ranks = std::move(order);
  call.order_given = true;
  return call;
}

TEST(DegradedUplink, SlowsTheRingAcrossItAndLeavesTheRingInsideTheOtherSwitch) {
  const Machine healthy = eight_blackwell();
  Machine degraded = healthy;
  link_named(degraded, "uplink0").rate = PcieRate::gen2;
  const Call across = p2p_ring({0, 1, 2, 3, 4, 5, 6, 7});
  const double bound = 8.0 * 128 / 152 * 0.98;  // Gen2 x16 in 128 B packets
  EXPECT_LT(busbw_GBps(predict_one(degraded, across)), bound);
  EXPECT_GT(busbw_GBps(predict_one(degraded, across)), bound * 0.85);
  EXPECT_GT(busbw_GBps(predict_one(healthy, across)), 5 * bound);
  const Call inside = p2p_ring({4, 5, 6, 7});
  EXPECT_EQ(predict_one(degraded, inside).time, predict_one(healthy, inside).time);
}

TEST(DegradedLink, NeverMakesTheRingFaster) {
  // every width and generation, from Gen5 x16 down, on a two-GPU machine; both links are cut alike
  for (const Transport transport : {Transport::p2p, Transport::shm}) {
    for (int width_step = 0; width_step < 5; ++width_step) {
      double before = 0;
      for (const PcieRate rate :
           {PcieRate::gen1, PcieRate::gen2, PcieRate::gen3, PcieRate::gen4, PcieRate::gen5}) {
        Machine machine = one_root(2, {rate, 1 << width_step, Bytes(256)});
        Call call = ring_call(Bytes(256u << 20));
        call.transport = transport;
        const double busbw = busbw_GBps(predict_one(machine, call));
        EXPECT_GE(busbw, before * (1 - 1e-9)) << to_string(rate) << " x" << (1 << width_step);
        before = busbw;
      }
    }
    for (const PcieRate rate :
         {PcieRate::gen1, PcieRate::gen2, PcieRate::gen3, PcieRate::gen4, PcieRate::gen5}) {
      double before = 0;
      for (const int width : {1, 2, 4, 8, 16}) {
        Call call = ring_call(Bytes(256u << 20));
        call.transport = transport;
        const double busbw = busbw_GBps(predict_one(one_root(2, {rate, width, Bytes(256)}), call));
        EXPECT_GE(busbw, before * (1 - 1e-9)) << to_string(rate) << " x" << width;
        before = busbw;
      }
    }
  }
}

TEST(DegradedLink, ReachesWhatItsPacketsAllow) {
  const auto busbw = [](PcieRate rate, int width) {
    return busbw_GBps(predict_one(one_switch(2, {rate, width, Bytes(256)}), ring_call(Bytes(256u << 20))));
  };
  EXPECT_GT(busbw(PcieRate::gen2, 4), 1.35);
  EXPECT_LT(busbw(PcieRate::gen2, 4), 2.0);
  EXPECT_GT(busbw(PcieRate::gen1, 1), 0.15);
  EXPECT_LT(busbw(PcieRate::gen1, 1), 0.25);
}

TEST(DegradedLink, WithReplaysSlowsByTheReplayFormula) {
  Machine machine = one_switch(2, kGen5);
  const double clean = rates_GBps(machine, {{0, 1}})[0];
  link_named(machine, "gpu0").replay_rate = 1e-4;
  // facts.md C8: 1 us a replay, packets of 280 B at 63 GB/s
  const double packet_seconds = 280.0 / 63.015e9;
  EXPECT_NEAR(rates_GBps(machine, {{0, 1}})[0], clean / (1 + 1e-4 * 1e-6 / packet_seconds), clean * 1e-4);
}

TEST(SharedPort, HalvesTwoCardsBehindIt) {
  // two cards below a switch whose uplink they share, against two on root ports of their own, both over host
  // memory
  Call call = ring_call(Bytes(256u << 20));
  call.transport = Transport::p2p;
  call.channels = 8;
  Machine apart = one_root(4);
  Machine shared = one_root(2);
  const NodeId port = add_switch(shared, {NodeKind::root, 0});
  add_gpu(shared, port);
  add_gpu(shared, port);
  // a ring that leaves and enters the pair twice: 0 (alone) - 2 (shared) - 1 (alone) - 3 (shared)
  call.ranks = {0, 2, 1, 3};
  call.order_given = true;
  const double ratio = busbw_GBps(predict_one(shared, call)) / busbw_GBps(predict_one(apart, call));
  EXPECT_NEAR(ratio, 0.5, 0.03);
}

TEST(RingOrder, ThatKeepsNeighboursUnderTheirSwitchBeatsOneThatAlternates) {
  const Machine machine = eight_blackwell();
  Call together = p2p_ring({0, 1, 2, 3, 4, 5, 6, 7});
  Call alternating = p2p_ring({0, 4, 1, 5, 2, 6, 3, 7});
  together.channels = alternating.channels = 8;
  const Prediction good = predict_one(machine, together);
  const Prediction bad = predict_one(machine, alternating);
  // alternating, every uplink carries four flows each way, together one: the limit falls by four, and the
  // ring with it
  EXPECT_NEAR(good.limit_busbw->value() / bad.limit_busbw->value(), 4.0, 0.05);
  EXPECT_NEAR(busbw_GBps(good) / busbw_GBps(bad), 4.0, 0.25);
  EXPECT_EQ(bad.bottleneck->link.substr(0, 6), "uplink");
}

TEST(Acs, SendsPeerTrafficToTheRootAndHalvesTheDuplexPair) {
  Machine machine = one_switch(2, kGen5);
  const auto free = rates_GBps(machine, {{0, 1}, {1, 0}});
  machine.switches[0].acs = true;
  const auto redirected = rates_GBps(machine, {{0, 1}, {1, 0}});
  // facts.md C6: 103 -> 50 GB/s; both copies now share the uplink both ways
  EXPECT_NEAR((redirected[0] + redirected[1]) / (free[0] + free[1]), 0.5, 0.02);
}

TEST(ChunkSize, HasABestValueInTheMiddle) {
  const Machine machine = two_switches(2);
  std::vector<Call> calls;
  for (std::uint64_t chunk = 4096; chunk <= (4u << 20); chunk *= 2) {
    Call call = p2p_ring({0, 1, 2, 3});
    call.chunk = Bytes(chunk);
    calls.push_back(call);
  }
  const auto predictions = predict_all(machine, calls);
  std::size_t best = 0;
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    if (predictions[i].time < predictions[best].time) best = i;
  }
  EXPECT_GT(best, 0u);
  EXPECT_LT(best, predictions.size() - 1);
  // too small pays for flags on every slice: a factor at 4 KiB; too large stores and forwards
  EXPECT_GT(predictions.front().time.value(), 3 * predictions[best].time.value());
  EXPECT_GT(predictions.back().time, predictions[best].time);
}

TEST(Limit, IsNeverExceeded) {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    const Machine machine = random_machine(seed);
    Call call = ring_call(Bytes((1u + seed % 40) << 20), seed % 3 == 0 ? Protocol::ll : Protocol::simple);
    call.channels = 1 + static_cast<int>(seed % 8);
    const Prediction p = predict_one(machine, call);
    ASSERT_TRUE(p.limit_busbw.has_value()) << "seed " << seed;
    EXPECT_LE(p.busbw().value(), p.limit_busbw->value() * (1 + 1e-9)) << "seed " << seed;
    EXPECT_LE(p.bottleneck->utilization, 1 + 1e-9) << "seed " << seed;
    EXPECT_LE(p.time_low, p.time);
    EXPECT_GE(p.time_high, p.time);
    EXPECT_GE(p.time_low.value() * (1 + 1e-9), p.call.size.value() * p.busbw_factor / p.limit_busbw->value());
  }
}

TEST(Aspm, DelaysTheFirstPacketAfterIdleOnly) {
  Machine machine = one_switch(2);
  const Call small = ring_call(Bytes(1024), Protocol::ll);
  const Call large = ring_call(Bytes(64u << 20));
  const double small_off = predict_one(machine, small).time.value();
  const double large_off = predict_one(machine, large).time.value();
  link_named(machine, "gpu0").aspm = Aspm::l1;
  const double exit = Profile().time(Param::pcie_l1_exit).value();
  const double small_on = predict_one(machine, small).time.value();
  EXPECT_NEAR(small_on - small_off, exit, exit * 0.5);
  EXPECT_LT(predict_one(machine, large).time.value() - large_off, 2.5 * exit);
}

}  // namespace
}  // namespace lanecast::support
