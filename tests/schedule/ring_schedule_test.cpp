// What is particular to a ring. What it shares with the other schedules: schedule_test.cpp.
#include <gtest/gtest.h>

#include <vector>

#include "model/schedule/schedule.hpp"

namespace lanecast {
namespace {

constexpr int max_ranks = 16;

TEST(RingSchedule, APositionEndsTheReducePhaseWithTheChunkOfItsOwnNumber) {
  for (int ranks = 2; ranks <= max_ranks; ++ranks) {
    for (int position = 0; position < ranks; ++position) {
      const RingStep all_reduce = ring_step(Collective::all_reduce, position, ranks, ranks - 1, 0, false);
      EXPECT_EQ(all_reduce.action, TurnAction::reduce_keep_send);
      EXPECT_EQ(all_reduce.chunk, position);
      const RingStep reduce_scatter =
          ring_step(Collective::reduce_scatter, position, ranks, ranks - 1, 0, false);
      EXPECT_EQ(reduce_scatter.action, TurnAction::reduce_keep);
      EXPECT_EQ(reduce_scatter.chunk, position);
    }
  }
}

TEST(RingSchedule, AllReduceOfFourRanksRunsTheFivePhasesOfNccl) {
  // facts.md A1 with ringIx = 1, n = 4: send 1 + 3; reduce and send 1 + 2, 1 + 1; keep 1; copy and send 1 +
  // 3, 1 + 2; copy 1 + 1, all modulo 4.
  const std::vector<int> chunks = {0, 3, 2, 1, 0, 3, 2};
  const std::vector<TurnAction> actions = {
      TurnAction::send,      TurnAction::reduce_send, TurnAction::reduce_send, TurnAction::reduce_keep_send,
      TurnAction::copy_send, TurnAction::copy_send,   TurnAction::copy};
  ASSERT_EQ(ring_step_count(Collective::all_reduce, 4), 7);
  for (int step = 0; step < 7; ++step) {
    const RingStep turn = ring_step(Collective::all_reduce, 1, 4, step, 0, false);
    EXPECT_EQ(turn.chunk, chunks[static_cast<std::size_t>(step)]) << step;
    EXPECT_EQ(turn.action, actions[static_cast<std::size_t>(step)]) << step;
  }
}

TEST(RingSchedule, ATurnTakesFromThePreviousAndGivesToTheNextPositionAndIsWhatItsActionSays) {
  for (const Collective collective : {Collective::all_reduce, Collective::reduce_scatter,
                                      Collective::all_gather, Collective::broadcast, Collective::reduce}) {
    for (int ranks = 2; ranks <= max_ranks; ++ranks) {
      ChannelWork work;
      work.collective = collective;
      work.ranks = ranks;
      work.root = ranks / 2;
      for (work.position = 0; work.position < ranks; ++work.position) {
        for (int step = 0; step < step_count(work); ++step) {
          const Turn turn = turn_of(work, step);
          const RingStep ring = ring_step(collective, work.position, ranks, step, work.root, false);
          ASSERT_EQ(action_of(turn), ring.action);
          ASSERT_EQ(turn.part, ring.chunk);
          ASSERT_EQ(turn.parts, 1);
          if (turn.from.count > 0) {
            ASSERT_EQ(turn.from.at(0), (work.position + ranks - 1) % ranks);
          }
          if (turn.to.count > 0) {
            ASSERT_EQ(turn.to.at(0), (work.position + 1) % ranks);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace lanecast
