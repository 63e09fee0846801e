#include "cli/compare_inputs.hpp"

#include <utility>

#include "configs/plain_text.hpp"

namespace lanecast {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 28U;

std::string text_of(const std::string& file) { return read_plain_text(file, kMostBytes, "lanecast compare"); }

std::string shown_name(const std::string& file) { return file == "-" ? "stdin" : file; }

MeasuredData measured_file(const std::string& file) {
  const std::string text = text_of(file);
  if (!is_prediction(text)) return read_measured(text, shown_name(file));
  PredictedData predicted = read_predicted(text, shown_name(file));
  MeasuredData data;
  for (const PredictedCall& call : predicted.calls) data.calls.push_back(as_measured(call));
  data.matrices = std::move(predicted.matrices);
  return data;
}

/// Of calls that say nothing of it.
void fill_implementation(const std::string& implementation, MeasuredData& data) {
  MeasuredDefaults defaults;
  defaults.implementation = implementation;
  for (MeasuredCall& call : data.calls) {
    if (!call.implementation.empty()) continue;
    MeasuredData one;
    one.calls.push_back(std::move(call));
    apply(defaults, one);
    call = std::move(one.calls.front());
  }
}

}  // namespace

MeasuredData read_measured_side(const std::vector<std::string>& files, const MeasuredDefaults& defaults,
                                const std::string& implementation) {
  std::vector<MeasuredData> read;
  for (const std::string& file : files) read.push_back(measured_file(file));
  MeasuredData data = read.size() == 1 ? std::move(read.front()) : merge_measured(std::move(read));
  if (!implementation.empty()) fill_implementation(implementation, data);
  apply(defaults, data);
  return data;
}

PredictedData read_predicted_side(const std::string& file, std::vector<Warning>& warnings) {
  const std::string text = text_of(file);
  if (is_prediction(text)) return read_predicted(text, shown_name(file));
  MeasuredData measured = read_measured(text, shown_name(file));
  PredictedData data;
  for (const MeasuredCall& call : measured.calls) {
    if (call.wrong.value_or(0) == 0) data.calls.push_back(as_predicted(call));
  }
  data.matrices = std::move(measured.matrices);
  warnings.insert(warnings.end(), measured.warnings.begin(), measured.warnings.end());
  return data;
}

}  // namespace lanecast
