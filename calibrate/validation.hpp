#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "calibrate/fit.hpp"
#include "calibrate/observation.hpp"

namespace lanecast {

/// How far off a fit is for one observation that it did not see.
struct HeldOut {
  double error = 0;      // predicted / measured - 1
  double deviation = 0;  // of log time, as the fit's own covariance and spread say
  bool covered = false;  // measured lies within the 90 % band
};

/// [observation]; absent where it was not held out.
using HeldOuts = std::vector<std::optional<HeldOut>>;

/// Fits anew without each group of configurations in turn, and predicts what was left out.
///
/// Each fit begins at `whole`, which saw everything, and goes on to its own optimum; what its data can't tell
/// is the start's value, as in any fit.
/// @param groups  configurations to leave out together
HeldOuts hold_out(const FitData& data, const Evaluate& evaluate, const Profile& start, const FitResult& whole,
                  const FitOptions& options, const std::vector<std::vector<std::size_t>>& groups);

/// Configurations dealt out into `folds` groups, by seed.
std::vector<std::vector<std::size_t>> folds_of(std::size_t configurations, int folds, std::uint64_t seed);

/// [coordinate] 2.5th and 97.5th percentile of each parameter's value when configurations are drawn anew with
/// replacement, `draws` times. Rows of one sweep are not independent; sweeps nearly are.
struct BootstrapInterval {
  Param parameter{};
  double low = 0;
  double high = 0;
};

std::vector<BootstrapInterval> bootstrap(const FitData& data, const Evaluate& evaluate, const Profile& start,
                                         const FitResult& whole, const FitOptions& options, int draws,
                                         std::uint64_t seed);

/// Error on all other configurations after a fit to `configurations` of them, the mean over draws.
struct LearningPoint {
  int configurations = 0;
  double median = 0;
  double p95 = 0;
};

/// @param draws  subsets of each size
std::vector<LearningPoint> learning_curve(const FitData& data, const Evaluate& evaluate, const Profile& start,
                                          const FitOptions& options, int draws, std::uint64_t seed);

/// Configurations whose median error is far beyond the others' (more than 3.5 robust deviations): named, not
/// thrown away; the fit counts them less by itself.
std::vector<std::size_t> outlier_configurations(const FitData& data, const FitResult& fit);

}  // namespace lanecast
