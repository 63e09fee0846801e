#include "tests/support/simulated.hpp"

#include <algorithm>
#include <cstring>

#include "sim/run_isolated.hpp"

namespace lanecast::support {
namespace {

template <class T>
void append(std::string& bytes, const T& value) {
  const auto* first = reinterpret_cast<const char*>(&value);
  bytes.append(first, sizeof value);
}

template <class T>
T take(const std::string& bytes, std::size_t& at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  at += sizeof value;
  return value;
}

std::string to_bytes(const ScheduleSimulation& simulation) {
  std::string bytes;
  append(bytes, simulation.time.value());
  append(bytes, simulation.folded);
  append(bytes, simulation.transfers);
  append(bytes, simulation.wire_bytes.size());
  for (const double value : simulation.wire_bytes) append(bytes, value);
  return bytes;
}

Simulated from_bytes(const std::string& bytes) {
  std::size_t at = 0;
  Simulated simulated;
  simulated.seconds = take<double>(bytes, at);
  simulated.folded = take<bool>(bytes, at);
  simulated.transfers = take<std::uint64_t>(bytes, at);
  const auto count = take<std::size_t>(bytes, at);
  for (std::size_t i = 0; i < count; ++i) simulated.wire_bytes.push_back(take<double>(bytes, at));
  return simulated;
}

struct IssuedRecord {
  int position = 0;
  RecordedStep step;
};

}  // namespace

Call ring_call(Bytes size, Protocol protocol) {
  Call call;
  call.size = size;
  call.algorithm = Algorithm::ring;
  call.protocol = protocol;
  return call;
}

std::vector<Simulated> simulate_isolated(const std::vector<SchedulePlan>& plans, bool exact) {
  const auto answers = run_isolated(plans.size(), 0, [&](std::size_t i) {
    ScheduleSimulationOptions options;
    options.exact = exact;
    return to_bytes(simulate_schedule(plans[i], options));
  });
  std::vector<Simulated> simulated;
  for (const std::string& answer : answers) simulated.push_back(from_bytes(answer));
  return simulated;
}

Simulated simulate_isolated(const SchedulePlan& plan, bool exact) {
  return simulate_isolated(std::vector<SchedulePlan>{plan}, exact).front();
}

std::vector<std::vector<std::vector<RecordedStep>>> issued_by_simulator(const SchedulePlan& plan) {
  const auto answers = run_isolated(1, 1, [&](std::size_t) {
    std::string bytes;
    ScheduleSimulationOptions options;
    options.exact = true;
    options.on_issue = [&](const IssuedSlice& issued) {
      const auto element = static_cast<std::uint64_t>(plan.resolved.work.front().front().element_bytes);
      append(bytes, IssuedRecord{issued.position,
                                 {issued.channel, issued.strand, issued.slice.loop, issued.slice.step,
                                  issued.slice.chunk, issued.slice.slice, issued.action,
                                  issued.slice.count * element}});
    };
    simulate_schedule(plan, options);
    return bytes;
  });
  std::vector<std::vector<std::vector<RecordedStep>>> steps(
      plan.resolved.work.size(), std::vector<std::vector<RecordedStep>>(plan.positions().size()));
  for (std::size_t at = 0; at < answers.front().size();) {
    const auto record = take<IssuedRecord>(answers.front(), at);
    steps[static_cast<std::size_t>(record.step.channel)][static_cast<std::size_t>(record.position)].push_back(
        record.step);
  }
  for (auto& channel : steps) {
    for (auto& of_position : channel)  // strand after strand, as the threads record them
      std::stable_sort(of_position.begin(), of_position.end(),
                       [](const RecordedStep& a, const RecordedStep& b) { return a.strand < b.strand; });
  }
  return steps;
}

SchedulePlan plan_of(const Machine& machine, const Call& call, const Profile& profile) {
  return plan_call(machine, profile, Implementation{}, call, 1);
}

SchedulePlan engine_plan_of(const Machine& machine, const Call& call) {
  return plan_call(machine, Profile(), implementation_from_string("lanecast"), call, 1);
}

std::vector<Prediction> predict_engine(const Machine& machine, const std::vector<Call>& calls) {
  return predict(machine, Profile(), implementation_from_string("lanecast"), calls, SimulationOptions{});
}

std::vector<Prediction> predict_all(const Machine& machine, const std::vector<Call>& calls) {
  return predict(machine, Profile(), Implementation{}, calls, SimulationOptions{});
}

Prediction predict_one(const Machine& machine, const Call& call, const Profile& profile) {
  return predict(machine, profile, Implementation{}, {call}, SimulationOptions{}).front();
}

double busbw_GBps(const Prediction& prediction) { return prediction.busbw().value() / 1e9; }

}  // namespace lanecast::support
