#pragma once
#include <optional>
#include <string>
#include <vector>

#include "model/measured/comparison.hpp"
#include "model/measured/error_statistics.hpp"
#include "model/profile/profile.hpp"
#include "reports/document.hpp"
#include "reports/format.hpp"

namespace lanecast {

/// A parameter's interval by drawing configurations anew.
struct ResampledInterval {
  Param parameter{};
  double low = 0;  // 95 %
  double high = 0;
};

/// Errors of fits to some of the configurations, on all others.
struct LearningRow {
  int configurations = 0;
  double median_abs_error = 0;
  double p95_abs_error = 0;
};

/// Errors by kind of call, in place and out of place apart.
struct ErrorTable {
  std::string title;  // "fit", "held out: 5 folds of configurations"
  struct Row {
    std::string kind;   // "ll p2p"
    std::string place;  // "out of place", "in place", "both"
    ErrorSummary summary;
  };
  std::vector<Row> rows;
};

/// What `calibrate` found.
struct CalibrationReport {
  RunInfo run;
  std::string machine;
  std::string implementation;  // "nccl", "lanecast"
  std::string profile_file;    // that was written; empty: none
  Profile profile;             // with its `fit`
  int observations = 0;
  int configurations = 0;
  int evaluations = 0;
  double fit_seconds = 0;
  double validation_seconds = 0;
  std::vector<ErrorTable> errors;
  std::vector<ResampledInterval> bootstrap;
  std::vector<LearningRow> learning;
  std::vector<std::string> outliers;     // configurations
  std::vector<std::string> confounded;   // "simple.peer.send and simple.peer.reduce_send"
  std::vector<std::string> at_edge;      // parameters
  std::optional<double> verified_error;  // largest difference of the fast evaluator to SimGrid, as a share
  std::vector<LeftOutRows> left_out;
  std::vector<Warning> warnings;
};

/// The document in a format (docs/calibration.md); CSV holds the parameters.
std::string calibration_text(const CalibrationReport& report, Format format);

}  // namespace lanecast
