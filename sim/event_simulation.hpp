#pragma once
#include "model/predict/schedule_plan.hpp"
#include "sim/schedule_simulation.hpp"

namespace lanecast {

/// The same strands on the same network as `simulate_schedule`, driven by an event loop of our own instead of
/// SimGrid's actors: some ten times faster, in this process, for fits that need 10^5 evaluations. Folds loops
/// as the simulator does, never steps. SimGrid stays the reference: a test holds the two within 0.5 % of each
/// other over random machines and calls, and `calibrate` checks its result with SimGrid.
/// @param accounts  also say where the time comes from
/// @return  time, folded and account of the schedule; the wire bytes are left empty
/// @throws Error  kind runtime: strands that wait for each other
ScheduleSimulation simulate_events(const SchedulePlan& plan, bool exact = false, bool accounts = false);

}  // namespace lanecast
