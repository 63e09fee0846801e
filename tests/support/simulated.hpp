#pragma once
#include <cstdint>
#include <vector>

#include "model/predict/plan_call.hpp"
#include "sim/predict.hpp"
#include "sim/schedule_simulation.hpp"
#include "tests/support/recorded_step.hpp"

namespace lanecast::support {

/// A ring call of `size` bytes with this protocol; everything else open.
Call ring_call(Bytes size, Protocol protocol = Protocol::simple);

/// What a simulation in a child process gave.
struct Simulated {
  double seconds = 0;
  bool folded = false;
  std::uint64_t transfers = 0;
  std::vector<double> wire_bytes;
};

/// Simulates plans, each in a child of its own, and returns the answers in order.
std::vector<Simulated> simulate_isolated(const std::vector<SchedulePlan>& plans, bool exact);
Simulated simulate_isolated(const SchedulePlan& plan, bool exact);

/// The slices that the simulator issues for a plan, exactly: [channel][position], strand after strand, each
/// in order of issue.
std::vector<std::vector<std::vector<RecordedStep>>> issued_by_simulator(const SchedulePlan& plan);

/// The plan of a call with the profile `generic`, NCCL's newest rules and seed 1.
SchedulePlan plan_of(const Machine& machine, const Call& call, const Profile& profile = Profile());

/// The same for lanecast's own engine.
SchedulePlan engine_plan_of(const Machine& machine, const Call& call);
std::vector<Prediction> predict_engine(const Machine& machine, const std::vector<Call>& calls);

/// One prediction, with NCCL's newest rules.
Prediction predict_one(const Machine& machine, const Call& call, const Profile& profile = Profile());
std::vector<Prediction> predict_all(const Machine& machine, const std::vector<Call>& calls);

double busbw_GBps(const Prediction& prediction);

}  // namespace lanecast::support
