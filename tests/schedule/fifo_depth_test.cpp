// How deep FIFOs must be for a schedule not to lock up.
#include "tests/support/fifo_depth.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <vector>

#include "model/error.hpp"
#include "tests/schedule/expect_right.hpp"
#include "tests/schedule/symbolic_schedule.hpp"

namespace lanecast::support {
namespace {

constexpr std::array both_returns = {CreditReturn::after_turn, CreditReturn::after_read};

const char* name_of(CreditReturn credit_return) {
  return credit_return == CreditReturn::after_turn ? ", credit after the turn" : ", credit after reading";
}

std::vector<ChannelWork> channel_with_slices(const ScheduleShape& shape, Collective collective, int ranks,
                                             int slices) {
  std::vector<ChannelWork> strands = channel_of(shape, collective, ranks);
  for (ChannelWork& work : strands) work.slices_per_chunk = slices;
  return strands;
}

TEST(FifoDepth, TheMinimumDoesNotLockUpAndOneSlotLessDoesInEverySchedule) {
  for (const Collective collective : all_collectives) {
    for (const int ranks : {2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17}) {
      for (const ScheduleShape& shape : shapes_for(collective, ranks)) {
        for (const int slices : {1, 2, 3, 4, 5}) {
          const auto strands = channel_with_slices(shape, collective, ranks, slices);
          for (const CreditReturn credit_return : both_returns) {
            const int depth = min_fifo_depth(strands[0], credit_return);
            ASSERT_FALSE(locks_up(strands, depth, credit_return))
                << describe(shape, collective, ranks) << ", " << slices << " slices, depth " << depth
                << name_of(credit_return);
            ASSERT_TRUE(locks_up(strands, depth - 1, credit_return))
                << describe(shape, collective, ranks) << ", " << slices << " slices, depth " << depth - 1
                << name_of(credit_return);
          }
        }
      }
    }
  }
}

TEST(FifoDepth, AllPositionsNeedTheSame) {
  for (const Collective collective : all_collectives) {
    for (const int ranks : {2, 3, 7, 8, 12}) {
      for (const ScheduleShape& shape : shapes_for(collective, ranks)) {
        const auto strands = channel_with_slices(shape, collective, ranks, 3);
        for (const ChannelWork& work : strands) {
          for (const CreditReturn credit_return : both_returns)
            EXPECT_EQ(min_fifo_depth(work, credit_return), min_fifo_depth(strands[0], credit_return));
        }
      }
    }
  }
}

TEST(FifoDepth, IsOneForTreesAndASliceForEachOfAChunkElsewhereAndOneMoreWhereSlotsAreHeld) {
  const auto depth = [](const ScheduleShape& shape, Collective collective, int ranks, CreditReturn back) {
    return min_fifo_depth(channel_with_slices(shape, collective, ranks, 4)[0], back);
  };
  const CreditReturn turn = CreditReturn::after_turn;
  const CreditReturn read = CreditReturn::after_read;
  EXPECT_EQ(depth({Schedule::tree, TreeShape::binary}, Collective::all_reduce, 8, turn), 1);
  EXPECT_EQ(depth({Schedule::ring}, Collective::broadcast, 8, turn), 1);
  EXPECT_EQ(depth({Schedule::ring}, Collective::all_reduce, 2, turn), 5);
  EXPECT_EQ(depth({Schedule::ring}, Collective::all_reduce, 2, read), 4);
  EXPECT_EQ(depth({Schedule::ring}, Collective::all_gather, 2, turn), 4);
  EXPECT_EQ(depth({Schedule::ring}, Collective::all_gather, 3, turn), 5);
  EXPECT_EQ(depth({Schedule::one_shot}, Collective::all_reduce, 8, turn), 4);
  EXPECT_EQ(depth({Schedule::two_shot}, Collective::all_reduce, 8, turn), 5);
  EXPECT_EQ(depth({Schedule::two_shot}, Collective::all_reduce, 8, read), 4);
  EXPECT_EQ(depth({Schedule::two_shot}, Collective::reduce_scatter, 8, turn), 4);
  EXPECT_EQ(depth({Schedule::halving_doubling}, Collective::all_reduce, 7, turn), 4);
  EXPECT_EQ(depth({Schedule::hierarchical, TreeShape::chain, 4}, Collective::all_reduce, 8, turn), 5);
  EXPECT_EQ(depth({Schedule::hierarchical, TreeShape::chain, 2, true}, Collective::all_reduce, 8, turn), 4);
  EXPECT_EQ(depth({Schedule::hierarchical, TreeShape::chain, 1, true}, Collective::all_reduce, 8, turn), 2);
}

/// A call of several loops with FIFOs of the minimum less `missing` slots.
ThreadCall shallow_call(const ScheduleShape& shape, Collective collective, int ranks, int slices,
                        CreditReturn credit_return, Protocol protocol, int missing) {
  CollectiveCase c;
  c.shape = shape;
  c.collective = collective;
  c.ranks = ranks;
  c.protocol = protocol;
  c.geometry = {64, 1, slices, 1};
  c.count = 1023;
  ThreadCall call = make_call(c);
  call.credit_return = credit_return;
  call.fifo_depth = min_fifo_depth(call.plan.works[0][0], credit_return) - missing;
  return call;
}

TEST(ThreadCollectiveDepth, TheMinimumIsEnoughForEverySchedule) {
  std::uint64_t i = 0;
  for (const Collective collective : all_collectives) {
    for (const int ranks : {2, 5, 8}) {
      for (const ScheduleShape& shape : shapes_for(collective, ranks)) {
        for (const int slices : {1, 3}) {
          for (const CreditReturn credit_return : both_returns) {
            const ThreadCall call =
                shallow_call(shape, collective, ranks, slices, credit_return, all_protocols[i++ % 3], 0);
            EXPECT_EQ(mismatch(call, run_on_threads(call)), "")
                << describe(shape, collective, ranks) << ", depth " << call.fifo_depth
                << name_of(credit_return);
          }
        }
      }
    }
  }
}

bool locks_up_on_threads(ThreadCall call) {
  call.refuse_shallow = false;
  call.deadline = std::chrono::milliseconds(30);
  return try_threads(call).first_error != nullptr;
}

TEST(ThreadCollectiveDepth, OneSlotLessThanTheMinimumLocksUpAndIsRefused) {
  std::uint64_t i = 0;
  for (const Collective collective :
       {Collective::all_reduce, Collective::reduce_scatter, Collective::all_gather}) {
    for (const int ranks : {2, 4, 6}) {
      for (const ScheduleShape& shape : shapes_for(collective, ranks)) {
        const CreditReturn credit_return = both_returns[i % 2];
        const ThreadCall call =
            shallow_call(shape, collective, ranks, 3, credit_return, all_protocols[i++ % 3], 1);
        if (call.fifo_depth == 0) continue;  // the minimum is one slot
        EXPECT_THROW(run_on_threads(call), Error);
        EXPECT_TRUE(locks_up_on_threads(call))
            << describe(shape, collective, ranks) << ", depth " << call.fifo_depth << name_of(credit_return);
      }
    }
  }
}

}  // namespace
}  // namespace lanecast::support
