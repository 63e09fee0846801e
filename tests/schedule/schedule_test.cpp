// What every schedule promises, seen without threads or real data.
#include "model/schedule/schedule.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <map>
#include <tuple>
#include <vector>

#include "tests/schedule/symbolic_schedule.hpp"
#include "tests/support/connections.hpp"

namespace lanecast::support {
namespace {

constexpr std::array all_collectives = {Collective::all_reduce, Collective::reduce_scatter,
                                        Collective::all_gather, Collective::broadcast, Collective::reduce};
constexpr int max_ranks = 33;

/// Calls `test(shape, ranks)` for every shape of 2 to max_ranks ranks.
template <class Test>
void for_each_shape(Collective collective, Test test) {
  for (int ranks = 2; ranks <= max_ranks; ++ranks) {
    for (const ScheduleShape& shape : shapes_for(collective, ranks)) test(shape, ranks);
  }
}

/// Rings and stars work from every root, the other trees from position 0.
int roots_of(const ScheduleShape& shape, int ranks) {
  return shape.schedule == Schedule::ring || shape.tree == TreeShape::star ? ranks : 1;
}

TEST(Schedule, AllReduceGivesEveryRankEveryPartReducedAndFinishedExactlyOnce) {
  for_each_shape(Collective::all_reduce, [](const ScheduleShape& shape, int ranks) {
    SymbolicSchedule schedule(channel_of(shape, Collective::all_reduce, ranks));
    ASSERT_EQ(schedule.run(), "") << describe(shape, Collective::all_reduce, ranks);
    for (int position = 0; position < ranks; ++position) {
      for (int part = 0; part < schedule.parts(); ++part) {
        ASSERT_EQ(schedule.output(position, part), everyones_once(ranks, 1))
            << describe(shape, Collective::all_reduce, ranks) << ", " << position << " has part " << part;
      }
    }
  });
}

TEST(Schedule, ReduceScatterLeavesEachRankOnlyItsOwnBlockReducedAndFinishedOnce) {
  for_each_shape(Collective::reduce_scatter, [](const ScheduleShape& shape, int ranks) {
    SymbolicSchedule schedule(channel_of(shape, Collective::reduce_scatter, ranks));
    ASSERT_EQ(schedule.run(), "") << describe(shape, Collective::reduce_scatter, ranks);
    for (int position = 0; position < ranks; ++position) {
      for (int block = 0; block < ranks; ++block) {
        const auto want = block == position ? std::optional(everyones_once(ranks, 1)) : std::nullopt;
        ASSERT_EQ(schedule.output(position, block), want);
        ASSERT_EQ(schedule.writes(position, block), block == position ? 1 : 0);
      }
    }
  });
}

TEST(Schedule, AllGatherWritesTheBlockOfEachPositionOnceAndInPlaceNotTheOwnOne) {
  for (const bool in_place : {false, true}) {
    for_each_shape(Collective::all_gather, [in_place](const ScheduleShape& shape, int ranks) {
      SymbolicSchedule schedule(channel_of(shape, Collective::all_gather, ranks, 0, in_place));
      ASSERT_EQ(schedule.run(), "") << describe(shape, Collective::all_gather, ranks);
      for (int position = 0; position < ranks; ++position) {
        for (int block = 0; block < ranks; ++block) {
          const bool written = !in_place || block != position;
          ASSERT_EQ(schedule.writes(position, block), written ? 1 : 0);
          ASSERT_EQ(schedule.output(position, block),
                    written ? std::optional(only_of(block, ranks)) : std::nullopt);
        }
      }
    });
  }
}

TEST(Schedule, BroadcastWritesTheRootsDataOnceAtEveryRankAndInPlaceNotAtTheRoot) {
  for (const bool in_place : {false, true}) {
    for_each_shape(Collective::broadcast, [in_place](const ScheduleShape& shape, int ranks) {
      for (int root = 0; root < roots_of(shape, ranks); ++root) {
        SymbolicSchedule schedule(channel_of(shape, Collective::broadcast, ranks, root, in_place));
        ASSERT_EQ(schedule.run(), "") << describe(shape, Collective::broadcast, ranks);
        for (int position = 0; position < ranks; ++position) {
          const bool written = !in_place || position != root;
          ASSERT_EQ(schedule.writes(position, 0), written ? 1 : 0);
          ASSERT_EQ(schedule.output(position, 0),
                    written ? std::optional(only_of(root, ranks)) : std::nullopt);
        }
      }
    });
  }
}

TEST(Schedule, ReduceEndsAtTheRootAndWritesNowhereElse) {
  for_each_shape(Collective::reduce, [](const ScheduleShape& shape, int ranks) {
    for (int root = 0; root < roots_of(shape, ranks); ++root) {
      SymbolicSchedule schedule(channel_of(shape, Collective::reduce, ranks, root));
      ASSERT_EQ(schedule.run(), "") << describe(shape, Collective::reduce, ranks);
      for (int position = 0; position < ranks; ++position) {
        ASSERT_EQ(schedule.writes(position, 0), position == root ? 1 : 0);
      }
      ASSERT_EQ(schedule.output(root, 0), everyones_once(ranks, 1));
    }
  });
}

/// How often an all-reduce writes a part of the output of the rank at `position`.
int expected_writes(const ScheduleShape& shape, int position, int part, int parts, int ranks) {
  if (shape.schedule == Schedule::halving_doubling) {
    if (position >= parts) return 1;                   // beyond the core: the result only
    const int own = position + parts < ranks ? 1 : 0;  // with the partner's from beyond the core
    const int log_core = std::bit_width(static_cast<unsigned>(parts)) - 1;
    const int halvings = log_core - std::bit_width(static_cast<unsigned>(part ^ position));
    return own + halvings + (part == position ? 0 : 1);  // kept by so many halvings; gathered if not the own
  }
  if (shape.schedule == Schedule::hierarchical && shape.group_ranks > 1) {
    const int parts_per_chunk = parts / shape.group_ranks;
    const bool of_own_chunk = part / parts_per_chunk == position % shape.group_ranks;
    return of_own_chunk && ranks > shape.group_ranks ? 2 : 1;  // after the reduction within, and between
  }
  return 1;
}

TEST(Schedule, AllReduceWritesEachPartAsOftenAsItIsReducedOnTheWayAndOnceMoreWhereItIsGathered) {
  for_each_shape(Collective::all_reduce, [](const ScheduleShape& shape, int ranks) {
    SymbolicSchedule schedule(channel_of(shape, Collective::all_reduce, ranks));
    ASSERT_EQ(schedule.run(), "");
    for (int position = 0; position < ranks; ++position) {
      for (int part = 0; part < schedule.parts(); ++part) {
        ASSERT_EQ(schedule.writes(position, part),
                  expected_writes(shape, position, part, schedule.parts(), ranks))
            << describe(shape, Collective::all_reduce, ranks) << ", " << position << ", part " << part;
      }
    }
  });
}

std::vector<int> positions(const Peers& peers) {
  std::vector<int> all;
  for (int i = 0; i < peers.count; ++i) all.push_back(peers.at(i));
  return all;
}

TEST(Schedule, TurnsOfAKindHaveTheSamePeersAndDoTheSame) {
  for (const Collective collective : all_collectives) {
    for_each_shape(collective, [collective](const ScheduleShape& shape, int ranks) {
      for (const ChannelWork& work : channel_of(shape, collective, ranks)) {
        std::map<int, std::tuple<std::vector<int>, std::vector<int>, TurnAction, Own, bool, bool>> kinds;
        for (int step = 0; step < step_count(work); ++step) {
          const Turn turn = turn_of(work, step);
          ASSERT_GE(turn.kind, 0);
          ASSERT_LT(turn.kind, kind_count(work));
          const std::tuple does(positions(turn.from), positions(turn.to), action_of(turn), turn.own,
                                turn.keeps, turn.finishes);
          ASSERT_EQ(kinds.try_emplace(turn.kind, does).first->second, does)
              << describe(shape, collective, ranks) << ", step " << step;
        }
      }
    });
  }
}

TEST(Schedule, NobodyIsItsOwnPeerOrTwiceAPeerOfOneTurn) {
  for (const Collective collective : all_collectives) {
    for_each_shape(collective, [collective](const ScheduleShape& shape, int ranks) {
      for (const ChannelWork& work : channel_of(shape, collective, ranks)) {
        for (int step = 0; step < step_count(work); ++step) {
          const Turn turn = turn_of(work, step);
          for (const Peers& peers : {turn.from, turn.to}) {
            std::vector<bool> seen(static_cast<std::size_t>(ranks), false);
            seen[static_cast<std::size_t>(work.position)] = true;
            for (const int peer : positions(peers)) {
              ASSERT_TRUE(peer >= 0 && peer < ranks) << describe(shape, collective, ranks);
              ASSERT_FALSE(seen[static_cast<std::size_t>(peer)]) << describe(shape, collective, ranks);
              seen[static_cast<std::size_t>(peer)] = true;
            }
          }
          ASSERT_GT(turn.from.count + turn.to.count, 0) << "a turn that does nothing for anyone";
        }
      }
    });
  }
}

TEST(Schedule, EveryConnectionHasOneSendingAndOneReceivingStrandThatAgreeAboutTheTurns) {
  for (const Collective collective : all_collectives) {
    for_each_shape(collective, [collective](const ScheduleShape& shape, int ranks) {
      ASSERT_EQ(fault_of(connections_of(channel_of(shape, collective, ranks))), "")
          << describe(shape, collective, ranks);
    });
  }
}

TEST(Schedule, OnlyATreesAllReduceHasTwoStrandsAndNotAtItsRoot) {
  for (const Collective collective : all_collectives) {
    for_each_shape(collective, [collective](const ScheduleShape& shape, int ranks) {
      for (const ChannelWork& work : channel_of(shape, collective, ranks)) {
        const bool both_ways = shape.schedule == Schedule::tree && collective == Collective::all_reduce;
        EXPECT_EQ(strand_count(work), both_ways && work.tree.up >= 0 ? 2 : 1);
      }
    });
  }
}

TEST(Peers, AllOthersBeginWithTheNextPositionAndEndWithThePreviousOne) {
  EXPECT_EQ(positions(all_others(2, 5)), (std::vector<int>{3, 4, 0, 1}));
  EXPECT_EQ(positions(all_others(4, 5)), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(positions(all_others(0, 2)), (std::vector<int>{1}));
  EXPECT_EQ(positions(only(7)), (std::vector<int>{7}));
  EXPECT_TRUE(positions(nobody()).empty());
}

TEST(TurnActions, AreNamedByWhatATurnTakesCombinesGivesAndKeeps) {
  const auto action = [](int from, Own own, int to, bool keeps) {
    Turn turn;
    turn.from.count = from;
    turn.to.count = to;
    turn.own = own;
    turn.keeps = keeps;
    return action_of(turn);
  };
  EXPECT_EQ(action(0, Own::input, 3, false), TurnAction::send);
  EXPECT_EQ(action(0, Own::output, 1, false), TurnAction::send);
  EXPECT_EQ(action(0, Own::input, 1, true), TurnAction::keep_send);
  EXPECT_EQ(action(2, Own::input, 1, false), TurnAction::reduce_send);
  EXPECT_EQ(action(2, Own::output, 2, true), TurnAction::reduce_keep_send);
  EXPECT_EQ(action(7, Own::input, 0, true), TurnAction::reduce_keep);
  EXPECT_EQ(action(1, Own::nothing, 2, true), TurnAction::copy_send);
  EXPECT_EQ(action(1, Own::nothing, 0, true), TurnAction::copy);
}

/// Notes its calls, and leaves out the loops and steps that it is told to.
struct CountingPrimitives {
  std::vector<Slice> slices;
  std::uint64_t jump_loops_to = 0;  // 0: run all
  std::uint64_t jump_steps_to = 0;

  void run(const Turn&, const Slice& slice) { slices.push_back(slice); }
  std::uint64_t next_loop(std::uint64_t loop, std::uint64_t) const {
    return loop == 1 && jump_loops_to > 0 ? jump_loops_to : loop;
  }
  std::uint64_t next_step(std::uint64_t, std::uint64_t step, std::uint64_t) const {
    return step == 1 && jump_steps_to > 0 ? jump_steps_to : step;
  }
};
static_assert(SchedulePrimitives<CountingPrimitives>);

ChannelWork ring_work(Collective collective, int ranks, std::uint64_t count, std::uint64_t chunk_count,
                      int slices) {
  ChannelWork work;
  work.collective = collective;
  work.ranks = ranks;
  work.count = count;
  work.chunk_count = chunk_count;
  work.slices_per_chunk = slices;
  return work;
}

TEST(RunSchedule, TakesEveryTurnOfEverySliceEvenWhenItIsEmpty) {
  CountingPrimitives primitives;
  // 2 loops of 4 x 8 elements, then 1 element for a third: its other chunks and slices are empty.
  run_schedule(primitives, ring_work(Collective::all_reduce, 4, 65, 8, 2));
  EXPECT_EQ(primitives.slices.size(), 3U * 7U * 2U);
  std::uint64_t last_loop = 0;
  for (const Slice& slice : primitives.slices) last_loop += slice.loop == 2 ? slice.count : 0;
  EXPECT_EQ(last_loop, 1U);  // chunk 0 has the element, and passes position 0 once
}

TEST(RunSchedule, TakesLoopsTimesStepsTimesSlicesTurnsInEverySchedule) {
  for (const Collective collective : all_collectives) {
    for_each_shape(collective, [collective](const ScheduleShape& shape, int ranks) {
      for (ChannelWork work : channel_of(shape, collective, ranks)) {
        work.slices_per_chunk = 3;
        work.count = 1000;
        CountingPrimitives primitives;
        run_schedule(primitives, work);
        ASSERT_EQ(primitives.slices.size(),
                  loop_count(work) * static_cast<std::size_t>(step_count(work)) * 3);
      }
    });
  }
}

TEST(RunSchedule, DoesNothingForAnEmptyShare) {
  for (const Collective collective : all_collectives) {
    for (const ScheduleShape& shape : shapes_for(collective, 4)) {
      for (ChannelWork work : channel_of(shape, collective, 4)) {
        work.count = 0;
        CountingPrimitives primitives;
        run_schedule(primitives, work);
        EXPECT_TRUE(primitives.slices.empty()) << describe(shape, collective, 4);
      }
    }
  }
}

TEST(RunSchedule, GoesOnWithTheLoopAndTheStepThatTheExecutorAsksFor) {
  CountingPrimitives primitives;
  primitives.jump_loops_to = 9;
  primitives.jump_steps_to = 5;
  run_schedule(primitives, ring_work(Collective::all_reduce, 4, 10 * 32, 8, 1));
  ASSERT_EQ(primitives.slices.size(), 2U * 3U);  // loops 0 and 9, steps 0, 5 and 6
  EXPECT_EQ(primitives.slices[2].step, 6);
  EXPECT_EQ(primitives.slices[3].loop, 9U);
  EXPECT_EQ(primitives.slices[4].step, 5);
}

}  // namespace
}  // namespace lanecast::support
