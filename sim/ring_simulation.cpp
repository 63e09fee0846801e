#include "sim/ring_simulation.hpp"

#include <algorithm>
#include <simgrid/s4u.hpp>
#include <string>

#include "model/error.hpp"
#include "model/predict/ring_symmetry.hpp"
#include "model/predict/ring_traffic.hpp"
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

void set_up_folding(RingState& state, bool exact) {
  const auto& work = state.plan.resolved.work;
  const int ranks = work.front().front().ranks;
  const auto positions = static_cast<int>(state.plan.positions().size());
  const int steps = ring_step_count(work.front().front().collective, ranks);
  std::uint64_t fewest = loop_count(work.front().front());
  for (const auto& channel : work) fewest = std::min(fewest, loop_count(channel.front()));
  state.fold_loops = !exact && fewest >= kFewestLoops;
  const bool even = std::all_of(work.begin(), work.end(), [&](const auto& channel) {
    const RingWork& w = channel.front();
    return w.count % (static_cast<std::uint64_t>(w.ranks) * w.grain_count) == 0;
  });
  state.fold_steps = !exact && !state.fold_loops && ranks >= kManyRanks && even &&
                     work.front().front().collective == Collective::all_reduce;
  const bool coupled = state.platform.shared();
  for (std::size_t c = 0; c < work.size(); ++c) {
    const std::size_t group = coupled ? 0 : c;
    if (group == state.groups.size()) state.groups.emplace_back();
    const std::uint64_t loops = loop_count(work[c].front());
    state.folder_of.push_back(group);
    state.place_in_group.push_back(static_cast<int>(state.groups[group].size()));
    state.groups[group].push_back({positions, loops > kLoopTail ? loops - kLoopTail : 0});
  }
  if (!state.fold_loops) return;
  for (const auto& channels : state.groups) {
    const bool many = static_cast<std::size_t>(positions) * channels.size() > kManyActors;
    state.loop_folders.push_back(std::make_unique<Folder>(channels, loop_window(ranks, steps),
                                                          many ? kShortLoopBeat : kLongestLoopBeat));
  }
}

void start_actors(RingState& state) {
  const auto& work = state.plan.resolved.work;
  for (const auto& channel : work) {
    state.fifos.emplace_back();
    for (std::size_t p = 0; p < channel.size(); ++p) state.fifos.back().emplace_back(state.plan.fifo_slices);
  }
  for (const auto& channel : work) {
    for (const RingWork& w : channel) {
      const std::string name = std::to_string(w.channel) + "." + std::to_string(w.position);
      simgrid::s4u::Mailbox* mailbox = state.platform.eager_mailbox(name);
      simgrid::s4u::Actor::create(name, state.platform.sink(), [&state, &w, mailbox] {
        ActorPrimitives primitives(state, w, mailbox);
        run_ring(primitives, w);
        primitives.finish();
      });
    }
  }
}

/// Simulates the plan as it stands.
RingSimulation simulate_positions(const RingPlan& plan, const RingSimulationOptions& options) {
  RingSimulation result;
  result.wire_bytes.assign(plan.network.resources.size(), 0.0);
  Platform platform(plan.network, demand(plan));
  RingState state(plan, platform);
  state.on_issue = options.on_issue;
  state.wire_bytes = result.wire_bytes;
  set_up_folding(state, options.exact);
  start_actors(state);
  platform.run();
  result.time = Seconds(state.end);
  result.folded = state.folded;
  result.foldable = state.fold_loops || state.fold_steps;
  result.transfers = state.transfers;
  result.wire_bytes = state.wire_bytes;
  return result;
}

}  // namespace

RingSimulation simulate_ring(const RingPlan& plan, const RingSimulationOptions& options) {
  if (plan.resolved.work.empty()) {
    RingSimulation nothing;
    nothing.wire_bytes.assign(plan.network.resources.size(), 0.0);
    return nothing;
  }
  if (options.exact) return simulate_positions(plan, options);
  const std::optional<RingPlan> reduced = reduce_by_rotation(plan, rotation_period(plan));
  if (!reduced) return simulate_positions(plan, options);
  RingSimulation result = simulate_positions(*reduced, options);
  result.folded = true;
  result.wire_bytes = resource_wire_bytes(plan);  // the reduced resources stand for others
  return result;
}

}  // namespace lanecast
