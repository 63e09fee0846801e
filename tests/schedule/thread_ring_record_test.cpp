// What the ring issues and puts on the wire.
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "tests/support/ring_case.hpp"

namespace lanecast::support {
namespace {

constexpr std::array all_protocols = {Protocol::simple, Protocol::ll, Protocol::ll128};

ThreadRingResult recorded(const RingCase& test_case) {
  ThreadRingCall call = make_call(test_case);
  call.record = true;
  return run_thread_ring(call);
}

std::uint64_t sent_payload(const std::vector<RecordedStep>& steps) {
  std::uint64_t bytes = 0;
  for (const RecordedStep& step : steps) bytes += sends(step.action) ? step.bytes : 0;
  return bytes;
}

/// 4 B elements; the share is whole loops of `chunk_count` elements a chunk.
RingCase whole_loops(Collective collective, int ranks, std::uint64_t chunk_count, std::uint64_t loops) {
  RingCase c;
  c.collective = collective;
  c.ranks = ranks;
  c.geometry.chunk_count = chunk_count;
  c.count =
      chunk_count * loops * (collective == Collective::all_reduce ? static_cast<std::uint64_t>(ranks) : 1);
  return c;
}

TEST(ThreadRingRecord, AllReduceSendsTwiceRanksMinusOneOverRanksOfTheSizeFromEveryRank) {
  for (int ranks = 2; ranks <= 16; ++ranks) {
    const RingCase c = whole_loops(Collective::all_reduce, ranks, 32, 3);
    const std::uint64_t size = 4 * c.count;
    const std::uint64_t n = static_cast<std::uint64_t>(ranks);
    const ThreadRingResult result = recorded(c);
    for (std::size_t rank = 0; rank < n; ++rank) {
      EXPECT_EQ(sent_payload(result.steps[rank][0]), 2 * (n - 1) * size / n);
      EXPECT_EQ(result.wire_bytes[rank][0], Bytes(2 * (n - 1) * size / n));
    }
  }
}

TEST(ThreadRingRecord, AllGatherAndReduceScatterSendRanksMinusOneBlocksFromEveryRank) {
  for (const Collective collective : {Collective::all_gather, Collective::reduce_scatter}) {
    for (int ranks = 2; ranks <= 9; ++ranks) {
      const RingCase c = whole_loops(collective, ranks, 32, 3);
      for (const auto& channels : recorded(c).steps) {
        EXPECT_EQ(sent_payload(channels[0]), static_cast<std::uint64_t>(ranks - 1) * 4 * c.count);
      }
    }
  }
}

TEST(ThreadRingRecord, BroadcastAndReduceSendTheSizeOnceFromAllButTheEndOfTheChain) {
  for (const Collective collective : {Collective::broadcast, Collective::reduce}) {
    RingCase c = whole_loops(collective, 5, 32, 3);
    c.root = 2;
    const ThreadRingResult result = recorded(c);
    const std::size_t end =
        collective == Collective::broadcast ? 1 : 2;  // the rank before the root, the root
    for (std::size_t rank = 0; rank < 5; ++rank) {
      EXPECT_EQ(sent_payload(result.steps[rank][0]), rank == end ? 0 : 4 * c.count) << rank;
    }
  }
}

TEST(ThreadRingRecord, LlPutsTwoBytesOnTheWireForEachByteOfPayloadAndLl128128For120) {
  RingCase c = whole_loops(Collective::all_reduce, 4, 480, 3);  // 1920 B: whole lines of either protocol
  const std::uint64_t payload = 2 * 3 * 4 * c.count / 4;
  c.protocol = Protocol::ll;
  for (const auto& channels : recorded(c).wire_bytes) EXPECT_EQ(channels[0], Bytes(2 * payload));
  c.protocol = Protocol::ll128;
  for (const auto& channels : recorded(c).wire_bytes) EXPECT_EQ(channels[0], Bytes(payload * 128 / 120));
}

TEST(ThreadRingRecord, TheIssuedSequenceDependsOnTheProtocolOnlyThroughTheGeometry) {
  for (const Collective collective : {Collective::all_reduce, Collective::reduce_scatter,
                                      Collective::all_gather, Collective::broadcast, Collective::reduce}) {
    RingCase c;
    c.collective = collective;
    c.channels = 3;
    c.shuffled = true;
    c.geometry = {96, 16, 2, 32};
    const auto want = recorded(c).steps;
    for (const Protocol protocol : all_protocols) {
      c.protocol = protocol;
      EXPECT_EQ(recorded(c).steps, want) << describe(c);
    }
    c.geometry.chunk_count = 48;
    EXPECT_NE(recorded(c).steps, want) << describe(c);
  }
}

TEST(ThreadRingRecord, TheIssuedSequenceRunsThroughLoopsStepsAndSlicesInOrder) {
  RingCase c;
  c.channels = 2;
  c.geometry = {40, 8, 2, 1};
  c.count = 1000;  // 500 a channel: 3 loops of 4 x 40 and a rest of 20
  const ThreadRingResult result = recorded(c);
  for (std::size_t rank = 0; rank < 4; ++rank) {
    for (std::size_t channel = 0; channel < 2; ++channel) {
      const std::vector<RecordedStep>& steps = result.steps[rank][channel];
      ASSERT_EQ(steps.size(), 4U * 7U * 2U);
      for (std::size_t i = 0; i < steps.size(); ++i) {
        EXPECT_EQ(steps[i].channel, static_cast<int>(channel));
        EXPECT_EQ(std::tuple(steps[i].loop, steps[i].step, steps[i].slice),
                  std::tuple(i / 14, static_cast<int>(i / 2 % 7), static_cast<int>(i % 2)));
      }
    }
  }
}

TEST(ThreadRingRecord, EverySliceThatARankSendsIsTheOneThatTheNextRankReceives) {
  RingCase c;
  c.ranks = 5;
  c.count = 777;
  c.channels = 2;
  c.shuffled = true;
  c.geometry = {48, 16, 2, 1};
  ThreadRingCall call = make_call(c);
  call.record = true;
  const ThreadRingResult result = run_thread_ring(call);
  const auto filtered = [&](int rank, int channel, bool (*wanted)(RingAction)) {
    std::vector<std::tuple<std::uint64_t, int, int, std::uint64_t>> slices;
    for (const RecordedStep& step :
         result.steps[static_cast<std::size_t>(rank)][static_cast<std::size_t>(channel)]) {
      if (wanted(step.action)) slices.emplace_back(step.loop, step.chunk, step.slice, step.bytes);
    }
    return slices;
  };
  for (int channel = 0; channel < 2; ++channel) {
    const RingOrder order = ring_order(call.plan, channel);
    for (std::size_t p = 0; p < order.size(); ++p) {
      EXPECT_EQ(filtered(order[p], channel, sends),
                filtered(order[(p + 1) % order.size()], channel, receives));
    }
  }
}

TEST(ThreadRingRecord, NothingIsRecordedUnasked) {
  const ThreadRingResult result = run_thread_ring(make_call(RingCase{}));
  for (const auto& channels : result.steps) EXPECT_TRUE(channels[0].empty());
}

}  // namespace
}  // namespace lanecast::support
