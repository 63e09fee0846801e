#include "cli/calibration_problem.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "cli/measured_predictions.hpp"
#include "model/error.hpp"
#include "model/implementation/communicator.hpp"
#include "model/measured/measured_settings.hpp"
#include "model/predict/call_kind.hpp"
#include "model/topology/routes.hpp"

namespace lanecast {
namespace {

/// Micro-benchmarks that measure one parameter by itself, as our engine's kernels have it.
/// NCCL's kernels move data in the same way, so that the first of them hold for both.
struct DirectMeasurement {
  const char* name;
  const char* path;  // "peer", "host", "own": where the data go to or come from
  int threads;
  int blocks;
  std::uint64_t size_bytes;  // 0: whatever was measured
  Param parameter;
  bool of_nccl;
};

constexpr DirectMeasurement kDirect[] = {
    {"sm_pull", "host", 512, 1, 0, Param::simple_host_copy, true},
    {"sm_push", "peer", 512, 1, 0, Param::simple_peer_send, true},
    {"sm_push", "host", 512, 1, 0, Param::simple_host_send, true},
    {"sm_copy", "own", 512, 1, 0, Param::simple_peer_copy, true},
    {"sm_copy", "own", 512, 32, 0, Param::local_copy, true},
    {"fence", "own", 512, 1, 1024, Param::simple_fence_local, true},
    {"launch_stream", "own", 32, 1, 0, Param::stream_period, false},
    {"graph_fixed", "own", 32, 1, 0, Param::graph_replay, false},
};

constexpr double kShortest = 1e-8;  // seconds
constexpr double kLongest = 3600;

template <class T>
std::string text_or_auto(const std::optional<T>& value) {
  return value ? std::to_string(*value) : "auto";
}

std::string bytes_or_auto(const std::optional<Bytes>& value) {
  return value ? std::to_string(value->value()) : "auto";
}

/// What stays the same over the sizes of a sweep.
std::string configuration_of(const MeasuredCall& measured) {
  const Call& call = measured.call;
  std::string text = to_string(call.collective);
  text += call.algorithm ? std::string(" ") + to_string(*call.algorithm) : " any algorithm";
  text += call.protocol ? std::string(" ") + to_string(*call.protocol) : " any protocol";
  text += call.transport ? std::string(" ") + to_string(*call.transport) : " any transport";
  text += ", channels " + text_or_auto(set_channels(measured)) + ", threads " +
          text_or_auto(set_threads(measured)) + ", buffsize " + bytes_or_auto(set_buffsize(measured)) +
          ", chunk " + bytes_or_auto(call.chunk) + ", register " + to_string(call.registration) + ", " +
          to_string(call.launch);
  if (measured.ranks > 0) text += ", " + std::to_string(measured.ranks) + " ranks";
  return text;
}

/// What the times of one call depend on.
std::string identity_of(const MeasuredCall& measured, const Call& call, const std::string& implementation) {
  std::string text = implementation + "|" + configuration_of(measured) + "|" +
                     std::to_string(call.size.value()) + (call.in_place ? " in place " : " out of place ") +
                     to_string(call.datatype) + " " + std::to_string(call.iterations) + " " +
                     bytes_or_auto(call.working_set);
  for (const auto& [variable, value] : measured.environment) text += "|" + variable + "=" + value;
  for (const int rank : call.ranks) text += " " + std::to_string(rank);
  return text;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

void add_once(std::vector<std::string>& list, const std::string& word) {
  if (std::find(list.begin(), list.end(), word) == list.end()) list.push_back(word);
}

void widen(int& from, int& to, int value) {
  from = from == 0 ? value : std::min(from, value);
  to = std::max(to, value);
}

std::string path_of(const MeasuredRate& rate) {
  if (rate.source == "host" || rate.destination == "host") return "host";
  return rate.source == rate.destination ? "own" : "peer";
}

std::optional<int> gpu_index(const std::string& end) {
  if (end.rfind("gpu", 0) != 0) return std::nullopt;
  return std::stoi(end.substr(3));
}

std::optional<MatrixKind> matrix_kind(const std::string& kind) {
  if (kind == "p2p") return MatrixKind::p2p;
  if (kind == "bidir") return MatrixKind::bidir;
  if (kind == "h2d") return MatrixKind::h2d;
  if (kind == "d2h") return MatrixKind::d2h;
  return std::nullopt;
}

std::vector<CopyFlow> flows_of(MatrixKind kind, int row, int column) {
  switch (kind) {
    case MatrixKind::h2d:
      return {{std::nullopt, column}};
    case MatrixKind::d2h:
      return {{column, std::nullopt}};
    case MatrixKind::bidir:
      return {{row, column}, {column, row}};
    default:
      return {{row, column}};
  }
}

}  // namespace

CalibrationProblem::CalibrationProblem(Machine machine, std::string implementation, std::uint64_t seed)
    : implementation_(std::move(implementation)), evaluator_(seed) {
  machines_.push_back(std::move(machine));
}

Evaluate CalibrationProblem::evaluate() const {
  return [this](std::size_t call, const Profile& profile) { return evaluator_.time(call, profile); };
}

int CalibrationProblem::rows_of(const std::string& file) const {
  int rows = 0;
  for (const About& about : about_) {
    const std::string name = about.where.substr(0, about.where.rfind(':'));
    if (name.size() >= file.size() && name.compare(name.size() - file.size(), file.size(), file) == 0) ++rows;
  }
  return rows;
}

void CalibrationProblem::add(const MeasuredData& data, Bytes smallest) {
  for (const MeasuredCall& call : data.calls) {
    try {
      add_call(call, smallest);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::usage) throw;
      leave_out(left_out, first_line(error.what()), call.where, false);
    }
  }
  for (const MeasuredMatrix& matrix : data.matrices) add_matrix(matrix);
  for (const MeasuredRate& rate : data.rates) add_rate(rate);
  warnings.insert(warnings.end(), data.warnings.begin(), data.warnings.end());
}

/// Whether a call is of the library that is fitted: the first one's, unless one was asked for.
bool CalibrationProblem::takes(const Implementation& implementation, const MeasuredCall& measured) {
  const std::string library = profile_part_of(implementation);
  if (library_.empty()) library_ = library;
  if (library == library_) return true;
  leave_out(left_out, "of `" + library + "`, while `" + library_ + "` is calibrated", measured.where, false);
  return false;
}

void CalibrationProblem::add_call(const MeasuredCall& measured, Bytes smallest) {
  if (measured.call.size < smallest) return leave_out(left_out, "below --min-size", measured.where, true);
  refuse_unknown_ways(measured);
  if (measured.time.value() < kShortest || measured.time.value() > kLongest)
    throw Error(ErrorKind::usage, "with a time that no call has (below 10 ns, or above an hour)");
  if (is_of_another_library(measured)) {
    return leave_out(left_out,
                     "of `" + measured.implementation + "`, while `" + implementation_ + "` was asked for",
                     measured.where, false);
  }
  const Machine& machine = machines_.front();
  const std::string name = implementation_key(measured, implementation_);
  auto known = implementations_.find(name);
  if (known == implementations_.end())
    known = implementations_.emplace(name, implementation_of(measured, implementation_, warnings)).first;
  if (!takes(known->second, measured)) return;
  const Call call = call_on(machine, measured);
  if (call_ranks(machine, call).size() < 2)
    throw Error(ErrorKind::usage, "of one rank, which crosses no link");
  const std::size_t number = call_number(identity_of(measured, call, name), known->second, call);
  const ResolvedCall& resolved = resolved_[call_index_[number]].second;
  About about;
  about.call = ErrorSample{resolved.protocol, transport_name(resolved), call.size, 0, std::nullopt};
  about.keys = keys_of(measured);
  about.launch = call.launch;
  about.where = measured.where;
  const bool stream = call.launch == Launch::stream;
  const std::string kind =
      std::string(to_string(resolved.protocol)) + " " + transport_name(resolved) + (stream ? " stream" : "");
  observe(number, measured.time, configuration_of(measured), kind, std::move(about),
          session_number(measured.session), measured.first_of_sweep);
}

/// What the data say they ran with is not what was asked for.
bool CalibrationProblem::is_of_another_library(const MeasuredCall& measured) const {
  if (implementation_.empty() || measured.implementation.empty()) return false;
  return profile_part_of(implementation_from_string(measured.implementation)) !=
         profile_part_of(implementation_from_string(implementation_));
}

/// The number of a call that was seen before, or of a new one, which is resolved.
std::size_t CalibrationProblem::call_number(const std::string& identity, const Implementation& implementation,
                                            const Call& call) {
  const auto known = calls_.find(identity);
  if (known != calls_.end()) return known->second;
  const Machine& machine = machines_.front();
  const ResolvedCall resolved =
      resolve_call(machine, implementation, open_communicator(machine, implementation, call), call);
  widen_range(resolved);
  const std::size_t number = evaluator_.add_call(machine, resolved);
  calls_.emplace(identity, number);
  call_index_.emplace(number, resolved_.size());
  resolved_.emplace_back(number, resolved);
  data_.calls.push_back(identity);
  return number;
}

std::optional<double> CalibrationProblem::difference_to_simgrid(const Profile& profile,
                                                                std::size_t calls) const {
  if (resolved_.empty()) return std::nullopt;
  const std::size_t stride = std::max<std::size_t>(1, resolved_.size() / calls);
  std::vector<std::size_t> numbers;
  std::vector<ResolvedCall> checked;
  for (std::size_t i = 0; i < resolved_.size(); i += stride) {
    numbers.push_back(resolved_[i].first);
    checked.push_back(resolved_[i].second);
  }
  const std::vector<Seconds> reference =
      simulated_times(machines_.front(), profile, checked, evaluator_.seed());
  double most = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i)
    most = std::max(most, std::abs(evaluator_.time(numbers[i], profile) / reference[i] - 1.0));
  return most;
}

int CalibrationProblem::session_number(int session) {
  return sessions_.try_emplace(session, static_cast<int>(sessions_.size())).first->second;
}

void CalibrationProblem::widen_range(const ResolvedCall& resolved) {
  const Call& call = resolved.call;
  widen(range_.ranks_from, range_.ranks_to, static_cast<int>(resolved.order().size()));
  widen(range_.channels_from, range_.channels_to, resolved.channels);
  if (range_.size_to.value() == 0 || call.size < range_.size_from) range_.size_from = call.size;
  range_.size_to = std::max(range_.size_to, call.size);
  add_once(range_.kinds, call_kind(resolved));
  add_once(range_.links, call_links(machines_.front(), resolved));
  add_once(range_.launches, to_string(call.launch));
  add_once(range_.collectives, to_string(call.collective));
}

void CalibrationProblem::observe(std::size_t call, Seconds time, const std::string& configuration,
                                 const std::string& kind, About about, int session, bool first) {
  const auto number = [](std::map<std::string, std::size_t>& known, std::vector<std::string>& names,
                         const std::string& name) {
    const auto [at, fresh] = known.try_emplace(name, names.size());
    if (fresh) names.push_back(name);
    return at->second;
  };
  Observation seen;
  seen.call = call;
  seen.time = time;
  seen.session = session;
  seen.first_of_sweep = first;
  seen.configuration = number(configurations_, data_.configurations, configuration);
  seen.kind = number(kinds_, data_.kinds, kind);
  data_.observations.push_back(seen);
  about_.push_back(std::move(about));
}

const Machine& CalibrationProblem::without_peer_access() {
  if (machines_.size() == 1) {
    machines_.push_back(machines_.front());
    machines_.back().p2p.enabled = false;
  }
  return machines_.back();
}

void CalibrationProblem::add_matrix(const MeasuredMatrix& matrix) {
  const auto kind = matrix_kind(matrix.kind);
  if (!kind || matrix.unit != "GB/s") {
    return leave_out(left_out, "tables of `" + matrix.kind + "` are not one-way times", matrix.where, false);
  }
  const std::vector<int> gpus = present_gpus(machines_.front());
  const bool host = *kind == MatrixKind::h2d || *kind == MatrixKind::d2h;
  if (matrix.rows.empty() || matrix.rows.front().size() != gpus.size() ||
      (!host && matrix.rows.size() != gpus.size())) {
    return leave_out(left_out, "a table of another number of GPUs than the machine's", matrix.where, false);
  }
  const Machine& machine = host || matrix.peer_access ? machines_.front() : without_peer_access();
  const Engine engine = matrix.engine == "sm" ? Engine::sm : Engine::copy;
  const std::string name = "copies " + matrix.kind + " " + matrix.engine +
                           (host || matrix.peer_access ? "" : ", P2P off") + ", " + matrix.where;
  for (std::size_t r = 0; r < matrix.rows.size(); ++r) {
    for (std::size_t c = 0; c < gpus.size(); ++c) {
      const std::optional<double> cell = matrix.rows[r][c];
      if (!cell || *cell <= 0 || (!host && r == c)) continue;
      const std::size_t number = evaluator_.add_copies(machine, engine, flows_of(*kind, gpus[r], gpus[c]));
      data_.calls.push_back(name + " " + std::to_string(r) + ">" + std::to_string(c));
      observe(number, Seconds(1.0 / *cell), name, "copies", {std::nullopt, {}, Launch::graph, matrix.where});
    }
  }
}

void CalibrationProblem::add_rate(const MeasuredRate& rate) {
  const double value = rate.GBps ? 1.0 / *rate.GBps : rate.us ? *rate.us * 1e-6 : 0.0;
  const std::string name = "micro-benchmark " + rate.name + " " + rate.source + ">" + rate.destination;
  if (value <= 0) return leave_out(left_out, "without a figure", rate.where, false);
  if (rate.name == "ce_copy" && rate.GBps && rate.size_bytes >= (16u << 20)) {
    const std::size_t number = evaluator_.add_copies(machines_.front(), Engine::copy,
                                                     {{gpu_index(rate.source), gpu_index(rate.destination)}});
    data_.calls.push_back(name);
    return observe(number, Seconds(value), name, "copies", {std::nullopt, {}, Launch::graph, rate.where});
  }
  const std::string path = path_of(rate);
  for (const DirectMeasurement& direct : kDirect) {
    if (rate.name != direct.name || path != direct.path || rate.threads != direct.threads ||
        rate.blocks != direct.blocks || (library_ == "nccl" && !direct.of_nccl) ||
        (direct.size_bytes > 0 && rate.size_bytes != direct.size_bytes))
      continue;
    if (library_.empty())
      library_ =
          implementation_.empty() ? "lanecast" : profile_part_of(implementation_from_string(implementation_));
    data_.calls.push_back(name);
    return observe(evaluator_.add_parameter(direct.parameter), Seconds(value), name, "micro-benchmarks",
                   {std::nullopt, {}, Launch::graph, rate.where});
  }
  leave_out(left_out, "micro-benchmarks that no single parameter explains", rate.where, false);
}

}  // namespace lanecast
