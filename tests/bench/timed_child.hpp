#pragma once
#include <functional>

#include "model/units.hpp"
#include "sim/schedule_simulation.hpp"

namespace lanecast::bench {

/// How long a piece of work took inside its process, and what it gave.
struct Timed {
  Seconds wall{0};
  Seconds cpu{0};  // of the whole process; says more than `wall` where other programs keep the cores busy
  Seconds simulated{0};
  bool folded = false;
};

/// Runs `work` in a child of its own (SimGrid allows one engine a process) and times it there: neither the
/// start of the child nor the way back of its answer counts.
Timed time_in_child(const std::function<ScheduleSimulation()>& work);

}  // namespace lanecast::bench
