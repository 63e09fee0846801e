#include "sim/evaluator.hpp"

#include "model/predict/schedule_plan.hpp"
#include "sim/event_simulation.hpp"

namespace lanecast {

std::size_t Evaluator::add_call(const Machine& machine, const ResolvedCall& resolved) {
  asked_.push_back({&machine, resolved, Engine::sm, {}, {}});
  return asked_.size() - 1;
}

std::size_t Evaluator::add_copies(const Machine& machine, Engine engine, std::vector<CopyFlow> flows) {
  asked_.push_back({&machine, {}, engine, std::move(flows), {}});
  return asked_.size() - 1;
}

std::size_t Evaluator::add_parameter(Param parameter) {
  asked_.push_back({nullptr, {}, Engine::sm, {}, parameter});
  return asked_.size() - 1;
}

Seconds Evaluator::time(std::size_t number, const Profile& profile) const {
  const Asked& asked = asked_[number];
  if (asked.parameter) {
    const bool rate = info(*asked.parameter).unit == "GB/s";
    return rate ? Seconds(1e9 / profile.rate(*asked.parameter).value()) : profile.time(*asked.parameter);
  }
  if (!asked.flows.empty()) {
    double sum = 0;
    for (const BytesPerSecond rate : fair_copies(*asked.machine, profile, asked.engine, asked.flows))
      sum += rate.value();
    return Seconds(1e9 / sum);
  }
  const SchedulePlan plan = plan_schedule(*asked.machine, profile, asked.resolved, seed_);
  const Seconds time = plan.start + simulate_events(plan).time;
  return asked.resolved.call.launch == Launch::stream ? with_stream_period(profile, time) : time;
}

}  // namespace lanecast
