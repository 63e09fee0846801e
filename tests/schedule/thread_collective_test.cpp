// The ring over real data: what every rank holds in the end. Other schedules: thread_schedules_test.cpp.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/schedule/expect_right.hpp"

namespace lanecast::support {
namespace {

TEST(ThreadCollectiveRing, EveryTypeAndOperationIsReducedRightlyByEveryProtocol) {
  std::uint64_t i = 0;
  for (const Datatype type : all_datatypes) {
    for (const ReduceOp op : all_reduce_ops) {
      for (const Protocol protocol : all_protocols) {
        CollectiveCase c;
        c.type = type;
        c.op = op;
        c.protocol = protocol;
        c.ranks = 2 + static_cast<int>(i % 5);
        c.collective =
            pick(std::array{Collective::all_reduce, Collective::reduce_scatter, Collective::reduce}, i / 3);
        c.in_place = i % 2 == 1;
        c.count = 301;
        c.seed = ++i;
        expect_right(c);
      }
    }
  }
}

TEST(ThreadCollectiveRing, EveryCollectiveIsRightForOneTo16RanksInEveryProtocol) {
  std::uint64_t i = 0;
  for (int ranks = 1; ranks <= 16; ++ranks) {
    for (const Collective collective : all_collectives) {
      for (const Protocol protocol : all_protocols) {
        CollectiveCase c;
        c.ranks = ranks;
        c.collective = collective;
        c.protocol = protocol;
        c.type = pick(all_datatypes, i);
        c.op = pick(all_reduce_ops, i / 2);
        c.in_place = i % 2 == 0;
        c.root = static_cast<int>(i) % ranks;
        c.count = pick(std::array<std::uint64_t, 6>{1, 3, 17, 127, 521, 1023}, i);
        c.shuffled = i % 3 == 0;
        c.seed = ++i;
        expect_right(c);
      }
    }
  }
}

TEST(ThreadCollectiveRing, BroadcastAndReduceAreRightFromEveryRoot) {
  std::uint64_t i = 0;
  for (const int ranks : {2, 3, 5, 8}) {
    for (int root = 0; root < ranks; ++root) {
      for (const Collective collective : {Collective::broadcast, Collective::reduce}) {
        for (const bool in_place : {false, true}) {
          CollectiveCase c;
          c.ranks = ranks;
          c.collective = collective;
          c.root = root;
          c.in_place = in_place;
          c.protocol = pick(all_protocols, i);
          c.channels = 2;
          c.shuffled = true;
          c.count = 211;
          c.seed = ++i;
          expect_right(c);
        }
      }
    }
  }
}

TEST(ThreadCollectiveRing, OddTinyAndEmptyCountsAreRightInPlaceAndOut) {
  std::uint64_t i = 0;
  for (const std::uint64_t count : {0, 1, 2, 3, 5, 7, 16, 17, 31, 1023, 1031}) {
    for (const Collective collective : all_collectives) {
      for (const bool in_place : {false, true}) {
        CollectiveCase c;
        c.count = count;
        c.collective = collective;
        c.in_place = in_place;
        c.ranks = 6;
        c.protocol = pick(all_protocols, i);
        c.type = pick(std::array{Datatype::uint8, Datatype::float16, Datatype::float64}, i / 3);
        c.geometry = {48, 16, 2, 1};
        c.seed = ++i;
        expect_right(c);
      }
    }
  }
}

TEST(ThreadCollectiveRing, ChannelsMayHaveUnequalSharesAndRingOrdersOfTheirOwn) {
  std::uint64_t i = 0;
  for (const int channels : {2, 3, 5}) {
    for (const Collective collective : all_collectives) {
      for (const Protocol protocol : all_protocols) {
        CollectiveCase c;
        c.channels = channels;
        c.collective = collective;
        c.protocol = protocol;
        c.shuffled = true;
        c.ranks = 5;
        c.root = static_cast<int>(i % 5);
        c.in_place = i % 2 == 0;
        c.count = 16 * static_cast<std::uint64_t>(channels) + 9;  // grains do not divide evenly
        c.geometry = {32, 16, 1, 1};
        c.seed = ++i;
        expect_right(c);
      }
    }
  }
}

TEST(ThreadCollectiveRing, MoreLoopsAndSlicesThanTheFifoHoldsAreRight) {
  std::uint64_t i = 0;
  for (const Collective collective : all_collectives) {
    for (const Protocol protocol : all_protocols) {
      CollectiveCase c;
      c.collective = collective;
      c.protocol = protocol;
      c.ranks = 4;
      c.count = 20011;  // more than 78 loops of 4 x 64
      c.geometry = {64, 8, 3, 1};
      c.fifo_depth = 4;
      c.in_place = i % 2 == 0;
      c.seed = ++i;
      expect_right(c);
    }
  }
}

TEST(ThreadCollectiveRing, AFifoOfOneSliceIsEnoughForARingFromOrToARoot) {
  for (const Collective collective : {Collective::broadcast, Collective::reduce}) {
    for (const Protocol protocol : all_protocols) {
      CollectiveCase c;
      c.collective = collective;
      c.protocol = protocol;
      c.root = 2;
      c.geometry = {64, 1, 2, 1};
      c.fifo_depth = 1;
      expect_right(c);
    }
  }
}

TEST(ThreadCollectiveRing, AFifoOfOneSliceIsEnoughForARingThatGivesCreditBackAfterReading) {
  for (const Collective collective : all_collectives) {
    for (const Protocol protocol : all_protocols) {
      CollectiveCase c;
      c.collective = collective;
      c.protocol = protocol;
      c.fifo_depth = 1;
      ThreadCall call = make_call(c);
      call.credit_return = CreditReturn::after_read;
      EXPECT_EQ(mismatch(call, run_on_threads(call)), "") << describe(c);
    }
  }
}

TEST(ThreadCollectiveRing, OneSlotMoreThanAChunkHasSlicesIsEnoughForARingThatGivesCreditBackAfterTheTurn) {
  for (const int slices : {1, 2, 4}) {
    for (const Protocol protocol : all_protocols) {
      CollectiveCase c;
      c.protocol = protocol;
      c.geometry = {64, 1, slices, 1};
      c.fifo_depth = slices + 1;
      expect_right(c);
    }
  }
}

TEST(ThreadCollectiveRing, AllReduceGivesEveryRankTheSameBits) {
  for (const Datatype type : {Datatype::float32, Datatype::float16, Datatype::bfloat16, Datatype::float64}) {
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::prod, ReduceOp::avg}) {
      CollectiveCase c;
      c.type = type;
      c.op = op;
      c.ranks = 7;
      c.channels = 2;
      c.shuffled = true;
      const ThreadResult result = run_on_threads(make_call(c));
      for (const std::vector<std::byte>& output : result.outputs) EXPECT_EQ(output, result.outputs[0]);
    }
  }
}

TEST(ThreadCollectiveRing, TheResultDoesNotDependOnTheProtocolOrTheDepthOfTheFifo) {
  CollectiveCase c;
  c.type = Datatype::float16;
  c.ranks = 5;
  const std::vector<std::vector<std::byte>> want = run_on_threads(make_call(c)).outputs;
  for (const Protocol protocol : all_protocols) {
    for (const int depth : {2, 3, 8}) {
      c.protocol = protocol;
      c.fifo_depth = depth;
      EXPECT_EQ(run_on_threads(make_call(c)).outputs, want) << describe(c);
    }
  }
}

TEST(ThreadCollectiveRing, WhatOutputsHeldBeforeDoesNotShowThrough) {
  for (const Collective collective :
       {Collective::all_reduce, Collective::reduce_scatter, Collective::all_gather, Collective::broadcast}) {
    CollectiveCase c;
    c.collective = collective;
    ThreadCall call = make_call(c);
    const std::vector<std::vector<std::byte>> want = run_on_threads(call).outputs;
    for (const int poison : {0x00, 0xff, 0x5a}) {
      call.poison = static_cast<std::byte>(poison);
      EXPECT_EQ(run_on_threads(call).outputs, want) << describe(c);
    }
  }
}

TEST(ThreadCollectiveRing, FlagsOfLlMayWrapInTheMiddleOfACall) {
  for (const std::uint64_t first_step : {0x7ffffff0ULL, 0x7fffffffULL, 0xfffffff0ULL, 0xffffffffULL}) {
    for (const Protocol protocol : all_protocols) {
      CollectiveCase c;
      c.protocol = protocol;
      c.count = 5003;  // 19 whole loops of 4 x 64 and a rest: more than 100 steps on each connection
      c.fifo_depth = 8;
      ThreadCall call = make_call(c);
      call.first_step = first_step;
      EXPECT_EQ(mismatch(call, run_on_threads(call)), "") << describe(c) << ", first step " << first_step;
    }
  }
}

TEST(ThreadCollectiveRing, OneRankAloneKeepsItsInputAndSendsNothing) {
  for (const Collective collective : all_collectives) {
    for (const ReduceOp op : all_reduce_ops) {
      CollectiveCase c;
      c.ranks = 1;
      c.collective = collective;
      c.op = op;
      ThreadCall call = make_call(c);
      call.record = true;
      const ThreadResult result = run_on_threads(call);
      EXPECT_EQ(result.outputs, call.inputs);
      EXPECT_TRUE(result.steps[0][0].empty());
      EXPECT_EQ(result.wire_bytes[0][0], Bytes(0));
    }
  }
}

TEST(LargeThreadCollective, MegabytesInNcclsOwnGeometryAreRight) {
  // facts.md A2: chunk, slices, floor and depth of Ring/Simple, LL and LL128, in elements of 4 B.
  const std::array<ShareGeometry, 3> geometries = {
      {{524288, 128, 2, 8192}, {8192, 4, 1, 1}, {144000, 480, 1, 1}}};
  const std::array<int, 3> depths = {4, 8, 8};
  for (std::size_t i = 0; i < all_protocols.size(); ++i) {
    for (const Collective collective : all_collectives) {
      CollectiveCase c;
      c.collective = collective;
      c.protocol = all_protocols[i];
      c.geometry = geometries[i];
      c.fifo_depth = depths[i];
      c.count = 1'500'007;
      c.channels = 2;
      c.ranks = 3;
      c.shuffled = true;
      expect_right(c);
    }
  }
}

TEST(LargeThreadCollective, SixteenRanksOnFourChannelsAreRightForManySeeds) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    for (const Collective collective : all_collectives) {
      CollectiveCase c;
      c.collective = collective;
      c.ranks = 16;
      c.channels = 4;
      c.shuffled = true;
      c.protocol = pick(all_protocols, seed);
      c.type = pick(all_datatypes, seed);
      c.op = pick(all_reduce_ops, seed);
      c.root = static_cast<int>(seed);
      c.count = 30'000 + seed;
      c.geometry = {256, 16, 2, 32};
      c.seed = seed;
      expect_right(c);
    }
  }
}

}  // namespace
}  // namespace lanecast::support
