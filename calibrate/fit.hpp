#pragma once
#include <Eigen/Core>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/observation.hpp"
#include "model/profile/coordinate.hpp"

namespace lanecast {

struct FitOptions {
  int threads = 0;              // 0: one a core
  int starts = 1;               // the prior, and so many less one places around it
  std::uint64_t seed = 1;       // of those places
  int most_steps = 60;          // of the solver
  double tolerance = 1e-4;      // of cost and coordinates, at which a fit ends
  int rounds = 3;               // of finding each kind's spread and fitting again
  std::optional<Profile> from;  // where to begin; absent: at the start's values
  std::vector<Param> held;      // parameters that keep the start's value
  std::vector<Param> only;      // if any: all others keep it
};

/// What a fit gives. Coordinates are those of `coordinates`; behind them stand a logarithmic offset for each
/// session but the first, and one for first rows of sweeps.
struct FitResult {
  Profile profile;
  std::vector<Coordinate> coordinates;
  Eigen::VectorXd x;                // at the optimum, with nuisance terms
  Eigen::MatrixXd covariance;       // of x, with `undetermined` as they are held
  Eigen::VectorXd deviations;       // [coordinate] for intervals: `undetermined` may be off as priors say
  std::vector<double> spread;       // [kind] of log(measured / predicted)
  std::vector<double> residuals;    // [observation] log(measured / predicted), nuisance terms taken off
  std::vector<Param> undetermined;  // that calls depend on, but the data can't tell: they keep the start's
  std::vector<std::pair<Param, Param>> confounded;  // whose estimates go together (correlation above 0.95)
  std::vector<Param> at_edge;                       // ended at an end of their range
  double cost = 0;
  int evaluations = 0;
};

/// Robust weighted least squares of log time with priors, by Eigen's Levenberg-Marquardt.
///
/// Each observation gives the residual log(measured / predicted) / spread of its kind, flattened beyond 2
/// (pseudo-Huber); each parameter one of its distance from the prior. The spreads are found from the
/// residuals (median absolute deviation), in `rounds`. Parameters whose interval the data narrow by less than
/// a fifth keep the start's value.
/// @param weights  [configuration], of its observations; empty: 1 each. 0 leaves them out
/// @param spread   [kind] to begin with; empty: 0.05 each
/// @throws Error   kind usage: no observation is left
FitResult fit_profile(const FitData& data, const Evaluate& evaluate, const Profile& start,
                      const FitOptions& options, const std::vector<double>& weights = {},
                      const std::vector<double>& spread = {});

}  // namespace lanecast
