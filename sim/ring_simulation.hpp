#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "model/predict/ring_plan.hpp"

namespace lanecast {

/// One slice as the simulator issued it, for comparison with other executors.
struct IssuedSlice {
  int channel = 0;
  int position = 0;
  RingAction action = RingAction::send;
  Slice slice;
};

struct RingSimulationOptions {
  bool exact = false;
  std::function<void(const IssuedSlice&)>
      on_issue;  // called for each slice, in simulated order of each actor
};

struct RingSimulation {
  Seconds time{0};  // of the ring alone, without the launch
  bool folded = false;
  bool foldable = false;           // long enough that folding was attempted
  std::uint64_t transfers = 0;     // slices simulated with data
  std::vector<double> wire_bytes;  // on each resource of the plan's network, skipped turns counted
};

/// Simulates a ring call with one SimGrid actor for each channel of each rank. Once a process.
///
/// Unless `exact`, three things are folded: ranks that a rotation of the ring maps onto each other are
/// simulated once (model/predict/ring_symmetry.hpp), and loops or steps that repeat are left out
/// (sim/folder.hpp).
/// @throws Error  kind runtime: actors that wait for each other
RingSimulation simulate_ring(const RingPlan& plan, const RingSimulationOptions& options);

}  // namespace lanecast
