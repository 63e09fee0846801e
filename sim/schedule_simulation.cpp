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

void start_actors(SimulationState& state, const std::vector<ChannelWork>& strands) {
  state.asleep.resize(strands.size());
  int actor = 0;
  for (std::size_t i = 0; i < strands.size(); ++i) {
    const ChannelWork& work = strands[i];
    actor = i > 0 && strands[i - 1].channel == work.channel ? actor + 1 : 0;
    const std::string name = std::to_string(work.channel) + "." + std::to_string(work.position) + "." +
                             std::to_string(work.strand);
    simgrid::s4u::Mailbox* mailbox = state.platform.eager_mailbox(name);
    const int number = static_cast<int>(i);
    simgrid::s4u::Actor::create(name, state.platform.sink(), [&state, &work, number, actor, mailbox] {
      ActorPrimitives primitives(state, work, number, actor, mailbox);
      run_schedule(primitives, work);
      primitives.finish();
    });
  }
}

/// Simulates the plan as it stands.
ScheduleSimulation simulate_positions(const SchedulePlan& plan, const ScheduleSimulationOptions& options) {
  ScheduleSimulation result;
  result.wire_bytes.assign(plan.network.resources.size(), 0.0);
  Platform platform(plan.network, demand(plan));
  SimulationState state(plan, platform);
  state.on_issue = options.on_issue;
  state.wire_bytes = result.wire_bytes;
  state.loops = fold_loops(plan, platform.shared(), options.exact);
  state.fold_steps = folds_steps(plan, state.loops, options.exact);
  const std::vector<ChannelWork> strands = all_strands(plan);
  start_actors(state, strands);
  platform.run();
  result.time = Seconds(state.end);
  result.folded = state.folded;
  result.foldable = !state.loops.folders.empty() || state.fold_steps;
  result.transfers = state.strands.transfers;
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
