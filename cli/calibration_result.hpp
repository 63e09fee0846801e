#pragma once
#include <string>
#include <vector>

#include "calibrate/validation.hpp"
#include "cli/calibration_problem.hpp"
#include "reports/calibration_report.hpp"

namespace lanecast {

/// A fit in the terms of reports and profiles.
class CalibrationResult {
 public:
  CalibrationResult(const CalibrationProblem& problem, const FitResult& fit) : problem_(problem), fit_(fit) {}

  void add_held_out(const std::string& title, HeldOuts held);

  /// Everything of the report that follows from the fit and from what was held out.
  void describe(CalibrationReport& report) const;

  /// The profile with the record of its fit. The spreads are those of calls that were held out, where any
  /// were.
  Profile profile(const std::vector<FitSource>& sources, const std::string& command) const;

 private:
  struct Held {
    std::string title;
    HeldOuts held;
  };

  ErrorTable table(const std::string& title, const std::vector<std::optional<HeldOut>>& errors) const;
  std::vector<std::optional<HeldOut>> own_errors() const;
  std::vector<FittedParameter> parameters() const;
  std::vector<double> covariance(const std::vector<FittedParameter>& parameters) const;
  std::vector<ResidualSpread> spreads() const;
  std::vector<HoldoutError> holdout_errors() const;

  const CalibrationProblem& problem_;
  const FitResult& fit_;
  std::vector<Held> held_;
};

/// The models of the GPUs that are present, each once.
std::vector<std::string> gpu_models_of(const Machine& machine);

}  // namespace lanecast
