// Every schedule over real data: what every rank holds in the end.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/schedule/expect_right.hpp"

namespace lanecast::support {
namespace {

/// The i-th of many mixtures of what a schedule does not depend on.
CollectiveCase mixed_case(const ScheduleShape& shape, Collective collective, int ranks, std::uint64_t i) {
  constexpr std::array<ShareGeometry, 4> geometries = {
      {{64, 1, 1, 1}, {48, 16, 2, 1}, {96, 8, 3, 1}, {256, 4, 2, 32}}};
  const auto n = static_cast<std::uint64_t>(ranks);
  CollectiveCase c;
  c.shape = shape;
  c.collective = collective;
  c.ranks = ranks;
  c.type = pick(all_datatypes, i);
  c.op = pick(all_reduce_ops, i / 2);
  c.in_place = i % 2 == 0;
  c.root = static_cast<int>(i % n);
  c.count = pick(std::array<std::uint64_t, 8>{1, 3, n - 1, n + 1, 17, 127, 521, 1023}, i);
  c.channels = i % 4 == 0 ? 2 : 1;
  c.shuffled = i % 3 == 0;
  c.geometry = pick(geometries, i / 5);
  c.seed = i + 1;
  return c;
}

/// For each collective.
class ThreadCollectiveSchedules : public ::testing::TestWithParam<Collective> {};

INSTANTIATE_TEST_SUITE_P(Of, ThreadCollectiveSchedules, ::testing::ValuesIn(all_collectives),
                         [](const auto& tested) { return std::string(to_string(tested.param)); });

TEST_P(ThreadCollectiveSchedules, AreRightFor2To16RanksInEveryShapeAndProtocol) {
  std::uint64_t i = 0;
  for (int ranks = 2; ranks <= 16; ++ranks) {
    for (const ScheduleShape& shape : shapes_for(GetParam(), ranks)) {
      for (const Protocol protocol : all_protocols) {
        CollectiveCase c = mixed_case(shape, GetParam(), ranks, i++);
        c.protocol = protocol;
        expect_right(c);
      }
    }
  }
}

TEST_P(ThreadCollectiveSchedules, AreRightForMoreRanksInEveryShape) {
  std::uint64_t i = 0;
  for (const int ranks : {17, 24, 31, 32}) {
    for (const ScheduleShape& shape : shapes_for(GetParam(), ranks)) {
      CollectiveCase c = mixed_case(shape, GetParam(), ranks, i);
      c.protocol = pick(all_protocols, i++);
      c.channels = 1;
      expect_right(c);
    }
  }
}

TEST_P(ThreadCollectiveSchedules, AreRightForOddTinyAndEmptyCountsInPlaceAndOut) {
  std::uint64_t i = 0;
  for (const int ranks : {5, 8}) {
    for (const ScheduleShape& shape : shapes_for(GetParam(), ranks)) {
      for (const std::uint64_t count : {0, 1, 3, 7, 16, 17, 1031}) {
        for (const bool in_place : {false, true}) {
          CollectiveCase c;
          c.shape = shape;
          c.collective = GetParam();
          c.ranks = ranks;
          c.count = count;
          c.in_place = in_place;
          c.protocol = pick(all_protocols, i);
          c.type = pick(std::array{Datatype::uint8, Datatype::float16, Datatype::float64}, i / 3);
          c.geometry = {48, 16, 2, 1};
          c.seed = ++i;
          expect_right(c);
        }
      }
    }
  }
}

TEST_P(ThreadCollectiveSchedules, AreRightOverMoreLoopsAndSlicesThanTheFifoHolds) {
  std::uint64_t i = 0;
  for (const int ranks : {4, 6}) {
    for (const ScheduleShape& shape : shapes_for(GetParam(), ranks)) {
      for (const Protocol protocol : all_protocols) {
        CollectiveCase c;
        c.shape = shape;
        c.collective = GetParam();
        c.ranks = ranks;
        c.protocol = protocol;
        c.count = 9011;
        c.geometry = {64, 8, 3, 1};
        c.channels = 2;
        c.in_place = i % 2 == 0;
        c.seed = ++i;
        expect_right(c);
      }
    }
  }
}

TEST_P(ThreadCollectiveSchedules, AreRightWhenFlagsWrapInTheMiddleOfACall) {
  std::uint64_t i = 0;
  for (const ScheduleShape& shape : shapes_for(GetParam(), 4)) {
    for (const std::uint64_t first_step : {0x7fffffffULL, 0xfffffff0ULL, 0xffffffffULL}) {
      CollectiveCase c;
      c.shape = shape;
      c.collective = GetParam();
      c.protocol = pick(all_protocols, i++);
      c.count = 5003;
      ThreadCall call = make_call(c);
      call.first_step = first_step;
      EXPECT_EQ(mismatch(call, run_on_threads(call)), "") << describe(c) << ", first step " << first_step;
    }
  }
}

TEST_P(ThreadCollectiveSchedules, GiveTheSameBitsInEveryProtocolDepthAndWayToReturnCredit) {
  for (const ScheduleShape& shape : shapes_for(GetParam(), 8)) {
    CollectiveCase c;
    c.shape = shape;
    c.collective = GetParam();
    c.ranks = 8;
    c.type = Datatype::float16;
    const std::vector<std::vector<std::byte>> want = run_on_threads(make_call(c)).outputs;
    for (const Protocol protocol : all_protocols) {
      for (const int depth : {2, 8}) {
        c.protocol = protocol;
        c.fifo_depth = depth;
        ThreadCall call = make_call(c);
        EXPECT_EQ(run_on_threads(call).outputs, want) << describe(c);
        call.credit_return = CreditReturn::after_read;
        EXPECT_EQ(run_on_threads(call).outputs, want) << describe(c) << ", credit after reading";
      }
    }
  }
}

TEST(ThreadCollectiveRoots, BroadcastAndReduceAreRightFromEveryRootInEveryShape) {
  std::uint64_t i = 0;
  for (const Collective collective : {Collective::broadcast, Collective::reduce}) {
    for (const int ranks : {2, 3, 5, 8}) {
      for (const ScheduleShape& shape : shapes_for(collective, ranks)) {
        for (int root = 0; root < ranks; ++root) {
          CollectiveCase c = mixed_case(shape, collective, ranks, i);
          c.root = root;
          c.protocol = pick(all_protocols, i++);
          c.channels = 2;
          expect_right(c);
        }
      }
    }
  }
}

TEST(ThreadCollectiveTypes, EveryTypeAndOperationIsReducedRightlyInEveryShapeOfSixRanks) {
  std::uint64_t i = 0;
  for (const ScheduleShape& shape : shapes_for(Collective::all_reduce, 6)) {
    for (const Datatype type : all_datatypes) {
      for (const ReduceOp op : all_reduce_ops) {
        CollectiveCase c;
        c.shape = shape;
        c.ranks = 6;
        c.type = type;
        c.op = op;
        c.protocol = pick(all_protocols, i);
        c.in_place = i % 2 == 1;
        c.count = 301;
        c.seed = ++i;
        expect_right(c);
      }
    }
  }
}

TEST(ThreadCollectiveBits, AnAllReduceGivesEveryRankTheSameBitsInEveryShape) {
  for (const int ranks : {7, 12}) {
    for (const ScheduleShape& shape : shapes_for(Collective::all_reduce, ranks)) {
      for (const Datatype type : {Datatype::float32, Datatype::float16}) {
        for (const ReduceOp op : {ReduceOp::sum, ReduceOp::avg}) {
          CollectiveCase c;
          c.shape = shape;
          c.ranks = ranks;
          c.type = type;
          c.op = op;
          c.channels = 2;
          c.shuffled = true;
          const ThreadResult result = run_on_threads(make_call(c));
          for (const std::vector<std::byte>& output : result.outputs)
            EXPECT_EQ(output, result.outputs[0]) << describe(c);
        }
      }
    }
  }
}

/// The sum of all inputs, first to last.
std::vector<std::byte> sum_in_order(const ThreadCall& call) {
  std::vector<std::byte> sum = call.inputs[0];
  const ElementKernel kernel = element_kernel(call.type, ReduceOp::sum);
  for (std::size_t rank = 1; rank < call.inputs.size(); ++rank)
    kernel.combine(sum.data(), call.inputs[rank].data(), call.count);
  return sum;
}

TEST(ThreadCollectiveBits, WhoTakesFromEveryoneAddsInTheOrderOfPositionsWhereverItStandsItself) {
  for (const int ranks : {3, 5, 16}) {
    for (const ScheduleShape& shape : {ScheduleShape{Schedule::one_shot}, ScheduleShape{Schedule::two_shot},
                                       ScheduleShape{Schedule::tree, TreeShape::star}}) {
      CollectiveCase c;
      c.shape = shape;
      c.ranks = ranks;
      c.root = ranks / 2;  // the star's centre
      const ThreadCall call = make_call(c);
      const ThreadResult result = run_on_threads(call);
      for (const std::vector<std::byte>& output : result.outputs)
        EXPECT_EQ(output, sum_in_order(call)) << describe(c);
    }
  }
}

TEST(LargeThreadCollective, MegabytesInNcclsOwnGeometryAreRightInEveryShape) {
  // facts.md A2: chunk, slices, floor and depth of Simple, LL and LL128, in elements of 4 B.
  constexpr std::array<ShareGeometry, 3> geometries = {
      {{524288, 128, 2, 8192}, {8192, 4, 1, 1}, {144000, 480, 1, 1}}};
  constexpr std::array<int, 3> depths = {4, 8, 8};
  std::uint64_t i = 0;
  for (const ScheduleShape& shape : shapes_for(Collective::all_reduce, 4)) {
    if (shape.schedule == Schedule::ring) continue;  // thread_collective_test.cpp
    CollectiveCase c;
    c.shape = shape;
    c.protocol = pick(all_protocols, i);
    c.geometry = pick(geometries, i);
    c.fifo_depth = pick(depths, i++);
    c.count = 1'000'003;
    c.channels = 2;
    expect_right(c);
  }
}

TEST(LargeThreadCollective, SixteenRanksOnFourChannelsAreRightInEveryShape) {
  std::uint64_t i = 0;
  for (const ScheduleShape& shape : shapes_for(Collective::all_reduce, 16)) {
    CollectiveCase c = mixed_case(shape, Collective::all_reduce, 16, i);
    c.protocol = pick(all_protocols, i++);
    c.channels = 4;
    c.count = 20'000 + i;
    expect_right(c);
  }
}

}  // namespace
}  // namespace lanecast::support
