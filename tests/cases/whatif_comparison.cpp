#include "tests/cases/whatif_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "configs/profile_choice.hpp"
#include "model/error.hpp"
#include "sim/predict.hpp"
#include "tests/cases/case_machines.hpp"
#include "tests/cases/errors.hpp"
#include "tests/cases/family_table.hpp"
#include "tests/cases/matrix_comparison.hpp"

namespace lanecast::cases {
namespace {

using Texts = std::vector<std::string>;

/// What of `all` is not in `others`.
Texts without(const Texts& all, const Texts& others) {
  Texts left;
  for (const std::string& one : all) {
    if (std::find(others.begin(), others.end(), one) == others.end()) left.push_back(one);
  }
  return left;
}

std::string joined(const Texts& texts) { return fmt::format("{}", fmt::join(texts, " ")); }

Texts set_flags(const Texts& sets) {
  Texts flags;
  for (const std::string& set : sets) flags.push_back("--set " + set);
  return flags;
}

std::string flows_text(const std::vector<CopyFlow>& flows) {
  const auto end = [](const std::optional<int>& gpu) { return gpu ? std::to_string(*gpu) : "host"; };
  Texts copies;
  for (const CopyFlow& flow : flows) copies.push_back(end(flow.source) + ">" + end(flow.destination));
  return fmt::format("{}", fmt::join(copies, ","));
}

bool same_flows(const CopySet& a, const CopySet& b) {
  return std::equal(a.flows.begin(), a.flows.end(), b.flows.begin(), b.flows.end(),
                    [](const CopyFlow& one, const CopyFlow& other) {
                      return one.source == other.source && one.destination == other.destination;
                    });
}

std::string copies_text(const std::vector<CopyFlow>& flows) {
  constexpr std::size_t most = 8;  // beyond, a cell says only how many
  return flows.size() > most ? std::to_string(flows.size()) + " copies" : "copies " + flows_text(flows);
}

/// Flags of the machine and, where the copies themselves differ, of these.
Texts copy_flags(const CopySet& set, bool with_flows) {
  Texts flags = set_flags(set.sets);
  if (with_flows) flags.push_back("--flows '" + flows_text(set.flows) + "'");
  return flags;
}

Texts all_reduce_flags(const AllReduceCase& entry) {
  Texts flags = set_flags(entry.sets);
  for (const NcclSetting& setting : entry.environment)
    flags.push_back("--nccl-env " + setting.name + "=" + setting.value);
  return flags;
}

bool fitted_to(const std::string& profile, const Texts& case_ids) {
  for (const GpuFamily& family : gpu_families()) {
    if (family.profile != profile) continue;
    return std::any_of(family.cases.begin(), family.cases.end(), [&](const std::string& id) {
      return std::find(case_ids.begin(), case_ids.end(), id) != case_ids.end();
    });
  }
  return false;
}

/// The shipped profile that `--profile auto` takes; nothing where it is `generic`.
std::optional<Profile> family_profile_of(const Machine& machine, const Implementation& implementation) {
  const Profile chosen = choose_profile("auto", machine, implementation).profile;
  if (chosen.name == Profile().name) return std::nullopt;
  return chosen;
}

template <class Predict>
void add_family(WhatIfRow& row, const std::optional<Profile>& profile, const Texts& case_ids,
                const Predict& predict_with) {
  if (profile) row.family = {profile->name, fitted_to(profile->name, case_ids), predict_with(*profile)};
}

WhatIfRow copy_row(const CopyWhatIf& pair, const ChangedFigure& published) {
  const bool other_copies = !same_flows(pair.before, pair.after);
  const auto predict_with = [&](const Profile& profile) {
    return ChangedFigure{predicted_total(pair.before, profile),
                         predicted_total(pair.after, profile, pair.after_engine)};
  };
  WhatIfRow row;
  row.kind = pair.kind;
  row.source = pair.source;
  row.machine = pair.before.machine;
  row.change = change_text(copy_flags(pair.before, other_copies), copy_flags(pair.after, other_copies));
  row.measured = other_copies ? "copies, in total" : copies_text(pair.after.flows);
  row.published = published;
  row.predicted = predict_with(Profile());
  row.note = pair.note;
  add_family(row, family_profile_of(machine_of(row.machine, {}), implementation_from_string("nccl")),
             {pair.before.case_id, pair.after.case_id}, predict_with);
  return row;
}

/// Median over some cells of a matrix, GB/s.
using Cells = std::vector<std::pair<int, int>>;

template <class Rows>
double median_of(const Rows& rows, const Cells& cells) {
  std::vector<double> values;
  for (const auto& [from, to] : cells)
    values.push_back(*rows.at(static_cast<std::size_t>(from)).at(static_cast<std::size_t>(to)));
  return median(values);
}

/// Matrices of one kind with and without peer access, by their places in the case.
struct MatrixPair {
  std::optional<std::size_t> off;
  std::optional<std::size_t> on;
};

std::map<MatrixKind, MatrixPair> matrix_pairs(const PublishedCase& published) {
  std::map<MatrixKind, MatrixPair> pairs;
  for (std::size_t i = 0; i < published.matrices.size(); ++i) {
    const MatrixReading reading = read_title(published.id, i, published.matrices[i].name);
    if (reading.kind) (reading.peer_off ? pairs[*reading.kind].off : pairs[*reading.kind].on) = i;
  }
  return pairs;
}

std::map<CopyWay, Cells> cells_by_way(const PublishedCase& published, const MatrixPair& pair,
                                      const Machine& machine) {
  std::map<CopyWay, Cells> ways;
  const int gpus = static_cast<int>(machine.gpus.size());
  for (int from = 0; from < gpus; ++from) {
    for (int to = 0; to < gpus; ++to) {
      if (from == to || cell_left_out(published.id, *pair.on, from, to)) continue;
      ways[way_of(machine, from, to)].emplace_back(from, to);
    }
  }
  return ways;
}

void add_matrix_rows(const PeerMatrices& entry, const PublishedCase& published, MatrixKind kind,
                     const MatrixPair& pair, std::vector<WhatIfRow>& rows) {
  const Machine on = machine_of(entry.machine, {});
  const Machine off = machine_of(entry.machine, peer_access_off());
  const auto family = family_profile_of(on, implementation_from_string("nccl"));
  for (const auto& [way, group] : cells_by_way(published, pair, on)) {
    const Cells& cells = group;
    const auto predict_with = [&](const Profile& profile) {
      return ChangedFigure{median_of(copy_matrix(off, profile, Engine::copy, kind).rows, cells),
                           median_of(copy_matrix(on, profile, Engine::copy, kind).rows, cells)};
    };
    WhatIfRow row;
    row.source = published.id;
    row.machine = entry.machine;
    row.change = change_text(set_flags(peer_access_off()), {});
    row.measured =
        fmt::format("matrix {}, {}, median of {}", kind == MatrixKind::bidir ? "both ways" : "one way",
                    to_string(way), cells.size());
    row.published = {median_of(published.matrices[*pair.off].rows, cells),
                     median_of(published.matrices[*pair.on].rows, cells)};
    row.predicted = predict_with(Profile());
    add_family(row, family, {published.id}, predict_with);
    rows.push_back(std::move(row));
  }
}

void add_all_matrices(const std::vector<PublishedCase>& cases, std::vector<WhatIfRow>& rows) {
  for (const PeerMatrices& entry : peer_matrices()) {
    const PublishedCase& published = find_case(cases, entry.case_id);
    for (const auto& [kind, pair] : matrix_pairs(published)) {
      if (pair.off && pair.on) add_matrix_rows(entry, published, kind, pair, rows);
    }
  }
}

double published_busbw(const std::vector<AllReduceSweep>& sweeps, const AllReduceSide& side, Bytes size) {
  if (side.carried) return *side.carried;
  const AllReduceCase& entry = side.entry;
  const std::size_t ranks =
      entry.call.ranks.empty() ? machine_of(entry.machine, entry.sets).gpus.size() : entry.call.ranks.size();
  for (const AllReduceSweep& sweep : sweeps) {
    if (sweep.entry.name() != entry.name()) continue;
    for (const AllReduceRow& row : sweep.rows) {
      if (row.size != size) continue;
      const Seconds time(row.published_us * 1e-6);
      return (size / time).value() / 1e9 * busbw_factor(Collective::all_reduce, static_cast<int>(ranks));
    }
  }
  throw Error(ErrorKind::usage, fmt::format("there is no row of {} bytes", size.value()), entry.name(),
              "bring tests/cases/whatif_all_reduce_table.cpp up to date");
}

/// busbw in GB/s for each of the pair's sizes.
std::vector<double> predicted_busbw(const AllReduceSide& side, const std::vector<Bytes>& sizes,
                                    const Profile& profile) {
  const AllReduceCase& entry = side.entry;
  std::vector<Call> calls;
  for (const Bytes size : side.mean_over.empty() ? sizes : side.mean_over) {
    calls.push_back(entry.call);
    calls.back().size = size;
  }
  std::vector<double> rates;
  for (const Prediction& one :
       predict(machine_of(entry.machine, entry.sets), profile, implementation_of(entry), calls, {}))
    rates.push_back(one.busbw().value() / 1e9);
  if (side.mean_over.empty()) return rates;
  double sum = 0;
  for (const double rate : rates) sum += rate;
  return std::vector<double>(sizes.size(), sum / static_cast<double>(rates.size()));
}

std::string size_text(Bytes size) {
  const std::uint64_t kib = size.value() >> 10;
  return kib >= 1024 ? fmt::format("{} MiB", kib >> 10) : fmt::format("{} KiB", kib);
}

std::vector<ChangedFigure> predicted_pairs(const AllReduceWhatIf& pair, const Profile& profile) {
  const std::vector<double> before = predicted_busbw(pair.before, pair.sizes, profile);
  const std::vector<double> after = predicted_busbw(pair.after, pair.sizes, profile);
  std::vector<ChangedFigure> figures;
  for (std::size_t i = 0; i < pair.sizes.size(); ++i) figures.push_back({before[i], after[i]});
  return figures;
}

void add_all_reduce_rows(const AllReduceWhatIf& pair, const std::vector<AllReduceSweep>& sweeps,
                         std::vector<WhatIfRow>& rows) {
  const AllReduceCase& first = pair.before.entry;
  const AllReduceCase& second = pair.after.entry;
  const Texts before = all_reduce_flags(first);
  const Texts after = all_reduce_flags(second);
  const auto family = family_profile_of(machine_of(first.machine, first.sets), implementation_of(first));
  const std::vector<ChangedFigure> predicted = predicted_pairs(pair, Profile());
  const std::vector<ChangedFigure> by_family =
      family ? predicted_pairs(pair, *family) : std::vector<ChangedFigure>{};
  for (std::size_t i = 0; i < pair.sizes.size(); ++i) {
    WhatIfRow row;
    row.kind = pair.kind;
    row.source = first.case_id + (second.case_id == first.case_id ? "" : ", " + second.case_id);
    const std::string common = joined(without(before, without(before, after)));
    row.machine = first.machine + (common.empty() ? "" : " " + common);
    row.change = change_text(before, after);
    row.measured = "all-reduce, " + size_text(pair.sizes[i]);
    row.published = {published_busbw(sweeps, pair.before, pair.sizes[i]),
                     published_busbw(sweeps, pair.after, pair.sizes[i])};
    row.predicted = predicted[i];
    row.note = pair.note;
    add_family(row, family, {first.case_id, second.case_id}, [&](const Profile&) { return by_family[i]; });
    rows.push_back(std::move(row));
  }
}

}  // namespace

std::string change_text(const Texts& before, const Texts& after) {
  const auto text = [](const Texts& flags) { return flags.empty() ? "as the file" : joined(flags); };
  return text(without(before, after)) + " -> " + text(without(after, before));
}

std::vector<WhatIfRow> compare_what_ifs(const std::vector<PublishedCase>& cases) {
  std::vector<WhatIfRow> rows;
  add_all_matrices(cases, rows);
  for (const CopyWhatIf& pair : copy_what_ifs())
    rows.push_back(copy_row(pair, {published_total(cases, pair.before), published_total(cases, pair.after)}));
  const std::vector<AllReduceSweep> sweeps = published_sweeps(cases);
  for (const AllReduceWhatIf& pair : all_reduce_what_ifs()) add_all_reduce_rows(pair, sweeps, rows);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const WhatIfRow& a, const WhatIfRow& b) { return a.kind < b.kind; });
  return rows;
}

std::vector<WhatIfRow> compare_cited_what_ifs() {
  std::vector<WhatIfRow> rows;
  for (const CopyWhatIf& pair : cited_what_ifs())
    rows.push_back(copy_row(pair, {*pair.before.carried, *pair.after.carried}));
  return rows;
}

}  // namespace lanecast::cases
