#pragma once
#include <concepts>
#include <cstdint>

#include "model/schedule/direct.hpp"
#include "model/schedule/geometry.hpp"
#include "model/schedule/halving_doubling.hpp"
#include "model/schedule/hierarchical.hpp"
#include "model/schedule/ring.hpp"
#include "model/schedule/tree.hpp"
#include "model/units.hpp"

namespace lanecast {

/// What an executor offers. `run` handles one slice of a turn and may block on the peers it takes from (data)
/// and on those it gives to (credit). An empty slice (count 0) still takes its turn: credit and, where the
/// flag is apart from the data (Simple), flag.
///
/// `next_loop` and `next_step` let an executor skip turns that repeat (the simulator folds; others return
/// what they were given): they get the index that would run now, and return the one to go on with, at most
/// `end`.
template <class P>
concept SchedulePrimitives = requires(P p, const Turn& turn, const Slice& slice, std::uint64_t index) {
  p.run(turn, slice);
  { p.next_loop(index, index) } -> std::convertible_to<std::uint64_t>;
  { p.next_step(index, index, index) } -> std::convertible_to<std::uint64_t>;
};

/// Concurrent halves of a channel's work on a rank: two where data go up and down a tree at the same time.
/// Every strand runs `run_schedule` with its own number in `ChannelWork::strand`; between strands of a rank
/// there is no order.
LANECAST_HD constexpr int strand_count(const ChannelWork& work) {
  return work.schedule == Schedule::tree ? tree_strand_count(work) : 1;
}

/// Turns that a strand takes in one loop.
LANECAST_HD constexpr int step_count(const ChannelWork& work) {
  switch (work.schedule) {
    case Schedule::ring:
      return ring_step_count(work.collective, work.ranks);
    case Schedule::tree:
      return 1;
    case Schedule::one_shot:
    case Schedule::two_shot:
      return direct_step_count(work);
    case Schedule::halving_doubling:
      return halving_doubling_step_count(work);
    case Schedule::hierarchical:
      return hierarchical_step_count(work);
  }
  return 0;
}

/// Kinds of turn that a strand may take: see `Turn::kind`.
LANECAST_HD constexpr int kind_count(const ChannelWork& work) {
  switch (work.schedule) {
    case Schedule::ring:
      return ring_kinds;
    case Schedule::tree:
      return tree_kinds;
    case Schedule::one_shot:
    case Schedule::two_shot:
    case Schedule::halving_doubling:
      return step_count(work);  // each turn of a loop is a kind of its own
    case Schedule::hierarchical:
      return hierarchical_kinds;
  }
  return 0;
}

/// What a strand does at turn `step` of every loop (0 <= step < step_count).
LANECAST_HD constexpr Turn turn_of(const ChannelWork& work, int step) {
  switch (work.schedule) {
    case Schedule::ring:
      return ring_turn(work, step);
    case Schedule::tree:
      return tree_turn(work);
    case Schedule::one_shot:
    case Schedule::two_shot:
      return direct_turn(work, step);
    case Schedule::halving_doubling:
      return halving_doubling_turn(work, step);
    case Schedule::hierarchical:
      return hierarchical_turn(work, step);
  }
  return {};
}

/// Calls `visit(work, turn)` for each turn of one loop of every strand, with the strand's own work.
template <class Visit>
constexpr void for_each_turn(ChannelWork work, Visit visit) {
  const int strands = strand_count(work);
  for (work.strand = 0; work.strand < strands; ++work.strand) {
    const int steps = step_count(work);
    for (int step = 0; step < steps; ++step)
      visit(static_cast<const ChannelWork&>(work), turn_of(work, step));
  }
}

/// Everything that one strand of one channel of one rank does for a call, whatever the algorithm.
///
/// Loops cover the channel's share; each loop is step_count turns; each turn is one region in
/// slices_per_chunk slices. The executor blocks inside `run`; nothing else synchronises.
/// LANECAST_DEV, not LANECAST_HD: nvcc rejects a host+device template that calls device-only members.
template <SchedulePrimitives P>
LANECAST_DEV constexpr void run_schedule(P& p, const ChannelWork& work) {
  const std::uint64_t loops = loop_count(work);
  const auto steps = static_cast<std::uint64_t>(step_count(work));
  for (std::uint64_t loop = p.next_loop(0, loops); loop < loops; loop = p.next_loop(loop + 1, loops)) {
    const std::uint64_t part = part_count_of(work, loop);
    for (std::uint64_t s = p.next_step(loop, 0, steps); s < steps; s = p.next_step(loop, s + 1, steps)) {
      const Turn turn = turn_of(work, static_cast<int>(s));
      const Chunk chunk = chunk_of(work, loop, part, turn.part, turn.parts);
      for (int i = 0; i < work.slices_per_chunk; ++i) {
        p.run(turn, slice_of(work, chunk, loop, static_cast<int>(s), i));
      }
    }
  }
}

}  // namespace lanecast
