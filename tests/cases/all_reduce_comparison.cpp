#include "tests/cases/all_reduce_comparison.hpp"

#include <fmt/format.h>

#include <bit>
#include <limits>
#include <utility>

#include "model/implementation/communicator.hpp"
#include "model/predict/alternatives.hpp"
#include "sim/predict.hpp"
#include "tests/cases/case_machines.hpp"
#include "tests/cases/errors.hpp"

namespace lanecast::cases {
namespace {

constexpr std::uint64_t kSmallest = 1024;
constexpr std::uint64_t kLarge = 4u << 20;

/// Time of one row, however the source gives it; nothing for rows without a size or a plain number.
std::optional<double> published_us(const YAML::Node& row, double busbw_factor) {
  const auto number = [&](const char* key) -> std::optional<double> {
    double value = 0;
    const YAML::Node node = row[key];
    if (!node || !YAML::convert<double>::decode(node, value)) return std::nullopt;
    return value;
  };
  if (!number("size_bytes")) return std::nullopt;
  if (const auto time = number("time_us")) return time;
  if (const auto time = number("oop_time_us")) return time;
  if (const auto time = number("oop_time_ms")) return *time * 1e3;
  if (const auto rate = number("busbw_GBps")) return *number("size_bytes") * busbw_factor / (*rate * 1e3);
  return std::nullopt;
}

std::vector<double> errors_of(const AllReduceComparison& comparison, std::uint64_t from) {
  std::vector<double> errors;
  for (const AllReducePoint& point : comparison.points) {
    if (point.predicted && point.size.value() >= from) errors.push_back(point.error_of(*point.predicted));
  }
  return errors;
}

/// NaN where a sweep has no row of the kind, which percent() prints as "-".
ErrorSummary summary_of(const std::vector<double>& errors) {
  if (!errors.empty()) return summarise(errors);
  const double none = std::numeric_limits<double>::quiet_NaN();
  return {0, none, none, none, none};
}

bool kept(const AllReduceComparison& comparison, const AllReducePoint& point) {
  return comparison.points.size() <= 12 || std::countr_zero(point.size.value()) % 2 == 0;
}

Call call_of(const AllReduceCase& entry, Bytes size) {
  Call call = entry.call;
  call.size = size;
  return call;
}

AllReduceComparison choose(const AllReduceSweep& sweep, const Profile& profile) {
  const AllReduceCase& entry = sweep.entry;
  const Machine machine = machine_of(entry.machine, entry.sets);
  const Implementation implementation = implementation_of(entry);
  const CommunicatorSetup communicator = open_communicator(machine, implementation, entry.call);
  AllReduceComparison comparison{entry, communicator.channels(), {}};
  for (const AllReduceRow& row : sweep.rows) {
    AllReducePoint point{row.size, row.published_us, {}, {}};
    if (entry.not_reckoned.empty())
      point.nccl = nccl_estimate(machine, profile, implementation, communicator, call_of(entry, row.size));
    comparison.points.push_back(std::move(point));
  }
  return comparison;
}

void add_predictions(AllReduceComparison& comparison, const Profile& profile) {
  const AllReduceCase& entry = comparison.entry;
  if (!entry.not_simulated.empty()) return;
  std::vector<Call> calls;
  for (const AllReducePoint& point : comparison.points) calls.push_back(call_of(entry, point.size));
  const std::vector<Prediction> predictions =
      predict(machine_of(entry.machine, entry.sets), profile, implementation_of(entry), calls, {});
  for (std::size_t i = 0; i < calls.size(); ++i) comparison.points[i].predicted = predictions[i];
}

}  // namespace

std::vector<AllReduceSweep> published_sweeps(const std::vector<PublishedCase>& cases) {
  std::vector<AllReduceSweep> sweeps;
  for (const AllReduceCase& entry : all_reduce_cases()) {
    const std::size_t ranks = entry.call.ranks.empty() ? machine_of(entry.machine, entry.sets).gpus.size()
                                                       : entry.call.ranks.size();
    const double factor = busbw_factor(Collective::all_reduce, static_cast<int>(ranks));
    AllReduceSweep sweep{entry, {}};
    for (const YAML::Node& row :
         matching_entries(find_case(cases, entry.case_id), entry.list, entry.entries)) {
      const auto time = published_us(row, factor);
      if (!time || row["size_bytes"].as<std::uint64_t>() < kSmallest) continue;
      sweep.rows.push_back({Bytes(row["size_bytes"].as<std::uint64_t>()), *time});
    }
    sweeps.push_back(std::move(sweep));
  }
  return sweeps;
}

std::vector<AllReduceComparison> choose_all_reduce(const std::vector<AllReduceSweep>& sweeps,
                                                   const Profile& profile) {
  std::vector<AllReduceComparison> comparisons;
  for (const AllReduceSweep& sweep : sweeps) comparisons.push_back(choose(sweep, profile));
  return comparisons;
}

std::vector<AllReduceComparison> compare_all_reduce(const std::vector<AllReduceSweep>& sweeps,
                                                    const Profile& profile) {
  std::vector<AllReduceComparison> comparisons = choose_all_reduce(sweeps, profile);
  for (AllReduceComparison& comparison : comparisons) add_predictions(comparison, profile);
  return comparisons;
}

Grid all_reduce_summary(const std::vector<AllReduceComparison>& comparisons) {
  Grid grid;
  grid.columns = {{"case", "", 0, false},
                  {"rows", "", 0, true},
                  {"median |error|", "", 0, true},
                  {"p95", "", 0, true},
                  {"rows >= 4 MiB", "", 0, true},
                  {"median |error| >= 4 MiB", "", 0, true},
                  {"median error >= 4 MiB", "", 0, true},
                  {"not stated", "", 0, false}};
  for (const AllReduceComparison& one : comparisons) {
    if (!one.entry.not_simulated.empty()) continue;
    const ErrorSummary all = summary_of(errors_of(one, kSmallest));
    const ErrorSummary large = summary_of(errors_of(one, kLarge));
    grid.rows.push_back({one.entry.name(), std::to_string(all.count), percent(all.median_abs),
                         percent(all.p95_abs), std::to_string(large.count), percent(large.median_abs),
                         signed_percent(large.median),
                         one.entry.not_stated.empty() ? "(a stated case)" : one.entry.not_stated});
  }
  return grid;
}

Grid all_reduce_points(const std::vector<AllReduceComparison>& comparisons, bool sparse) {
  Grid grid;
  grid.columns = {{"case", "", 0, false},      {"size", "(B)"},           {"published", "(us)"},
                  {"predicted", "(us)"},       {"error", "", 0, true},    {"protocol", "", 0, false},
                  {"transport", "", 0, false}, {"channels", "", 0, true}, {"limited by", "", 0, false}};
  for (const AllReduceComparison& one : comparisons) {
    for (const AllReducePoint& point : one.points) {
      if (!point.predicted || (sparse && !kept(one, point))) continue;
      const Prediction& p = *point.predicted;
      const std::string link = p.bottleneck
                                   ? fmt::format("{} {}, {:.0f} %", p.bottleneck->link,
                                                 p.bottleneck->direction, p.bottleneck->utilization * 100)
                                   : "-";
      grid.rows.push_back({one.entry.name(), std::to_string(point.size.value()),
                           two_decimals(point.published_us), two_decimals(p.time.value() * 1e6),
                           signed_percent(point.error_of(p)), to_string(p.protocol), p.transport,
                           std::to_string(p.channels), link});
    }
  }
  return grid;
}

}  // namespace lanecast::cases
