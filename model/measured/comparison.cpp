#include "model/measured/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/measured/call_join.hpp"

namespace lanecast {
namespace {

std::optional<Protocol> protocol_of(const CallKeys& keys) {
  const std::optional<std::string>& name = keys[CallKey::protocol];
  return name ? protocol_from_string(*name) : std::nullopt;
}

bool is_time(Seconds time) { return std::isfinite(time.value()) && time.value() > 0; }

/// Why a measured row does not count, and whether the user said so; empty: it counts.
std::pair<std::string, bool> refusal(const MeasuredCall& call, const ComparisonOptions& options) {
  if (call.call.in_place != options.in_place)
    return {options.in_place ? "out of place (without `--in-place` they count)"
                             : "in place (with `--in-place` they count)",
            true};
  if (options.min_size && call.call.size < *options.min_size) return {"below `--min-size`", true};
  if (!options.only.passes(keys_of(call), true)) return {"not what `--only` names", true};
  if (call.wrong.value_or(0) > 0) return {wrong_results, false};
  if (!is_time(call.time)) return {"no time above 0", false};
  return {};
}

/// "measured nccl-2.28, predicted lanecast"; empty where both may be the same.
std::string implementation_difference(const ComparedRow& row) {
  const std::string& a = row.measured.implementation;
  const std::string& b = row.predicted.implementation;
  if (a.empty() || b.empty() || a.rfind(b, 0) == 0 || b.rfind(a, 0) == 0) return "";
  return "measured is " + a + ", predicted is " + b;
}

std::string launch_difference(const ComparedRow& row) {
  const bool stated = row.measured.stated.launch && row.predicted.stated.launch;
  if (!stated || row.measured.call.launch == row.predicted.call.launch) return "";
  return std::string("measured are ") + to_string(row.measured.call.launch) + " launches, predicted are " +
         to_string(row.predicted.call.launch) +
         " launches: small sizes differ by what the host takes for each";
}

void add_difference(const std::string& text, std::vector<std::string>& differences) {
  if (!text.empty() && std::find(differences.begin(), differences.end(), text) == differences.end())
    differences.push_back(text);
}

}  // namespace

std::optional<bool> ComparedRow::within() const {
  if (!predicted.time_low || !predicted.time_high || *predicted.time_low >= *predicted.time_high)
    return std::nullopt;
  return *predicted.time_low <= measured.time && measured.time <= *predicted.time_high;
}

CallKeys keys_of(const ComparedRow& row) {
  CallKeys keys = keys_of(row.measured);
  const CallKeys predicted = keys_of(row.predicted);
  for (std::size_t i = 0; i < call_key_count; ++i) {
    const auto key = static_cast<CallKey>(i);
    if (!keys[key]) keys[key] = predicted[key];
  }
  return keys;
}

ErrorSample sample_of(const ComparedRow& row) {
  const CallKeys keys = keys_of(row);
  return {protocol_of(keys), keys[CallKey::transport].value_or(""), row.measured.call.size, row.error(),
          row.within()};
}

std::vector<ErrorSample> samples_of(const std::vector<ComparedRow>& rows) {
  std::vector<ErrorSample> samples;
  for (const ComparedRow& row : rows) samples.push_back(sample_of(row));
  return samples;
}

std::vector<ErrorSample> nccl_samples_of(const std::vector<ComparedRow>& rows) {
  std::vector<ErrorSample> samples;
  for (const ComparedRow& row : rows) {
    if (!row.nccl_model) continue;
    ErrorSample sample = sample_of(row);
    sample.error = *row.nccl_model / row.measured.time - 1;
    sample.within.reset();
    samples.push_back(std::move(sample));
  }
  return samples;
}

void leave_out(std::vector<LeftOutRows>& left_out, const std::string& reason, const std::string& where,
               bool asked_for) {
  const auto at = std::find_if(left_out.begin(), left_out.end(),
                               [&](const LeftOutRows& rows) { return rows.reason == reason; });
  if (at != left_out.end()) {
    ++at->rows;
  } else {
    left_out.push_back({reason, 1, where, asked_for});
  }
}

std::vector<MeasuredCall> selected_calls(const std::vector<MeasuredCall>& measured,
                                         const ComparisonOptions& options,
                                         std::vector<LeftOutRows>& left_out) {
  std::vector<MeasuredCall> selected;
  for (const MeasuredCall& call : measured) {
    const auto [reason, asked_for] = refusal(call, options);
    if (reason.empty()) {
      selected.push_back(call);
    } else {
      leave_out(left_out, reason, call.where, asked_for);
    }
  }
  return selected;
}

CallComparison arranged(std::vector<ComparedRow> rows, const ComparisonOptions& options,
                        std::vector<LeftOutRows> left_out) {
  CallComparison comparison;
  comparison.left_out = std::move(left_out);
  for (ComparedRow& row : rows) {
    if (!options.only.passes(keys_of(row), false)) {
      leave_out(comparison.left_out, "not what `--only` names", row.measured.where, true);
      continue;
    }
    add_difference(implementation_difference(row), comparison.differences);
    add_difference(launch_difference(row), comparison.differences);
    const bool apart = row.first_of_sweep() && !options.first_rows;
    (apart ? comparison.first_rows : comparison.rows).push_back(std::move(row));
  }
  return comparison;
}

CallComparison compare_calls(const std::vector<MeasuredCall>& measured,
                             const std::vector<PredictedCall>& predicted, const ComparisonOptions& options) {
  std::vector<LeftOutRows> left_out;
  const std::vector<MeasuredCall> selected = selected_calls(measured, options, left_out);
  std::vector<ComparedRow> rows = joined_calls(selected, predicted, left_out);
  return arranged(std::move(rows), options, std::move(left_out));
}

}  // namespace lanecast
