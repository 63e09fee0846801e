#include "cli/measured_predictions.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "cli/simulator.hpp"
#include "configs/problem_list.hpp"
#include "model/error.hpp"
#include "model/predict/alternatives.hpp"
#include "model/predict/plan_call.hpp"
#include "model/topology/routes.hpp"
#include "reports/prediction_report.hpp"

namespace lanecast {

Call call_on(const Machine& machine, const MeasuredCall& measured) {
  Call call = measured.call;
  const std::vector<int> gpus = present_gpus(machine);
  const auto have = static_cast<int>(gpus.size());
  if (!call.ranks.empty() || measured.ranks == 0 || measured.ranks == have) return call;
  if (measured.ranks > have) {
    throw Error(ErrorKind::usage, "measured on " + std::to_string(measured.ranks) +
                                      " GPUs; the machine has " + std::to_string(have));
  }
  call.ranks.assign(gpus.begin(), gpus.begin() + measured.ranks);
  return call;
}

void refuse_unknown_ways(const MeasuredCall& measured) {
  if (measured.shared_gpu)
    throw Error(ErrorKind::usage, "several ranks shared a GPU: no link lies between them");
  if (measured.staging == "ce")
    throw Error(ErrorKind::usage, "staged by copy engines, which is not simulated");
}

namespace {

std::string implementation_name_of(const MeasuredCall& measured, const std::string& asked) {
  if (!asked.empty()) return asked;
  return measured.implementation.empty() ? "nccl" : measured.implementation;
}

}  // namespace

std::string implementation_key(const MeasuredCall& measured, const std::string& asked) {
  std::string key = implementation_name_of(measured, asked);
  for (const auto& [variable, value] : measured.environment) key += "\n" + variable + "=" + value;
  return key;
}

Implementation implementation_of(const MeasuredCall& measured, const std::string& asked,
                                 std::vector<Warning>& warnings) {
  Implementation implementation = implementation_from_string(implementation_name_of(measured, asked));
  if (implementation.library == Library::lanecast) return implementation;
  std::vector<NcclSetting> settings;
  for (const auto& [variable, value] : measured.environment)
    settings.push_back({variable, value, measured.where});
  implementation.environment = read_nccl_environment(settings, implementation.version(), warnings, nearest);
  return implementation;
}

namespace {

/// The first line of a message, without its place and the way to mend it.
std::string first_line(const Error& error) {
  const std::string text = error.what();
  return text.substr(0, text.find('\n'));
}

/// What a call is about, as text: equal texts are equal calls.
std::string identity(const Call& call) {
  std::string text;
  const auto add = [&](auto number) { text += std::to_string(number) + " "; };
  const auto add_open = [&](const auto& value) {
    text += value ? std::to_string(static_cast<std::uint64_t>(*value)) + " " : "- ";
  };
  const auto add_bytes = [&](const std::optional<Bytes>& size) {
    text += size ? std::to_string(size->value()) + " " : "- ";
  };
  add(static_cast<int>(call.collective));
  add(call.size.value());
  add(static_cast<int>(call.datatype));
  add(static_cast<int>(call.op));
  add(call.root);
  add(static_cast<int>(call.in_place));
  add_open(call.algorithm);
  add_open(call.protocol);
  add_open(call.transport);
  add_open(call.channels);
  add_open(call.threads);
  add_bytes(call.buffsize);
  add_bytes(call.chunk);
  add_bytes(call.working_set);
  add(static_cast<int>(call.launch));
  add(call.iterations);
  add(static_cast<int>(call.registration));
  add(static_cast<int>(call.order_given));
  for (const int rank : call.ranks) add(rank);
  return text;
}

/// What a communicator is opened for.
std::string ranks_identity(const Call& call) {
  std::string text =
      std::to_string(call.order_given ? 1 : 0) + (call.transport ? to_string(*call.transport) : "-");
  for (const int rank : call.ranks) text += " " + std::to_string(rank);
  return text;
}

template <class T>
void add_once(const T& item, std::vector<T>& list) {
  if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
}

/// Calls of one implementation with one environment.
class Batch {
 public:
  Batch(const Machine& machine, ChosenProfile profile, Implementation implementation)
      : machine_(machine), chosen_(std::move(profile)), implementation_(std::move(implementation)) {}

  /// @throws Error  kind usage, where the call cannot be predicted
  void add(const MeasuredCall& measured, const Call& call, const SimulationOptions& simulation) {
    const std::string key = identity(call);
    auto at = index_.find(key);
    if (at == index_.end()) {
      plan_call(machine_, chosen_.profile, implementation_, communicator(call), call, simulation.seed);
      at = index_.emplace(key, calls_.size()).first;
      calls_.push_back(call);
    }
    members_.push_back({measured, at->second});
  }

  void predict(const MeasuredPredictionOptions& options, MeasuredPredictions& result) {
    const std::vector<Prediction> predictions =
        simulate_calls(machine_, chosen_.profile, implementation_, calls_, options.simulation);
    std::vector<std::optional<Seconds>> estimates(calls_.size());
    for (std::size_t i = 0; i < calls_.size() && options.with_nccl_model; ++i)
      estimates[i] = estimate(calls_[i]);
    for (const Warning& warning : chosen_.warnings) add_once(warning, result.warnings);
    for (const Warning& warning : unique_warnings(predictions)) add_once(warning, result.warnings);
    add_once(implementation_.name(), result.implementations);
    add_once(chosen_.profile.name, result.profiles);
    for (const auto& [measured, i] : members_) {
      const int ranks = static_cast<int>(call_ranks(machine_, calls_[i]).size());
      result.rows.push_back(
          {measured, predicted_call(predictions[i], ranks, implementation_.name()), estimates[i]});
    }
  }

 private:
  const CommunicatorSetup& communicator(const Call& call) {
    const std::string key = ranks_identity(call);
    auto at = communicators_.find(key);
    if (at == communicators_.end())
      at = communicators_.emplace(key, open_communicator(machine_, implementation_, call)).first;
    return at->second;
  }

  std::optional<Seconds> estimate(const Call& call) {
    try {
      return nccl_estimate(machine_, chosen_.profile, implementation_, communicator(call), call).time;
    } catch (const Error&) {  // one rank, or a way that NCCL lacks: it has no estimate
      return std::nullopt;
    }
  }

  struct Member {
    MeasuredCall measured;
    std::size_t call;
  };

  const Machine& machine_;
  ChosenProfile chosen_;
  Implementation implementation_;
  std::map<std::string, CommunicatorSetup> communicators_;
  std::map<std::string, std::size_t> index_;
  std::vector<Call> calls_;
  std::vector<Member> members_;
};

/// A call that cannot be predicted is left out; other errors are the caller's.
void leave_out_for(const Error& error, const MeasuredCall& measured, std::vector<LeftOutRows>& left_out) {
  if (error.kind() != ErrorKind::usage) throw error;
  leave_out(left_out, first_line(error), measured.where, false);
}

class Predictor {
 public:
  Predictor(const Machine& machine, const ProfileFor& profile_for, const MeasuredPredictionOptions& options)
      : machine_(machine), profile_for_(profile_for), options_(options) {
    if (!options.implementation.empty()) implementation_from_string(options.implementation);
  }

  void add(const MeasuredCall& measured, std::vector<LeftOutRows>& left_out) {
    const std::string key = implementation_key(measured, options_.implementation);
    auto batch = batches_.find(key);
    if (batch == batches_.end()) {
      const std::optional<Implementation> implementation = read_implementation(measured, left_out);
      if (!implementation) return;
      batch = batches_.emplace(key, Batch(machine_, profile_for_(*implementation), *implementation)).first;
    }
    try {
      refuse_unknown_ways(measured);
      batch->second.add(measured, call_on(machine_, measured), options_.simulation);
    } catch (const Error& error) {
      leave_out_for(error, measured, left_out);
    }
  }

  MeasuredPredictions predict() {
    for (auto& [key, batch] : batches_) batch.predict(options_, result_);
    return std::move(result_);
  }

 private:
  /// Nothing where there is no such implementation, or it would refuse a variable.
  std::optional<Implementation> read_implementation(const MeasuredCall& measured,
                                                    std::vector<LeftOutRows>& left_out) {
    try {
      return implementation_of(measured, options_.implementation, result_.warnings);
    } catch (const Error& error) {
      leave_out_for(error, measured, left_out);
      return std::nullopt;
    }
  }

  const Machine& machine_;
  const ProfileFor& profile_for_;
  const MeasuredPredictionOptions& options_;
  std::map<std::string, Batch> batches_;
  MeasuredPredictions result_;
};

}  // namespace

MeasuredPredictions predict_measured(const Machine& machine, const ProfileFor& profile_for,
                                     const std::vector<MeasuredCall>& measured,
                                     const MeasuredPredictionOptions& options,
                                     std::vector<LeftOutRows>& left_out) {
  Predictor predictor(machine, profile_for, options);
  for (const MeasuredCall& call : measured) predictor.add(call, left_out);
  return predictor.predict();
}

}  // namespace lanecast
