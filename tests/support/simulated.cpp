#include "tests/support/simulated.hpp"

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

std::string to_bytes(const RingSimulation& simulation) {
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
  call.protocol = protocol;
  return call;
}

std::vector<Simulated> simulate_isolated(const std::vector<RingPlan>& plans, bool exact) {
  const auto answers = run_isolated(plans.size(), 0, [&](std::size_t i) {
    RingSimulationOptions options;
    options.exact = exact;
    return to_bytes(simulate_ring(plans[i], options));
  });
  std::vector<Simulated> simulated;
  for (const std::string& answer : answers) simulated.push_back(from_bytes(answer));
  return simulated;
}

Simulated simulate_isolated(const RingPlan& plan, bool exact) {
  return simulate_isolated(std::vector<RingPlan>{plan}, exact).front();
}

std::vector<std::vector<std::vector<RecordedStep>>> issued_by_simulator(const RingPlan& plan) {
  const auto answers = run_isolated(1, 1, [&](std::size_t) {
    std::string bytes;
    RingSimulationOptions options;
    options.exact = true;
    options.on_issue = [&](const IssuedSlice& issued) {
      const auto element = static_cast<std::uint64_t>(plan.resolved.work.front().front().element_bytes);
      append(bytes, IssuedRecord{issued.position,
                                 {issued.channel, issued.slice.loop, issued.slice.step, issued.slice.chunk,
                                  issued.slice.slice, issued.action, issued.slice.count * element}});
    };
    simulate_ring(plan, options);
    return bytes;
  });
  std::vector<std::vector<std::vector<RecordedStep>>> steps(
      plan.resolved.work.size(), std::vector<std::vector<RecordedStep>>(plan.positions().size()));
  for (std::size_t at = 0; at < answers.front().size();) {
    const auto record = take<IssuedRecord>(answers.front(), at);
    steps[static_cast<std::size_t>(record.step.channel)][static_cast<std::size_t>(record.position)].push_back(
        record.step);
  }
  return steps;
}

RingPlan plan_of(const Machine& machine, const Call& call, const Profile& profile) {
  return plan_call(machine, profile, Implementation{}, call, 1);
}

std::vector<Prediction> predict_all(const Machine& machine, const std::vector<Call>& calls) {
  return predict(machine, Profile(), Implementation{}, calls, SimulationOptions{});
}

Prediction predict_one(const Machine& machine, const Call& call, const Profile& profile) {
  return predict(machine, profile, Implementation{}, {call}, SimulationOptions{}).front();
}

double busbw_GBps(const Prediction& prediction) { return prediction.busbw().value() / 1e9; }

}  // namespace lanecast::support
