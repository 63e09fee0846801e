#include "sim/predict.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <tuple>

#include "model/error.hpp"
#include "model/predict/plan_call.hpp"
#include "model/predict/schedule_traffic.hpp"
#include "sim/event_simulation.hpp"
#include "sim/run_isolated.hpp"
#include "sim/schedule_simulation.hpp"

namespace lanecast {
namespace {

/// What a child tells of its simulation.
struct Answer {
  double seconds = 0;
  bool folded = false;
  bool foldable = false;
  std::uint64_t transfers = 0;
  TimeAccount account;  // by the event loop, where it is asked for
};

constexpr std::uint64_t kManyTransfers = 100'000;  // an exact run of so many is worth a word

/// Communicators that are open: calls of a sweep share one.
class Communicators {
 public:
  Communicators(const Machine& machine, const Implementation& implementation)
      : machine_(machine), implementation_(implementation) {}

  const CommunicatorSetup& of(const Call& call) {
    const Key key{call.ranks, call.order_given, call.transport};
    const auto known = open_.find(key);
    if (known != open_.end()) return known->second;
    return open_.emplace(key, open_communicator(machine_, implementation_, call)).first->second;
  }

 private:
  using Key = std::tuple<std::vector<int>, bool, std::optional<Transport>>;

  const Machine& machine_;
  const Implementation& implementation_;
  std::map<Key, CommunicatorSetup> open_;
};

/// The plans of some calls, one after the other.
struct Batch {
  std::vector<SchedulePlan> plans;
  std::vector<std::size_t> call_of;  // [plan] -> call
};

void add_plans(const Machine& machine, const Profile& profile, const Implementation& implementation,
               Communicators& communicators, const Call& call, std::uint64_t seed, std::size_t number,
               Batch& batch) {
  try {
    for (SchedulePlan& plan :
         candidate_plans(machine, profile, implementation, communicators.of(call), call, seed)) {
      batch.plans.push_back(std::move(plan));
      batch.call_of.push_back(number);
    }
  } catch (const Error& error) {
    throw Error(error.kind(), std::string(error.what()) + "\n  for the call of " +
                                  std::to_string(call.size.value()) + " B on machine `" + machine.name + "`");
  }
}

std::string simulate_to_bytes(const SchedulePlan& plan, bool exact, bool shares) {
  ScheduleSimulationOptions options;
  options.exact = exact;
  const ScheduleSimulation simulation = simulate_schedule(plan, options);
  Answer answer{simulation.time.value(), simulation.folded, simulation.foldable, simulation.transfers, {}};
  if (shares) answer.account = simulate_events(plan, exact, /*accounts=*/true).account;
  std::string bytes(sizeof answer, '\0');
  std::memcpy(bytes.data(), &answer, sizeof answer);
  return bytes;
}

/// The event loop's account, stretched to SimGrid's time, and the launch: all that is left of the call's
/// time.
TimeShares shares_of(const Answer& answer, Seconds time) {
  const double sum = answer.account.sum();
  const TimeAccount account = answer.account * (sum > 0 ? answer.seconds / sum : 0.0);
  TimeShares shares{Seconds(0), Seconds(account.latency), Seconds(account.protocol), Seconds(account.wire),
                    Seconds(account.waiting)};
  shares.launch = time - shares.sum();
  return shares;
}

Prediction answer_for(const Machine& machine, const Profile& profile, const SchedulePlan& plan,
                      const Answer& answer, const SimulationOptions& options) {
  Prediction prediction = describe(profile, plan);
  prediction.folded = answer.folded;
  Seconds time = plan.start + Seconds(answer.seconds);
  if (plan.resolved.call.launch == Launch::stream) time = with_stream_period(profile, time);
  finish(machine, profile, plan, time, prediction);
  if (options.shares) prediction.shares = shares_of(answer, time);
  if (answer.foldable && !answer.folded && !options.exact && answer.transfers > kManyTransfers) {
    prediction.warnings.push_back(
        {"LC-SIM-01", "the call of " + std::to_string(plan.resolved.call.size.value()) +
                          " B never became periodic: all " + std::to_string(answer.transfers) +
                          " slices were simulated"});
  }
  return prediction;
}

/// An exact run simulates some 200 000 slices a second: what would take hours is refused, with the way out.
void refuse_endless(const SchedulePlan& plan) {
  constexpr double kMostSlices = 5e8;
  double slices = 0;
  for (const auto& channel : plan.resolved.work) {
    for (const std::uint64_t n : count_turns(channel.front()).slices) {
      slices += static_cast<double>(n) * static_cast<double>(channel.size());
    }
  }
  if (slices <= kMostSlices) return;
  throw Error(ErrorKind::usage,
              "the call of " + std::to_string(plan.resolved.call.size.value()) + " B has " +
                  std::to_string(static_cast<std::uint64_t>(slices)) +
                  " slices; simulating each would take hours",
              "--exact", "leave --exact out, or take a larger --chunk");
}

// Children are copies of this process: plans of thousands of calls would make each start slow.
constexpr std::size_t kCallsAtATime = 128;

/// Simulates all plans; of a call's candidates the fastest is its prediction.
void predict_some(const Machine& machine, const Profile& profile, const Batch& batch,
                  const SimulationOptions& options, std::vector<Prediction>& predictions) {
  const std::vector<std::string> answers = run_isolated(batch.plans.size(), options.jobs, [&](std::size_t i) {
    return simulate_to_bytes(batch.plans[i], options.exact, options.shares);
  });
  for (std::size_t i = 0; i < batch.plans.size(); ++i) {
    Answer answer;
    std::memcpy(&answer, answers[i].data(), sizeof answer);
    Prediction prediction = answer_for(machine, profile, batch.plans[i], answer, options);
    const bool first = i == 0 || batch.call_of[i] != batch.call_of[i - 1];
    if (first) {
      predictions.push_back(std::move(prediction));
    } else if (prediction.time < predictions.back().time) {
      predictions.back() = std::move(prediction);
    }
  }
}

}  // namespace

std::vector<Prediction> predict(const Machine& machine, const Profile& profile,
                                const Implementation& implementation, const std::vector<Call>& calls,
                                const SimulationOptions& options) {
  std::vector<Prediction> predictions;
  Communicators communicators(machine, implementation);
  for (std::size_t first = 0; first < calls.size(); first += kCallsAtATime) {
    Batch batch;
    for (std::size_t i = first; i < std::min(calls.size(), first + kCallsAtATime); ++i)
      add_plans(machine, profile, implementation, communicators, calls[i], options.seed, i, batch);
    if (options.exact) std::for_each(batch.plans.begin(), batch.plans.end(), refuse_endless);
    predict_some(machine, profile, batch, options, predictions);
  }
  return predictions;
}

std::vector<Seconds> simulated_times(const Machine& machine, const Profile& profile,
                                     const std::vector<ResolvedCall>& calls, std::uint64_t seed) {
  std::vector<SchedulePlan> plans;
  for (const ResolvedCall& call : calls) plans.push_back(plan_schedule(machine, profile, call, seed));
  const std::vector<std::string> answers =
      run_isolated(plans.size(), 0, [&](std::size_t i) { return simulate_to_bytes(plans[i], false, false); });
  std::vector<Seconds> times;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    Answer answer;
    std::memcpy(&answer, answers[i].data(), sizeof answer);
    const Seconds time = plans[i].start + Seconds(answer.seconds);
    times.push_back(calls[i].call.launch == Launch::stream ? with_stream_period(profile, time) : time);
  }
  return times;
}

}  // namespace lanecast
