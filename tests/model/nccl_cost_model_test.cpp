#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "model/implementation/nccl/cost_model.hpp"
#include "tests/model/nccl_cost_inputs.hpp"

namespace lanecast {
namespace {

using namespace literals;

TEST(RingCost, IsTheWorkedFigures) {  // facts.md A6: single-node Ring on PCI
  struct Worked {
    int ranks;
    double bus, ll_latency, ll_algbw, simple_latency, simple_algbw;
  };
  constexpr Worked kWorked[] = {{2, 24, 8.6, 12.0, 19.8, 24.0},
                                {2, 40, 8.6, 20.0, 19.8, 40.0},
                                {4, 24, 12.6, 8.0, 42.6, 16.0},
                                {8, 24, 20.6, 6.86, 88.2, 13.7},
                                {8, 48, 20.6, 13.7, 88.2, 27.4}};
  for (const Worked& w : kWorked) {
    const CostModelInput input = ring_of(w.ranks, w.bus);
    SCOPED_TRACE(std::to_string(w.ranks) + " ranks, " + std::to_string(w.bus) + " GB/s");
    EXPECT_NEAR(latency_us(input, NcclAlgorithm::ring, Protocol::ll), w.ll_latency, 1e-9);
    EXPECT_NEAR(latency_us(input, NcclAlgorithm::ring, Protocol::simple), w.simple_latency, 1e-9);
    EXPECT_NEAR(algbw_GBps(input, NcclAlgorithm::ring, Protocol::ll), w.ll_algbw, 0.05);  // as rounded there
    EXPECT_NEAR(algbw_GBps(input, NcclAlgorithm::ring, Protocol::simple), w.simple_algbw, 0.05);
  }
}

TEST(RingCost, SwitchesFromLlToSimpleAtTheWorkedSizes) {  // facts.md A6
  struct Switch {
    int ranks;
    double bus, kB;
  };
  for (const Switch& s : {Switch{2, 24, 269}, Switch{2, 40, 448}, Switch{4, 24, 480}, Switch{8, 24, 927},
                          Switch{8, 48, 1850}}) {
    const CostModelInput input = ring_of(s.ranks, s.bus);
    const double rounding = s.kB > 1000 ? 5 : 0.5;  // the sheet gives three digits
    EXPECT_EQ(chosen(input, Bytes(static_cast<std::uint64_t>((s.kB - rounding) * 1000))), "Ring ll") << s.kB;
    EXPECT_EQ(chosen(input, Bytes(static_cast<std::uint64_t>((s.kB + rounding) * 1000))), "Ring simple")
        << s.kB;
  }
}

TEST(RingCost,
     OfAFallbackGraphMakesSimpleCheapForSmallCalls) {  // facts.md A10: met on dual Turin at 0.1 GB/s
  CostModelInput input = ring_of(8, 0.1, PathType::sys, 28);
  input.ring.fallback = true;
  // 67.6 us of latency against 8 / 14 of 0.05 and 0.1 GB/s: equal at 67.6 us x 0.0571 GB/s
  const double equal_bytes = 67.6e3 * 0.1 * 8 / 14;
  EXPECT_EQ(chosen(input, Bytes(static_cast<std::uint64_t>(equal_bytes) - 100)), "Ring ll");
  EXPECT_EQ(chosen(input, Bytes(static_cast<std::uint64_t>(equal_bytes) + 100)), "Ring simple");
}

TEST(RingCost, OfBroadcastAndReduceIsOneHopOnEqualChannelsElseOneForEachRank) {
  for (const Collective collective : {Collective::broadcast, Collective::reduce}) {
    CostModelInput input = ring_of(4, 24);
    input.collective = collective;
    EXPECT_NEAR(latency_us(input, NcclAlgorithm::ring, Protocol::simple), 8.4 + 5.7, 1e-9);
    EXPECT_NEAR(algbw_GBps(input, NcclAlgorithm::ring, Protocol::simple), 24, 1e-9);
    input.ring.same_channels = false;
    EXPECT_NEAR(latency_us(input, NcclAlgorithm::ring, Protocol::ll), 6.6 + 4 * 1.0, 1e-9);
    EXPECT_NEAR(latency_us(input, NcclAlgorithm::ring, Protocol::simple), 8.4 + 4 * 4.0, 1e-9)
        << "Tree's hop";
  }
}

TEST(RingCost, OfAllGatherAndReduceScatterIsOnePass) {
  for (const Collective collective : {Collective::all_gather, Collective::reduce_scatter}) {
    CostModelInput input = ring_of(4, 24, PathType::nvl);
    input.collective = collective;
    EXPECT_NEAR(latency_us(input, NcclAlgorithm::ring, Protocol::ll), 6.6 + 3 * 0.6, 1e-9);
    EXPECT_NEAR(algbw_GBps(input, NcclAlgorithm::ring, Protocol::simple), 24 * 4 / 3.0, 1e-9);
    EXPECT_NEAR(algbw_GBps(input, NcclAlgorithm::ring, Protocol::ll128), 20 * 4 / 3.0, 1e-9)
        << "20 a channel";
  }
}

TEST(RingCost, TakesNvlinkThroughAnotherGpuForPci) {  // facts.md A6: PCI is any path that is not NVL
  EXPECT_NEAR(latency_us(ring_of(4, 24, PathType::nvb), NcclAlgorithm::ring, Protocol::ll), 6.6 + 6 * 1.0,
              1e-9);
}

TEST(RingCost, OverNodesWaitsForTheNetwork) {  // facts.md A6: inter = 2 (nodes - 1); AMD posts for 2 us, x3
  CostModelInput input = ring_of(16, 24);
  input.nodes = 2;
  input.cpu_vendor = "amd";
  const double simple = 8.4 + 28 * std::max(5.7, 2.0 * 3) + 2 * 14.0;
  EXPECT_NEAR(line(input, NcclAlgorithm::ring, Protocol::simple, Bytes(64)).latency.value() * 1e6, simple,
              1e-9);
  EXPECT_NEAR(latency_us(input, NcclAlgorithm::ring, Protocol::simple), 1.4 * simple, 1e-9);
  EXPECT_NEAR(algbw_GBps(input, NcclAlgorithm::ring, Protocol::ll), 12 * 16 / 30.0, 1e-9) << "below 22.5";
}

TEST(TreeCost, IsTwoPassesOfTheDepth) {  // facts.md A6
  const CostModelInput input = ring_and_tree(4, 24, PathType::phb);
  EXPECT_NEAR(latency_us(input, NcclAlgorithm::tree, Protocol::ll), 6.8 + 2 * 3 * 1.0, 1e-9);
  EXPECT_NEAR(latency_us(input, NcclAlgorithm::tree, Protocol::simple), 8.4 + 2 * 3 * 4.0, 1e-9);
}

TEST(TreeCost, HalvesWhatTheCeilingLeavesAndCorrectsItBySize) {  // facts.md A6
  CostModelInput input = ring_and_tree(4, 24, PathType::phb);
  const Bytes size = Bytes(64u << 12);  // index 12
  EXPECT_NEAR(algbw_GBps(input, NcclAlgorithm::tree, Protocol::simple, size), 24 * 0.92 / 2 * 0.5, 1e-9);
  EXPECT_NEAR(algbw_GBps(input, NcclAlgorithm::tree, Protocol::ll, size), 24 * 0.92 / 3.8 / 2 * 0.4, 1e-9);
  EXPECT_NEAR(algbw_GBps(input, NcclAlgorithm::tree, Protocol::ll128, size), 24 * 0.92 * 7 / 9 / 2 * 0.6,
              1e-9);
  input.tree.pattern = GraphPattern::tree;
  EXPECT_NEAR(algbw_GBps(input, NcclAlgorithm::tree, Protocol::simple, size), 24 * 0.92 * 0.85 / 2 * 0.5,
              1e-9);
  input.tree = graph(GraphPattern::balanced_tree, 100, PathType::nvl);
  EXPECT_NEAR(algbw_GBps(input, NcclAlgorithm::tree, Protocol::simple, size), 24 * 0.5 / 2, 1e-9)
      << "one channel of Ampere carries 24";
}

TEST(TreeCost, CorrectionJumpsSoThatTimeMayFallWithSize) {  // facts.md A6: index 15 to 16 is .6 to .7
  const CostModelInput input = ring_and_tree(2, 24, PathType::phb);
  const Bytes below(63u << 16), above(64u << 16);
  EXPECT_GT(line(input, NcclAlgorithm::tree, Protocol::simple, below).time,
            line(input, NcclAlgorithm::tree, Protocol::simple, above).time);
}

TEST(TreeCost, IsForAllReduceOnly) {
  for (const Collective collective : kAllCollectives) {
    CostModelInput input = ring_and_tree(4, 24, PathType::phb);
    input.collective = collective;
    EXPECT_EQ(line(input, NcclAlgorithm::tree, Protocol::ll, 1_MiB).possible,
              collective == Collective::all_reduce);
  }
}

TEST(NvlsCost, IsByTheGpusEfficiencyFrom228) {  // facts.md A6: 0.85 on Hopper; one channel of eight less
  const CostModelInput input = hopper_with_switches(28);
  EXPECT_NEAR(latency_us(input, NcclAlgorithm::nvls, Protocol::simple), 25, 1e-9);
  EXPECT_NEAR(algbw_GBps(input, NcclAlgorithm::nvls, Protocol::simple), 2 * 320 * 0.85 * 7 / 8 * 8 / 14,
              1e-9);
  EXPECT_NEAR(
      algbw_GBps(hopper_with_switches(28, Collective::all_gather), NcclAlgorithm::nvls, Protocol::simple),
      320 * 0.85 * 7 / 8 * 7 / 8, 1e-9);
}

TEST(NvlsCost, WasFiveSixthsOfTheBusBefore) {  // NVIDIA/nccl src/graph/tuning.cc, v2.18.3 to v2.27
  for (const int minor : {18, 21, 25, 27}) {
    EXPECT_NEAR(algbw_GBps(hopper_with_switches(minor), NcclAlgorithm::nvls, Protocol::simple), 320 * 5 / 6.0,
                1e-9)
        << minor;
  }
}

TEST(NvlsCost, CoversAllGatherAndReduceScatterFrom220) {  // the same file, v2.18.3 and v2.20.3
  EXPECT_FALSE(
      line(hopper_with_switches(18, Collective::all_gather), NcclAlgorithm::nvls, Protocol::simple, 1_MiB)
          .possible);
  for (const int minor : {20, 23, 27, 30}) {
    EXPECT_TRUE(line(hopper_with_switches(minor, Collective::reduce_scatter), NcclAlgorithm::nvls,
                     Protocol::simple, 1_MiB)
                    .possible);
  }
}

TEST(NvlsCost, IsTakenForLargeCallsOnSwitchesOnly) {
  CostModelInput input = hopper_with_switches(28);
  EXPECT_EQ(chosen(input, 256_MiB), "NVLS simple");
  input.nvls.reset();
  EXPECT_NE(chosen(input, 256_MiB), "NVLS simple");
  EXPECT_FALSE(line(input, NcclAlgorithm::nvls, Protocol::simple, 1_MiB).possible);
}

TEST(CostProperty, TimeNeverFallsWithSizeButOnTree) {
  for_every_version([](const NcclVersion& version) {
    for (const Collective collective : kAllCollectives) {
      CostModelInput input = hopper_with_switches(30, collective);
      input.version = version;
      std::vector<CostEstimate> last = nccl_costs(input, Bytes(4));
      for (std::uint64_t size = 8; size <= (std::uint64_t{1} << 34); size += size / 3) {
        const std::vector<CostEstimate> now = nccl_costs(input, Bytes(size));
        for (std::size_t i = 0; i < now.size(); ++i) {
          if (now[i].algorithm == NcclAlgorithm::tree) continue;
          EXPECT_GE(now[i].time, last[i].time)
              << version.name() << " " << to_string(now[i].algorithm) << " " << size;
        }
        last = now;
      }
    }
  });
}

TEST(CostProperty, EveryVersionAnswersForEveryCollective) {
  for_every_version([](const NcclVersion& version) {
    for (const Collective collective : kAllCollectives) {
      for (const PathType type : {PathType::nvl, PathType::pix, PathType::sys}) {
        CostModelInput input = ring_and_tree(4, 24, type);
        input.version = version;
        input.collective = collective;
        for (const Bytes size : {Bytes(4), 64_KiB, 1_GiB}) {
          const CostEstimate choice = nccl_choice(input, size);
          EXPECT_TRUE(choice.possible);
          EXPECT_GT(choice.algbw.value(), 0);
          EXPECT_DOUBLE_EQ(choice.time.value(), choice.latency.value() + (size / choice.algbw).value());
        }
      }
    }
  });
}

/// A table that NCCL itself printed: 2.29.7, two RTX 5090 taken for two nodes, over sockets.
/// Source: eunomia-bpf/nccl-eBPF, debug log of a broadcast_perf run (NCCL_DEBUG_SUBSYS with TUNING).
struct LogRow {
  Collective collective;
  NcclAlgorithm algorithm;
  Protocol protocol;
  double latency_us, algbw_GBps;
};

TEST(CostLog, OfNcclItselfIsMet) {
  constexpr auto tree = NcclAlgorithm::tree, ring = NcclAlgorithm::ring;
  constexpr LogRow kRows[] = {{Collective::broadcast, ring, Protocol::ll, 9.3, 1.2},
                              {Collective::broadcast, ring, Protocol::simple, 22.4, 2.4},
                              {Collective::reduce, ring, Protocol::ll, 9.3, 1.2},
                              {Collective::all_gather, ring, Protocol::ll, 11.6, 2.4},
                              {Collective::all_gather, ring, Protocol::simple, 22.4, 4.8},
                              {Collective::reduce_scatter, ring, Protocol::ll, 11.6, 2.4},
                              {Collective::all_reduce, tree, Protocol::ll, 16.8, 0.5},
                              {Collective::all_reduce, tree, Protocol::simple, 36.4, 1.9},
                              {Collective::all_reduce, ring, Protocol::ll, 16.6, 1.2},
                              {Collective::all_reduce, ring, Protocol::simple, 36.4, 2.4}};
  CostModelInput input = ring_and_tree(2, 2.4, PathType::phb, 29);
  input.nodes = 2;
  input.min_sm = input.max_sm = 120;
  input.tree = graph(GraphPattern::tree, 4.8, PathType::phb);  // one GPU a node: twice the network's
  for (const LogRow& row : kRows) {
    SCOPED_TRACE(std::string(to_string(row.algorithm)) + " " + to_string(row.protocol));
    input.collective = row.collective;
    const Bytes small(64);  // below the plateau, and no correction of Simple's bandwidth but 0.9
    const double correction = row.algorithm == tree && row.protocol == Protocol::simple ? 0.9 : 1;
    EXPECT_NEAR(line(input, row.algorithm, row.protocol, small).latency.value() * 1e6, row.latency_us, 0.05);
    EXPECT_NEAR(algbw_GBps(input, row.algorithm, row.protocol, small) / correction, row.algbw_GBps, 0.05);
  }
  input.collective = Collective::broadcast;
  EXPECT_EQ(chosen(input, 16_KiB), "Ring ll");
  EXPECT_EQ(chosen(input, 32_KiB), "Ring simple");
}

TEST(CostHistory, OfTreeSimpleOnPci) {  // facts.md A6: base 0, hop 6; hop 28 from 2.20; 8.4 and 4 from 2.23
  const auto us = [](int minor) {
    return latency_us(ring_and_tree(4, 24, PathType::phb, minor), NcclAlgorithm::tree, Protocol::simple);
  };
  EXPECT_NEAR(us(18), 6 * 6.0, 1e-9);
  EXPECT_NEAR(us(21), 6 * 28.0, 1e-9);
  EXPECT_NEAR(us(22), 6 * 28.0, 1e-9);
  for (const int minor : {23, 26, 30}) EXPECT_NEAR(us(minor), 8.4 + 6 * 4.0, 1e-9);
}

TEST(CostHistory, OfRingLl) {  // src/graph/tuning.cc: v2.20.3 a quarter or a third of the bus, v2.21.5 half
  const auto of = [](int minor, Collective collective) {
    CostModelInput input = ring_of(2, 24, PathType::phb, minor);
    input.collective = collective;
    return algbw_GBps(input, NcclAlgorithm::ring, Protocol::ll);
  };
  for (const int minor : {18, 20}) {
    EXPECT_NEAR(of(minor, Collective::all_reduce), 24 / 4.0, 1e-9);
    EXPECT_NEAR(of(minor, Collective::reduce), 24 / 4.0, 1e-9);
    EXPECT_NEAR(of(minor, Collective::broadcast), 24 / 3.0, 1e-9);
    EXPECT_NEAR(of(minor, Collective::all_gather), 24 / 3.0 * 2, 1e-9);
  }
  for (const int minor : {21, 30}) EXPECT_NEAR(of(minor, Collective::all_reduce), 12, 1e-9);
}

TEST(CostHistory, OfRcclIsItsOwn) {  // facts.md A12: base 12 and 17, hops 2.2 and 5.7
  CostModelInput input = ring_and_tree(4, 24, PathType::phb);
  input.version = {true, 21};
  EXPECT_NEAR(latency_us(input, NcclAlgorithm::ring, Protocol::ll), 12 + 6 * 2.2, 1e-9);
  EXPECT_NEAR(latency_us(input, NcclAlgorithm::ring, Protocol::simple), 17 + 6 * 5.7, 1e-9);
  EXPECT_NEAR(algbw_GBps(input, NcclAlgorithm::ring, Protocol::simple), 16, 1e-9);
  EXPECT_NEAR(algbw_GBps(input, NcclAlgorithm::ring, Protocol::ll), 16 * 0.04, 1e-9);
}

}  // namespace
}  // namespace lanecast
