// What schedules issue and put on the wire.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "tests/schedule/expect_right.hpp"
#include "tests/schedule/symbolic_schedule.hpp"
#include "tests/support/connections.hpp"

namespace lanecast::support {
namespace {

ThreadResult recorded(const CollectiveCase& test_case) {
  ThreadCall call = make_call(test_case);
  call.record = true;
  return run_on_threads(call);
}

std::size_t index(int i) { return static_cast<std::size_t>(i); }

/// Notes what it is asked to run.
struct NotingPrimitives {
  const ChannelWork& work;
  std::vector<RecordedStep>& steps;

  void run(const Turn& turn, const Slice& slice) {
    steps.push_back({work.channel, work.strand, slice.loop, slice.step, slice.chunk, slice.slice,
                     action_of(turn), slice.count * static_cast<std::uint64_t>(work.element_bytes)});
  }
  std::uint64_t next_loop(std::uint64_t loop, std::uint64_t) const { return loop; }
  std::uint64_t next_step(std::uint64_t, std::uint64_t step, std::uint64_t) const { return step; }
};

/// Of a ring, in which a turn sends to one peer at most.
std::uint64_t sent_payload(const std::vector<RecordedStep>& steps) {
  std::uint64_t bytes = 0;
  for (const RecordedStep& step : steps) bytes += sends(step.action) ? step.bytes : 0;
  return bytes;
}

/// 4 B elements; the share is whole loops of `chunk_count` elements a chunk.
CollectiveCase whole_loops(Collective collective, int ranks, std::uint64_t chunk_count, std::uint64_t loops) {
  CollectiveCase c;
  c.collective = collective;
  c.ranks = ranks;
  c.geometry.chunk_count = chunk_count;
  c.count =
      chunk_count * loops * (collective == Collective::all_reduce ? static_cast<std::uint64_t>(ranks) : 1);
  return c;
}

TEST(ThreadCollectiveRecord, ARingsAllReduceSendsTwiceRanksMinusOneOverRanksOfTheSizeFromEveryRank) {
  for (int ranks = 2; ranks <= 16; ++ranks) {
    const CollectiveCase c = whole_loops(Collective::all_reduce, ranks, 32, 3);
    const std::uint64_t size = 4 * c.count;
    const std::uint64_t n = static_cast<std::uint64_t>(ranks);
    const ThreadResult result = recorded(c);
    for (std::size_t rank = 0; rank < n; ++rank) {
      EXPECT_EQ(sent_payload(result.steps[rank][0]), 2 * (n - 1) * size / n);
      EXPECT_EQ(result.wire_bytes[rank][0], Bytes(2 * (n - 1) * size / n));
    }
  }
}

TEST(ThreadCollectiveRecord, ARingsAllGatherAndReduceScatterSendRanksMinusOneBlocksFromEveryRank) {
  for (const Collective collective : {Collective::all_gather, Collective::reduce_scatter}) {
    for (int ranks = 2; ranks <= 9; ++ranks) {
      const CollectiveCase c = whole_loops(collective, ranks, 32, 3);
      for (const auto& channels : recorded(c).steps) {
        EXPECT_EQ(sent_payload(channels[0]), static_cast<std::uint64_t>(ranks - 1) * 4 * c.count);
      }
    }
  }
}

TEST(ThreadCollectiveRecord, ARingsBroadcastAndReduceSendTheSizeOnceFromAllButTheEndOfTheChain) {
  for (const Collective collective : {Collective::broadcast, Collective::reduce}) {
    CollectiveCase c = whole_loops(collective, 5, 32, 3);
    c.root = 2;
    const ThreadResult result = recorded(c);
    const std::size_t end =
        collective == Collective::broadcast ? 1 : 2;  // the rank before the root, the root
    for (std::size_t rank = 0; rank < 5; ++rank) {
      EXPECT_EQ(sent_payload(result.steps[rank][0]), rank == end ? 0 : 4 * c.count) << rank;
    }
  }
}

TEST(ThreadCollectiveRecord, LlPutsTwoBytesOnTheWireForEachByteOfPayloadAndLl128128For120) {
  CollectiveCase c =
      whole_loops(Collective::all_reduce, 4, 480, 3);  // 1920 B: whole lines of either protocol
  const std::uint64_t payload = 2 * 3 * 4 * c.count / 4;
  c.protocol = Protocol::ll;
  for (const auto& channels : recorded(c).wire_bytes) EXPECT_EQ(channels[0], Bytes(2 * payload));
  c.protocol = Protocol::ll128;
  for (const auto& channels : recorded(c).wire_bytes) EXPECT_EQ(channels[0], Bytes(payload * 128 / 120));
}

TEST(ThreadCollectiveRecord, EveryShapePutsOnTheWireWhatItsTurnsSay) {
  for (const Collective collective : all_collectives) {
    for (const int ranks : {3, 4, 6, 8}) {
      for (const ScheduleShape& shape : shapes_for(collective, ranks)) {
        CollectiveCase c = whole_loops(collective, ranks, 24, 1);
        c.shape = shape;
        const ChannelWork loop = make_call(c).plan.works[0][0];
        c.count = 3 * parts_per_loop(loop) * full_part_count(loop);
        const std::uint64_t part_bytes = 3 * full_part_count(loop) * 4;
        SymbolicSchedule schedule(channel_of(shape, collective, ranks));
        ASSERT_EQ(schedule.run(), "");
        const ThreadResult result = recorded(c);
        for (int rank = 0; rank < ranks; ++rank) {
          const auto parts = static_cast<std::uint64_t>(schedule.parts_sent(rank));
          EXPECT_EQ(result.wire_bytes[static_cast<std::size_t>(rank)][0], Bytes(parts * part_bytes))
              << describe(c);
        }
      }
    }
  }
}

TEST(ThreadCollectiveRecord, TheIssuedSequenceDependsOnTheProtocolOnlyThroughTheGeometry) {
  for (const Collective collective : all_collectives) {
    for (const ScheduleShape& shape : shapes_for(collective, 4)) {
      CollectiveCase c;
      c.shape = shape;
      c.collective = collective;
      c.channels = 3;
      c.shuffled = true;
      c.geometry = {96, 4, 2, 32};
      const auto want = recorded(c).steps;
      for (const Protocol protocol : all_protocols) {
        c.protocol = protocol;
        EXPECT_TRUE(recorded(c).steps == want) << describe(c);
      }
      c.geometry.chunk_count = 48;
      EXPECT_FALSE(recorded(c).steps == want) << describe(c);
    }
  }
}

TEST(ThreadCollectiveRecord, TheIssuedSequenceIsThatOfRunScheduleStrandAfterStrand) {
  for (const ScheduleShape& shape : shapes_for(Collective::all_reduce, 6)) {
    CollectiveCase c;
    c.shape = shape;
    c.ranks = 6;
    c.channels = 2;
    c.geometry = {40, 8, 2, 1};
    ThreadCall call = make_call(c);
    call.record = true;
    const ThreadResult result = run_on_threads(call);
    for (int channel = 0; channel < 2; ++channel) {
      std::map<std::size_t, std::vector<RecordedStep>> want;  // by rank
      const RankOrder order = order_of(call.plan, channel);
      for (const ChannelWork& work : strands_of(call.plan, channel)) {
        NotingPrimitives noting{work, want[static_cast<std::size_t>(order[index(work.position)])]};
        run_schedule(noting, work);
      }
      for (const auto& [rank, steps] : want)
        EXPECT_TRUE(result.steps[rank][index(channel)] == steps) << describe(c);
    }
  }
}

using SentSlice = std::tuple<std::uint64_t, int, int, std::uint64_t>;  // loop, chunk, slice, bytes

bool among(const Peers& peers, int position) {
  for (int i = 0; i < peers.count; ++i) {
    if (peers.at(i) == position) return true;
  }
  return false;
}

/// Slices that pass between two positions, as one of them recorded them.
std::vector<SentSlice> slices_between(const ThreadCall& call, const ThreadResult& result, int channel,
                                      int position, int peer, bool sent) {
  std::vector<SentSlice> slices;
  const auto rank = index(order_of(call.plan, channel)[index(position)]);
  ChannelWork work = call.plan.works[rank][index(channel)];
  for (const RecordedStep& step : result.steps[rank][index(channel)]) {
    work.strand = step.strand;
    const Turn turn = turn_of(work, step.step);
    if (among(sent ? turn.to : turn.from, peer))
      slices.emplace_back(step.loop, step.chunk, step.slice, step.bytes);
  }
  return slices;
}

TEST(ThreadCollectiveRecord, EverySliceThatARankSendsIsTheOneThatItsPeerReceives) {
  for (const Collective collective : all_collectives) {
    for (const ScheduleShape& shape : shapes_for(collective, 6)) {
      CollectiveCase c;
      c.shape = shape;
      c.collective = collective;
      c.ranks = 6;
      c.count = 777;
      c.channels = 2;
      c.shuffled = true;
      c.geometry = {48, 16, 2, 1};
      ThreadCall call = make_call(c);
      call.record = true;
      const ThreadResult result = run_on_threads(call);
      for (int channel = 0; channel < 2; ++channel) {
        for (const auto& [ends, connection] : connections_of(strands_of(call.plan, channel))) {
          const auto sent = slices_between(call, result, channel, ends.first, ends.second, true);
          EXPECT_FALSE(sent.empty());
          EXPECT_EQ(sent, slices_between(call, result, channel, ends.second, ends.first, false))
              << describe(c) << ", from " << ends.first << " to " << ends.second;
        }
      }
    }
  }
}

TEST(ThreadCollectiveRecord, NothingIsRecordedUnasked) {
  const ThreadResult result = run_on_threads(make_call(CollectiveCase{}));
  for (const auto& channels : result.steps) EXPECT_TRUE(channels[0].empty());
}

}  // namespace
}  // namespace lanecast::support
