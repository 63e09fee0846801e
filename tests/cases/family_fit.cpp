#include "tests/cases/family_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/implementation/communicator.hpp"
#include "model/predict/call_kind.hpp"
#include "model/topology/peer_access.hpp"
#include "model/topology/routes.hpp"
#include "tests/cases/errors.hpp"

namespace lanecast::cases {
namespace {

constexpr std::size_t kSmallest = 1024;

template <class Key>
std::size_t number_of(std::map<std::string, std::size_t>& numbers, std::vector<std::string>& list,
                      const Key& key) {
  const auto [at, added] = numbers.emplace(key, list.size());
  if (added) list.push_back(key);
  return at->second;
}

bool holds(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

void insert(std::vector<std::string>& list, const std::string& word) {
  if (!holds(list, word)) list.push_back(word);
}

bool crosses_sockets(const Machine& machine, const std::vector<CopyFlow>& flows) {
  return std::any_of(flows.begin(), flows.end(), [&](const CopyFlow& flow) {
    return flow.source && flow.destination &&
           distance(machine, *flow.source, *flow.destination) == Distance::sys;
  });
}

bool is_staged(const Machine& machine, const std::vector<CopyFlow>& flows) {
  return std::any_of(flows.begin(), flows.end(), [&](const CopyFlow& flow) {
    return flow.source && flow.destination &&
           !peer_access(machine, *flow.source, *flow.destination, Distance::sys).allowed;
  });
}

std::string kind_of_copies(const Machine& machine, const std::vector<CopyFlow>& flows) {
  return is_staged(machine, flows) ? "staged copies" : "copies";
}

Seconds time_of_a_gigabyte(double gigabytes_per_second) { return Seconds(1.0 / gigabytes_per_second); }

/// What tells calls apart, where several sweeps ran the same one.
std::string identity_of(const AllReduceCase& entry, const ResolvedCall& call) {
  return fmt::format("{}|{}|{} {} {} {} {} {} {} {} {}", entry.machine, fmt::join(entry.sets, " "),
                     to_string(call.algorithm), to_string(call.protocol), transport_name(call), call.channels,
                     call.threads, call.chunk.value(), call.buffsize.value(), call.call.size.value(),
                     call.order().size());
}

}  // namespace

CaseProblem::CaseProblem(const std::vector<PublishedCase>& cases, const std::vector<AllReduceSweep>& sweeps,
                         const std::vector<std::string>& ids) {
  for (const std::string& id : ids) {
    ++session_;
    const PublishedCase& published = find_case(cases, id);
    for (const AllReduceSweep& sweep : sweeps) {
      if (sweep.entry.case_id == id && sweep.entry.not_simulated.empty()) add_sweep(sweep);
    }
    for (const CaseMachine& entry : case_machines()) {
      if (entry.case_id != id) continue;
      for (std::size_t i = 0; i < published.matrices.size(); ++i) add_matrix(entry, i, published.matrices[i]);
    }
    for (const CopySet& set : copy_sets()) {
      if (set.case_id == id) add_copy_set(published, set);
    }
  }
  if (hosts_.size() > 1) return;
  for (Observation& seen : data_.observations) seen.session = 0;
}

Machine& CaseProblem::add_machine(const std::string& name, const std::vector<std::string>& sets) {
  hosts_.insert(name);
  return machines_.emplace_back(machine_of(name, sets));
}

Evaluate CaseProblem::evaluate() const {
  return [this](std::size_t call, const Profile& profile) { return evaluator_.time(call, profile); };
}

void CaseProblem::observe(std::size_t call, Seconds time, const std::string& kind, CaseObservation about) {
  Observation seen;
  seen.call = call;
  seen.time = time;
  seen.configuration = number_of(configurations_, data_.configurations, about.case_id + ": " + about.sweep);
  seen.session = session_;
  seen.kind = number_of(kinds_, data_.kinds, kind);
  data_.observations.push_back(seen);
  about_.push_back(std::move(about));
}

void CaseProblem::widen_range(const Machine& machine, const ResolvedCall& resolved) {
  const int ranks = static_cast<int>(resolved.order().size());
  const bool first = range_.ranks_to == 0;
  range_.ranks_from = first ? ranks : std::min(range_.ranks_from, ranks);
  range_.ranks_to = std::max(range_.ranks_to, ranks);
  range_.size_from = first ? resolved.call.size : std::min(range_.size_from, resolved.call.size);
  range_.size_to = std::max(range_.size_to, resolved.call.size);
  range_.channels_from = first ? resolved.channels : std::min(range_.channels_from, resolved.channels);
  range_.channels_to = std::max(range_.channels_to, resolved.channels);
  insert(range_.kinds, call_kind(resolved));
  insert(range_.links, call_links(machine, resolved));
  insert(range_.launches, to_string(resolved.call.launch));
  insert(range_.collectives, to_string(resolved.call.collective));
}

void CaseProblem::add_sweep(const AllReduceSweep& sweep) {
  const AllReduceCase& entry = sweep.entry;
  const Machine& machine = add_machine(entry.machine, entry.sets);
  const Implementation implementation = implementation_of(entry);
  const CommunicatorSetup communicator = open_communicator(machine, implementation, entry.call);
  for (const AllReduceRow& row : sweep.rows) {
    if (row.size.value() < kSmallest) continue;
    Call call = entry.call;
    call.size = row.size;
    const ResolvedCall resolved = resolve_call(machine, implementation, communicator, call);
    const auto [at, added] = calls_.emplace(identity_of(entry, resolved), data_.calls.size());
    if (added) {
      evaluator_.add_call(machine, resolved);
      data_.calls.push_back(at->first);
    }
    widen_range(machine, resolved);
    const std::string transport = transport_name(resolved);
    observe(at->second, Seconds(row.published_us * 1e-6),
            fmt::format("{} {} {}", to_string(resolved.protocol), transport, to_string(call.launch)),
            {entry.case_id, machine.name, entry.name(), false, row.size, resolved.protocol, transport});
  }
}

void CaseProblem::add_matrix(const CaseMachine& entry, std::size_t index, const PublishedMatrix& matrix) {
  const MatrixReading reading = read_title(entry.case_id, index, matrix.name);
  if (!reading.kind) return;
  Machine& machine = add_machine(entry.machine, entry.sets);
  if (reading.peer_off) machine.p2p.enabled = false;
  struct Alike {
    std::size_t call = 0;
    std::string kind;
    std::vector<double> rates;
  };
  std::map<std::string, Alike> groups;
  for (std::size_t r = 0; r < matrix.rows.size(); ++r) {
    for (std::size_t c = 0; c < matrix.rows[r].size(); ++c) {
      const int from = static_cast<int>(r);
      const int to = static_cast<int>(c);
      if (r == c || !matrix.rows[r][c] || cell_left_out(entry.case_id, index, from, to)) continue;
      std::vector<CopyFlow> flows{{from, to}};
      if (*reading.kind == MatrixKind::bidir) flows.push_back({to, from});
      if (crosses_sockets(machine, flows)) continue;
      double sum = 0;
      for (const BytesPerSecond rate : fair_copies(machine, Profile(), Engine::copy, flows))
        sum += rate.value();
      const std::string kind = kind_of_copies(machine, flows);
      Alike& group = groups[fmt::format("{} {:.3f} GB/s", kind, sum / 1e9)];
      if (group.rates.empty()) {
        group.call = evaluator_.add_copies(machine, Engine::copy, flows);
        data_.calls.push_back(entry.case_id + ": " + matrix.name);
        group.kind = kind;
      }
      group.rates.push_back(*matrix.rows[r][c]);
    }
  }
  for (const auto& [key, group] : groups)
    observe(group.call, time_of_a_gigabyte(median(group.rates)), group.kind,
            {entry.case_id, machine.name, matrix.name, true, Bytes(0), Protocol::simple, ""});
}

void CaseProblem::add_copy_set(const PublishedCase& published, const CopySet& set) {
  const bool own_mechanism = set.note.rfind("staged by", 0) == 0;  // the family's, if not that of the priors
  if (set.total != Total::sum || (!set.note.empty() && !own_mechanism)) return;
  const Machine& machine = add_machine(set.machine, set.sets);
  if (crosses_sockets(machine, set.flows)) return;
  const double rate = set.carried ? *set.carried : figure(published, set.place) * set.scale;
  const std::size_t call = evaluator_.add_copies(machine, Engine::copy, set.flows);
  data_.calls.push_back(set.case_id + ": " + set.label);
  observe(call, time_of_a_gigabyte(rate), kind_of_copies(machine, set.flows),
          {set.case_id, machine.name, "copies at once", true, Bytes(0), Protocol::simple, ""});
}

std::vector<Param> CaseProblem::held() const {
  constexpr int hopper = 90;
  const bool before_hopper = std::any_of(machines_.begin(), machines_.end(), [](const Machine& machine) {
    return !machine.gpus.empty() && machine.gpus.front().sm < hopper;
  });
  return {before_hopper ? Param::pcie_copy_payload : Param::pcie_copy_payload_old};
}

std::vector<std::vector<std::size_t>> CaseProblem::by_case() const {
  std::map<std::string, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < about_.size(); ++i) {
    std::vector<std::size_t>& group = groups[about_[i].case_id];
    const std::size_t configuration = data_.observations[i].configuration;
    if (std::find(group.begin(), group.end(), configuration) == group.end()) group.push_back(configuration);
  }
  std::vector<std::vector<std::size_t>> list;
  for (const auto& [id, group] : groups) list.push_back(group);
  return list;
}

std::vector<double> CaseProblem::errors(const Profile& profile) const {
  std::vector<double> errors;
  for (const Observation& seen : data_.observations)
    errors.push_back(evaluator_.time(seen.call, profile).value() / seen.time.value() - 1);
  return errors;
}

lanecast::ErrorSummary held_out_errors(const HeldOuts& held, const std::function<bool(std::size_t)>& counts) {
  std::vector<ErrorSample> samples;
  for (std::size_t i = 0; i < held.size(); ++i) {
    if (held[i] && counts(i)) samples.push_back({{}, "", Bytes(0), held[i]->error, held[i]->covered});
  }
  return summarize(samples);
}

CaseFit fit_cases(const CaseProblem& problem, bool hold_out_cases) {
  const Profile generic;
  FitOptions options;
  options.held = problem.held();
  options.tolerance = 1e-6;  // few rows: valleys are flat, and a fit costs seconds
  CaseFit result{fit_profile(problem.data(), problem.evaluate(), generic, options), {}};
  const std::vector<std::vector<std::size_t>> groups = problem.by_case();
  if (hold_out_cases && groups.size() > 1)
    result.held = hold_out(problem.data(), problem.evaluate(), generic, result.fit, options, groups);
  return result;
}

}  // namespace lanecast::cases
