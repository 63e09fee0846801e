#include "sim/schedule_simulation.hpp"

#include <algorithm>
#include <simgrid/s4u.hpp>
#include <string>

#include "model/error.hpp"
#include "model/predict/ring_symmetry.hpp"
#include "model/predict/schedule_traffic.hpp"
#include "sim/actor_primitives.hpp"
#include "sim/platform.hpp"

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

void set_up_folding(SimulationState& state, bool exact) {
  const auto& work = state.plan.resolved.work;
  const int ranks = work.front().front().ranks;
  const int steps = fewest_steps(work.front());
  std::uint64_t fewest = loop_count(work.front().front());
  for (const auto& channel : work) fewest = std::min(fewest, loop_count(channel.front()));
  state.fold_loops = !exact && fewest >= kFewestLoops;
  const bool even = std::all_of(work.begin(), work.end(), [&](const auto& channel) {
    const ChannelWork& w = channel.front();
    return w.count % (static_cast<std::uint64_t>(w.ranks) * w.grain_count) == 0;
  });
  const bool ring = work.front().front().schedule == Schedule::ring;
  state.fold_steps = !exact && !state.fold_loops && ring && ranks >= kManyRanks && even &&
                     work.front().front().collective == Collective::all_reduce;
  const bool coupled = state.platform.shared();
  for (std::size_t c = 0; c < work.size(); ++c) {
    const std::size_t group = coupled ? 0 : c;
    if (group == state.groups.size()) state.groups.emplace_back();
    const std::uint64_t loops = loop_count(work[c].front());
    state.folder_of.push_back(group);
    state.place_in_group.push_back(static_cast<int>(state.groups[group].size()));
    state.groups[group].push_back({actor_count(work[c]), loops > kLoopTail ? loops - kLoopTail : 0});
  }
  if (!state.fold_loops) return;
  for (const auto& channels : state.groups) {
    const bool many = static_cast<std::size_t>(channels.front().actors) * channels.size() > kManyActors;
    // a one-shot's two turns a loop let channels drift so slowly that a long beat closes too loosely (0.5 %)
    const bool short_beats = many || work.front().front().schedule == Schedule::one_shot;
    state.loop_folders.push_back(std::make_unique<Folder>(channels, loop_window(ranks, steps),
                                                          short_beats ? kShortLoopBeat : kLongestLoopBeat));
  }
}

void start_actors(SimulationState& state, const std::vector<ChannelWork>& strands) {
  state.fifos.resize(state.plan.resolved.work.size());
  int actor = 0;
  for (std::size_t i = 0; i < strands.size(); ++i) {
    const ChannelWork& work = strands[i];
    actor = i > 0 && strands[i - 1].channel == work.channel ? actor + 1 : 0;
    const std::string name = std::to_string(work.channel) + "." + std::to_string(work.position) + "." +
                             std::to_string(work.strand);
    simgrid::s4u::Mailbox* mailbox = state.platform.eager_mailbox(name);
    simgrid::s4u::Actor::create(name, state.platform.sink(), [&state, &work, actor, mailbox] {
      ActorPrimitives primitives(state, work, actor, mailbox);
      run_schedule(primitives, work);
      primitives.finish();
    });
  }
}

/// The work of every strand, channel by channel.
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

/// Simulates the plan as it stands.
ScheduleSimulation simulate_positions(const SchedulePlan& plan, const ScheduleSimulationOptions& options) {
  ScheduleSimulation result;
  result.wire_bytes.assign(plan.network.resources.size(), 0.0);
  Platform platform(plan.network, demand(plan));
  SimulationState state(plan, platform);
  state.on_issue = options.on_issue;
  state.wire_bytes = result.wire_bytes;
  set_up_folding(state, options.exact);
  const std::vector<ChannelWork> strands = all_strands(plan);
  start_actors(state, strands);
  platform.run();
  result.time = Seconds(state.end);
  result.folded = state.folded;
  result.foldable = state.fold_loops || state.fold_steps;
  result.transfers = state.transfers;
  result.wire_bytes = state.wire_bytes;
  return result;
}

}  // namespace

ScheduleSimulation simulate_schedule(const SchedulePlan& plan, const ScheduleSimulationOptions& options) {
  if (plan.resolved.work.empty()) {
    ScheduleSimulation nothing;
    nothing.wire_bytes.assign(plan.network.resources.size(), 0.0);
    return nothing;
  }
  if (options.exact) return simulate_positions(plan, options);
  const std::optional<SchedulePlan> reduced = reduce_by_rotation(plan, rotation_period(plan));
  if (!reduced) return simulate_positions(plan, options);
  ScheduleSimulation result = simulate_positions(*reduced, options);
  result.folded = true;
  result.wire_bytes = resource_wire_bytes(plan);  // the reduced resources stand for others
  return result;
}

}  // namespace lanecast
