#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "model/predict/schedule_plan.hpp"
#include "sim/time_account.hpp"

namespace lanecast {

/// One slice as the simulator issued it, for comparison with other executors.
struct IssuedSlice {
  int channel = 0;
  int position = 0;
  int strand = 0;
  TurnAction action = TurnAction::send;
  Slice slice;
};

struct ScheduleSimulationOptions {
  bool exact = false;
  std::function<void(const IssuedSlice&)>
      on_issue;  // called for each slice, in simulated order of each actor
};

struct ScheduleSimulation {
  Seconds time{0};  // of the schedule alone, without the launch
  bool folded = false;
  bool foldable = false;           // long enough that folding was attempted
  std::uint64_t transfers = 0;     // slices simulated with data
  TimeAccount account;             // of `time`, where it was asked for
  std::vector<double> wire_bytes;  // on each resource of the plan's network, skipped turns counted
};

/// Simulates a call with one SimGrid actor for each strand of each channel of each rank. Once a process.
///
/// Unless `exact`, three things are folded: ranks that a rotation of a ring maps onto each other are
/// simulated once (model/predict/ring_symmetry.hpp), and loops or steps that repeat are left out
/// (sim/folder.hpp).
/// @throws Error  kind runtime: actors that wait for each other
ScheduleSimulation simulate_schedule(const SchedulePlan& plan, const ScheduleSimulationOptions& options);

}  // namespace lanecast
