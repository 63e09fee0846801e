// What a ring promises, seen without threads or data.
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <vector>

#include "model/schedule/ring.hpp"

namespace lanecast {
namespace {

/// How often each rank's own data is contained in a value; index is the ring position of the contributor.
using Contributions = std::vector<int>;

struct Parcel {
  int chunk = 0;
  Contributions value;
};

/// Runs one loop of a ring symbolically: queues without limit in place of FIFOs, contributions in place of
/// data.
class SymbolicRing {
 public:
  SymbolicRing(Collective collective, int ranks, int root, bool in_place)
      : collective_(collective),
        ranks_(ranks),
        root_(root),
        in_place_(in_place),
        queues_(index(ranks)),
        kept_(index(ranks)),
        next_step_(index(ranks), 0),
        sends_(index(ranks), 0),
        receives_(index(ranks), 0) {}

  void run() {
    bool moved = true;
    while (moved) {
      moved = false;
      for (int position = 0; position < ranks_; ++position) {
        while (take_turn(position)) moved = true;
      }
    }
    for (int position = 0; position < ranks_; ++position) {
      EXPECT_EQ(next_step_[index(position)], ring_step_count(collective_, ranks_)) << "stuck at " << position;
      EXPECT_TRUE(queues_[index(position)].empty()) << "left over before " << position;
    }
  }

  /// Chunk -> what the rank at `position` wrote to its output.
  const std::map<int, Contributions>& kept(int position) const { return kept_[index(position)]; }
  int sends_of(int position) const { return sends_[index(position)]; }
  int receives_of(int position) const { return receives_[index(position)]; }

 private:
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }

  bool take_turn(int position) {
    int& step = next_step_[index(position)];
    if (step == ring_step_count(collective_, ranks_)) return false;
    const RingStep turn = ring_step(collective_, position, ranks_, step, root_, in_place_);
    Contributions value(index(ranks_), 0);
    if (receives(turn.action)) {
      std::deque<Parcel>& queue = queues_[index(position)];
      if (queue.empty()) return false;
      EXPECT_EQ(queue.front().chunk, turn.chunk) << "position " << position << ", step " << step;
      value = queue.front().value;
      queue.pop_front();
      ++receives_[index(position)];
    }
    const bool copies = turn.action == RingAction::copy || turn.action == RingAction::copy_send;
    if (!copies) ++value[index(position)];
    if (turn.action != RingAction::send && turn.action != RingAction::reduce_send) {
      EXPECT_FALSE(kept_[index(position)].contains(turn.chunk)) << "written twice";
      kept_[index(position)][turn.chunk] = value;
    }
    if (sends(turn.action)) {
      queues_[index((position + 1) % ranks_)].push_back({turn.chunk, value});
      ++sends_[index(position)];
    }
    ++step;
    return true;
  }

  Collective collective_;
  int ranks_;
  int root_;
  bool in_place_;
  std::vector<std::deque<Parcel>> queues_;  // [position of the receiver]
  std::vector<std::map<int, Contributions>> kept_;
  std::vector<int> next_step_;
  std::vector<int> sends_;
  std::vector<int> receives_;
};

SymbolicRing ran(Collective collective, int ranks, int root = 0, bool in_place = false) {
  SymbolicRing ring(collective, ranks, root, in_place);
  ring.run();
  return ring;
}

Contributions everyone_once(int ranks) { return Contributions(static_cast<std::size_t>(ranks), 1); }

Contributions only(int position, int ranks) {
  Contributions value(static_cast<std::size_t>(ranks), 0);
  value[static_cast<std::size_t>(position)] = 1;
  return value;
}

constexpr int max_ranks = 16;

TEST(RingSchedule, AllReduceGivesEveryRankEveryChunkReducedExactlyOnce) {
  for (int ranks = 2; ranks <= max_ranks; ++ranks) {
    const SymbolicRing ring = ran(Collective::all_reduce, ranks);
    for (int position = 0; position < ranks; ++position) {
      ASSERT_EQ(ring.kept(position).size(), static_cast<std::size_t>(ranks));
      for (const auto& [chunk, value] : ring.kept(position)) EXPECT_EQ(value, everyone_once(ranks));
    }
  }
}

TEST(RingSchedule, AllReduceSendsAndReceivesTwiceRanksMinusOneChunksALoop) {
  for (int ranks = 2; ranks <= max_ranks; ++ranks) {
    const SymbolicRing ring = ran(Collective::all_reduce, ranks);
    for (int position = 0; position < ranks; ++position) {
      EXPECT_EQ(ring.sends_of(position), 2 * (ranks - 1));
      EXPECT_EQ(ring.receives_of(position), 2 * (ranks - 1));
    }
  }
}

TEST(RingSchedule, APositionEndsTheReducePhaseWithTheChunkOfItsOwnNumber) {
  for (int ranks = 2; ranks <= max_ranks; ++ranks) {
    for (int position = 0; position < ranks; ++position) {
      const RingStep all_reduce = ring_step(Collective::all_reduce, position, ranks, ranks - 1, 0, false);
      EXPECT_EQ(all_reduce.action, RingAction::reduce_keep_send);
      EXPECT_EQ(all_reduce.chunk, position);
      const RingStep reduce_scatter =
          ring_step(Collective::reduce_scatter, position, ranks, ranks - 1, 0, false);
      EXPECT_EQ(reduce_scatter.action, RingAction::reduce_keep);
      EXPECT_EQ(reduce_scatter.chunk, position);
    }
  }
}

TEST(RingSchedule, AllReduceOfFourRanksRunsTheFivePhasesOfNccl) {
  // facts.md A1 with ringIx = 1, n = 4: send 1 + 3; reduce and send 1 + 2, 1 + 1; keep 1; copy and send 1 +
  // 3, 1 + 2; copy 1 + 1, all modulo 4.
  const std::vector<int> chunks = {0, 3, 2, 1, 0, 3, 2};
  const std::vector<RingAction> actions = {
      RingAction::send,      RingAction::reduce_send, RingAction::reduce_send, RingAction::reduce_keep_send,
      RingAction::copy_send, RingAction::copy_send,   RingAction::copy};
  ASSERT_EQ(ring_step_count(Collective::all_reduce, 4), 7);
  for (int step = 0; step < 7; ++step) {
    const RingStep turn = ring_step(Collective::all_reduce, 1, 4, step, 0, false);
    EXPECT_EQ(turn.chunk, chunks[static_cast<std::size_t>(step)]) << step;
    EXPECT_EQ(turn.action, actions[static_cast<std::size_t>(step)]) << step;
  }
}

TEST(RingSchedule, ReduceScatterLeavesEachRankOnlyItsOwnChunkReducedOnce) {
  for (int ranks = 2; ranks <= max_ranks; ++ranks) {
    const SymbolicRing ring = ran(Collective::reduce_scatter, ranks);
    for (int position = 0; position < ranks; ++position) {
      const std::map<int, Contributions> want = {{position, everyone_once(ranks)}};
      EXPECT_EQ(ring.kept(position), want);
      EXPECT_EQ(ring.sends_of(position), ranks - 1);
    }
  }
}

TEST(RingSchedule, AllGatherBringsTheChunkOfEachPositionToEveryRank) {
  for (int ranks = 2; ranks <= max_ranks; ++ranks) {
    const SymbolicRing ring = ran(Collective::all_gather, ranks);
    for (int position = 0; position < ranks; ++position) {
      ASSERT_EQ(ring.kept(position).size(), static_cast<std::size_t>(ranks));
      for (const auto& [chunk, value] : ring.kept(position)) EXPECT_EQ(value, only(chunk, ranks));
      EXPECT_EQ(ring.sends_of(position), ranks - 1);
    }
  }
}

TEST(RingSchedule, AllGatherInPlaceDoesNotWriteTheOwnChunk) {
  for (int ranks = 2; ranks <= max_ranks; ++ranks) {
    const SymbolicRing ring = ran(Collective::all_gather, ranks, 0, true);
    for (int position = 0; position < ranks; ++position) {
      EXPECT_EQ(ring.kept(position).size(), static_cast<std::size_t>(ranks - 1));
      EXPECT_FALSE(ring.kept(position).contains(position));
    }
  }
}

TEST(RingSchedule, BroadcastBringsTheRootsDataToEveryRankFromEveryRoot) {
  for (int ranks = 2; ranks <= max_ranks; ++ranks) {
    for (int root = 0; root < ranks; ++root) {
      const SymbolicRing ring = ran(Collective::broadcast, ranks, root);
      for (int position = 0; position < ranks; ++position) {
        const std::map<int, Contributions> want = {{0, only(root, ranks)}};
        EXPECT_EQ(ring.kept(position), want);
        EXPECT_EQ(ring.sends_of(position), (position + 1) % ranks == root ? 0 : 1);
      }
    }
  }
}

TEST(RingSchedule, BroadcastInPlaceDoesNotWriteAtTheRoot) {
  const SymbolicRing ring = ran(Collective::broadcast, 5, 3, true);
  EXPECT_TRUE(ring.kept(3).empty());
  EXPECT_EQ(ring.kept(2).size(), 1U);
}

TEST(RingSchedule, ReduceEndsAtTheRootAndWritesNowhereElse) {
  for (int ranks = 2; ranks <= max_ranks; ++ranks) {
    for (int root = 0; root < ranks; ++root) {
      const SymbolicRing ring = ran(Collective::reduce, ranks, root);
      for (int position = 0; position < ranks; ++position) {
        if (position == root) {
          const std::map<int, Contributions> want = {{0, everyone_once(ranks)}};
          EXPECT_EQ(ring.kept(position), want);
        } else {
          EXPECT_TRUE(ring.kept(position).empty());
        }
        EXPECT_EQ(ring.sends_of(position), position == root ? 0 : 1);
      }
    }
  }
}

/// Counts its calls, and leaves out the loops and steps that it is told to.
struct CountingPrimitives {
  std::vector<Slice> slices;
  std::uint64_t jump_loops_to = 0;  // 0: run all
  std::uint64_t jump_steps_to = 0;

  void send(const Slice& slice) { slices.push_back(slice); }
  void keep_send(const Slice& slice) { slices.push_back(slice); }
  void reduce_send(const Slice& slice) { slices.push_back(slice); }
  void reduce_keep_send(const Slice& slice) { slices.push_back(slice); }
  void reduce_keep(const Slice& slice) { slices.push_back(slice); }
  void copy_send(const Slice& slice) { slices.push_back(slice); }
  void copy(const Slice& slice) { slices.push_back(slice); }
  std::uint64_t next_loop(std::uint64_t loop, std::uint64_t) const {
    return loop == 1 && jump_loops_to > 0 ? jump_loops_to : loop;
  }
  std::uint64_t next_step(std::uint64_t, std::uint64_t step, std::uint64_t) const {
    return step == 1 && jump_steps_to > 0 ? jump_steps_to : step;
  }
};
static_assert(RingPrimitives<CountingPrimitives>);

RingWork work_of(Collective collective, int ranks, std::uint64_t count, std::uint64_t chunk_count,
                 int slices) {
  RingWork work;
  work.collective = collective;
  work.ranks = ranks;
  work.count = count;
  work.chunk_count = chunk_count;
  work.slices_per_chunk = slices;
  return work;
}

TEST(RunRing, TakesEveryTurnOfEverySliceEvenWhenItIsEmpty) {
  CountingPrimitives primitives;
  // 2 loops of 4 x 8 elements, then 1 element for a third: its other chunks and slices are empty.
  run_ring(primitives, work_of(Collective::all_reduce, 4, 65, 8, 2));
  EXPECT_EQ(primitives.slices.size(), 3U * 7U * 2U);
  std::uint64_t last_loop = 0;
  for (const Slice& slice : primitives.slices) last_loop += slice.loop == 2 ? slice.count : 0;
  EXPECT_EQ(last_loop,
            1U);  // the one element is in chunk 0, and the chunk of its own number passes a position once
}

TEST(RunRing, DoesNothingForAnEmptyShare) {
  for (const Collective collective : {Collective::all_reduce, Collective::reduce_scatter,
                                      Collective::all_gather, Collective::broadcast, Collective::reduce}) {
    CountingPrimitives primitives;
    run_ring(primitives, work_of(collective, 4, 0, 8, 1));
    EXPECT_TRUE(primitives.slices.empty());
  }
}

TEST(RunRing, GoesOnWithTheLoopAndTheStepThatTheExecutorAsksFor) {
  CountingPrimitives primitives;
  primitives.jump_loops_to = 9;
  primitives.jump_steps_to = 5;
  run_ring(primitives, work_of(Collective::all_reduce, 4, 10 * 32, 8, 1));
  ASSERT_EQ(primitives.slices.size(), 2U * 3U);  // loops 0 and 9, steps 0, 5 and 6
  EXPECT_EQ(primitives.slices[2].step, 6);
  EXPECT_EQ(primitives.slices[3].loop, 9U);
  EXPECT_EQ(primitives.slices[4].step, 5);
}

}  // namespace
}  // namespace lanecast
