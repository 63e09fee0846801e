#include "sim/loop_folding.hpp"

#include <algorithm>
#include <limits>
#include <map>

namespace lanecast {
namespace {

constexpr std::uint64_t kFewestLoops = 8;  // below, there is nothing to gain
constexpr int kManyRanks = 64;             // from here, steps are folded where loops are few
constexpr std::size_t kManyActors =
    2048;  // from here only short beats are looked for, to save memory and time
constexpr int kShortLoopBeat = 4;
constexpr int kLongestLoopBeat = 128;
constexpr std::uint64_t kLoopTail = 2;  // loops simulated at the end: one full, and the last and shorter one

/// Turns over which a beat must repeat: longer than a wave takes twice around the ring. Ranks that run ahead
/// into their FIFOs meanwhile show a period of their own, however deep the FIFOs are.
int loop_window(int ranks, int steps) { return std::max(5, (4 * ranks + steps - 1) / steps); }

int actor_count(const std::vector<ChannelWork>& works) {
  int actors = 0;
  for (const ChannelWork& work : works) actors += strand_count(work);
  return actors;
}

/// Turns that the strand with the fewest takes in a loop.
int fewest_steps(const std::vector<ChannelWork>& works) {
  int fewest = step_count(works.front());
  for (const ChannelWork& work : works) fewest = std::min(fewest, step_count(work));
  return fewest;
}

/// Fewest slices that a strand gives to one peer in a loop.
std::uint64_t fewest_slices(const ChannelWork& work) {
  std::map<int, std::uint64_t> slices;  // by position
  for (int step = 0; step < step_count(work); ++step) {
    const Turn turn = turn_of(work, step);
    for (int k = 0; k < turn.to.count; ++k)
      slices[turn.to.at(k)] += static_cast<std::uint64_t>(work.slices_per_chunk);
  }
  std::uint64_t fewest = std::numeric_limits<std::uint64_t>::max();
  for (const auto& [position, count] : slices) fewest = std::min(fewest, count);
  return fewest;
}

/// Loops before all FIFOs have been full once, from when on senders look at credits; 0 where looks cost
/// nothing.
std::uint64_t settling_loops(const SchedulePlan& plan, std::size_t channel) {
  const auto& positions = plan.positions(channel);
  const bool looks = std::any_of(positions.begin(), positions.end(), [](const PositionPlan& position) {
    return std::any_of(position.hops.begin(), position.hops.end(),
                       [](const auto& hop) { return hop.second.look > Seconds(0); });
  });
  if (!looks) return 0;
  std::uint64_t fewest = std::numeric_limits<std::uint64_t>::max();
  for (ChannelWork work : plan.resolved.work[channel]) {
    const int strands = strand_count(work);
    for (work.strand = 0; work.strand < strands; ++work.strand)
      fewest = std::min(fewest, fewest_slices(work));
  }
  return ceil_div(static_cast<std::uint64_t>(plan.fifo_slices), fewest);
}

}  // namespace

LoopFolding fold_loops(const SchedulePlan& plan, bool coupled, bool exact) {
  LoopFolding folding;
  const auto& work = plan.resolved.work;
  std::uint64_t fewest = loop_count(work.front().front());
  for (const auto& channel : work) fewest = std::min(fewest, loop_count(channel.front()));
  for (std::size_t c = 0; c < work.size(); ++c) {
    const std::size_t group = coupled ? 0 : c;
    if (group == folding.groups.size()) folding.groups.emplace_back();
    const std::uint64_t loops = loop_count(work[c].front());
    folding.group_of.push_back(group);
    folding.place_in_group.push_back(static_cast<int>(folding.groups[group].size()));
    folding.groups[group].push_back(
        {actor_count(work[c]), loops > kLoopTail ? loops - kLoopTail : 0, settling_loops(plan, c)});
  }
  if (exact || fewest < kFewestLoops) return folding;
  const int window = loop_window(work.front().front().ranks, fewest_steps(work.front()));
  for (const auto& channels : folding.groups) {
    const bool many = static_cast<std::size_t>(channels.front().actors) * channels.size() > kManyActors;
    // a one-shot's two turns a loop let channels drift so slowly that a long beat closes too loosely (0.5 %)
    const bool short_beats = many || work.front().front().schedule == Schedule::one_shot;
    folding.folders.push_back(
        std::make_unique<Folder>(channels, window, short_beats ? kShortLoopBeat : kLongestLoopBeat));
  }
  return folding;
}

bool folds_steps(const SchedulePlan& plan, const LoopFolding& loops, bool exact) {
  const auto& work = plan.resolved.work;
  const ChannelWork& first = work.front().front();
  const bool even = std::all_of(work.begin(), work.end(), [&](const auto& channel) {
    const ChannelWork& w = channel.front();
    return w.count % (static_cast<std::uint64_t>(w.ranks) * w.grain_count) == 0;
  });
  return !exact && loops.folders.empty() && first.schedule == Schedule::ring && first.ranks >= kManyRanks &&
         even && first.collective == Collective::all_reduce;
}

std::vector<ChannelWork> all_strands(const SchedulePlan& plan) {
  std::vector<ChannelWork> strands;
  for (const auto& channel : plan.resolved.work) {
    for (ChannelWork work : channel) {
      const int count = strand_count(work);
      for (work.strand = 0; work.strand < count; ++work.strand) strands.push_back(work);
    }
  }
  return strands;
}

}  // namespace lanecast
