#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/predict/prediction.hpp"
#include "reports/document.hpp"
#include "reports/format.hpp"
#include "reports/prediction_row.hpp"
#include "reports/why_report.hpp"

namespace lanecast {

/// The predictions of one command: one collective on one machine, one point a size.
struct PredictionReport {
  RunInfo run;
  std::string machine;
  std::string profile;
  std::string implementation;
  bool simulated = true;                                // false: the times are NCCL's own estimates
  std::map<std::string, std::string> nccl_environment;  // variables in force, as given
  std::vector<int> gpus;                                // that take part, by index
  std::uint64_t seed = 1;
  std::vector<Prediction> predictions;  // at least one
  std::optional<WhyReport> why;         // with `--why`
};

/// Every warning of the predictions once, in the order of their first appearance.
std::vector<Warning> unique_warnings(const std::vector<Prediction>& predictions);

/// The document in a format. Table and markdown show the main columns; JSON and CSV hold every key
/// (docs/commands.md).
std::string prediction_text(const PredictionReport& report, Format format);

}  // namespace lanecast
