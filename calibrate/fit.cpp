#include "calibrate/fit.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <unsupported/Eigen/NonLinearOptimization>

#include "calibrate/residuals.hpp"
#include "model/error.hpp"

namespace lanecast {
namespace {

constexpr double kLeastSpread = 0.01;  // of a kind: below, what repeats differ by decides
constexpr double kMostSpread = 0.25;
constexpr double kLeastGain = 0.9;    // of the prior's interval: wider than this, the data have not told
constexpr double kConfounded = 0.95;  // correlation
constexpr double kMadToSd = 1.4826;   // of a normal distribution

void check_any_left(const FitData& data, const std::vector<double>& weights) {
  const auto& seen = data.observations;
  if (std::any_of(seen.begin(), seen.end(),
                  [&](const Observation& one) { return weights.empty() || weights[one.configuration] > 0; }))
    return;
  throw Error(ErrorKind::usage, "no measured call is left to fit to", "calibrate",
              "give more data, or hold out less");
}

/// Those parameters that any call's time depends on, at the start; those that are named, where any are.
std::vector<Coordinate> relevant(const FitData& data, const Evaluate& evaluate, const Profile& start,
                                 const FitOptions& options, const std::vector<double>& weights) {
  std::vector<Coordinate> all;
  for (std::size_t i = 0; i < parameter_count; ++i) {
    const auto parameter = static_cast<Param>(i);
    const bool held = std::find(options.held.begin(), options.held.end(), parameter) != options.held.end();
    const ParameterInfo& about = info(parameter);
    const bool wanted = options.only.empty() ||
                        std::find(options.only.begin(), options.only.end(), parameter) != options.only.end();
    if (!wanted || held || group_of(parameter) == ParameterGroup::band || about.high <= about.low) continue;
    all.emplace_back(parameter);
  }
  if (!options.only.empty()) return all;
  const Residuals residuals(data, evaluate, start, all, weights, options.threads);
  const Eigen::MatrixXd derivatives = residuals.log_derivatives(residuals.start());
  std::vector<Coordinate> kept;
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (derivatives.col(static_cast<Eigen::Index>(k)).cwiseAbs().maxCoeff() > 1e-6) kept.push_back(all[k]);
  }
  return kept;
}

/// Coordinates that ended beyond their range, moved to its end.
void move_into_range(const std::vector<Coordinate>& coordinates, Eigen::VectorXd& x) {
  for (std::size_t k = 0; k < coordinates.size(); ++k) {
    double& at = x[static_cast<Eigen::Index>(k)];
    at -= coordinates[k].beyond(at);
  }
}

void minimise(const Residuals& residuals, const FitOptions& options, Eigen::VectorXd& x) {
  Eigen::LevenbergMarquardt<const Residuals> solver(residuals);
  solver.parameters.maxfev = options.most_steps;
  solver.parameters.xtol = options.tolerance;
  solver.parameters.ftol = options.tolerance;
  solver.parameters.factor = 1.0;
  solver.minimize(x);
  move_into_range(residuals.coordinates(), x);
}

double cost_at(const Residuals& residuals, const Eigen::VectorXd& x) {
  Eigen::VectorXd values;
  residuals(x, values);
  return 0.5 * values.squaredNorm();
}

/// Robust spread of each kind, from the residuals of the observations that the fit used.
std::vector<double> spreads(const FitData& data, const Residuals& residuals,
                            const std::vector<double>& errors, const std::vector<double>& before) {
  std::vector<std::vector<double>> of_kind(data.kinds.size());
  for (const std::size_t i : residuals.used()) {
    const Observation& seen = data.observations[i];
    if (!seen.first_of_sweep) of_kind[seen.kind].push_back(std::abs(errors[i]));
  }
  std::vector<double> result = before;
  for (std::size_t k = 0; k < of_kind.size(); ++k) {
    if (of_kind[k].size() < 5) continue;
    auto middle = of_kind[k].begin() + static_cast<std::ptrdiff_t>(of_kind[k].size() / 2);
    std::nth_element(of_kind[k].begin(), middle, of_kind[k].end());
    result[k] = std::clamp(kMadToSd * *middle, kLeastSpread, kMostSpread);
  }
  return result;
}

struct Optimum {
  Eigen::VectorXd x;
  std::vector<double> spread;
  double cost = 0;
  int evaluations = 0;
};

Optimum optimise(const FitData& data, Residuals& residuals, Eigen::VectorXd x, const FitOptions& options,
                 int rounds) {
  for (int round = 0; round < rounds; ++round) {
    minimise(residuals, options, x);
    if (round + 1 < rounds)
      residuals.spread = spreads(data, residuals, residuals.log_errors(x), residuals.spread);
  }
  return {x, residuals.spread, cost_at(residuals, x), residuals.evaluations()};
}

/// The best of several starts; each finds its own spreads, so that costs are compared at those of the first.
Optimum best_of_starts(const FitData& data, Residuals& residuals, const FitOptions& options) {
  Optimum best = optimise(data, residuals, options.from ? residuals.at(*options.from) : residuals.start(),
                          options, options.rounds);
  std::mt19937_64 random(options.seed);
  std::normal_distribution<double> normal(0.0, 0.5);
  for (int start = 1; start < options.starts; ++start) {
    Eigen::VectorXd x = residuals.start();
    for (std::size_t k = 0; k < residuals.coordinates().size(); ++k)
      x[static_cast<Eigen::Index>(k)] += normal(random) * residuals.coordinates()[k].prior_sd();
    residuals.spread = best.spread;
    const Optimum other = optimise(data, residuals, x, options, 1);
    if (other.cost < best.cost) best = other;
  }
  residuals.spread = best.spread;
  return best;
}

Eigen::MatrixXd information_at(const Residuals& residuals, const Eigen::VectorXd& x) {
  Eigen::MatrixXd jacobian;
  residuals.df(x, jacobian);
  return jacobian.transpose() * jacobian;
}

Eigen::MatrixXd inverse(const Eigen::MatrixXd& information) {
  return information.ldlt().solve(Eigen::MatrixXd::Identity(information.rows(), information.cols()));
}

/// Parameters whose interval the data hardly narrow. One at a time, the widest first: of two that the data
/// know only the sum of, one is told once the other is held.
std::vector<std::size_t> untold(const std::vector<Coordinate>& coordinates,
                                const Eigen::MatrixXd& information) {
  std::vector<std::size_t> dropped;
  std::vector<Eigen::Index> kept;
  for (Eigen::Index k = 0; k < information.rows(); ++k) kept.push_back(k);
  while (true) {
    const Eigen::MatrixXd covariance = inverse(information(kept, kept));
    double widest = kLeastGain;
    std::size_t which = kept.size();
    for (std::size_t k = 0; k < kept.size(); ++k) {
      const auto parameter = static_cast<std::size_t>(kept[k]);
      if (parameter >= coordinates.size()) continue;
      const auto at = static_cast<Eigen::Index>(k);
      const double share = std::sqrt(covariance(at, at)) / coordinates[parameter].prior_sd();
      if (share > widest) {
        widest = share;
        which = k;
      }
    }
    if (which == kept.size()) return dropped;
    dropped.push_back(static_cast<std::size_t>(kept[which]));
    kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(which));
  }
}

/// Deviations of a fit's coordinates when what the data can't tell is known no better than by its prior,
/// although the fit holds it: the others make up for what it is wrong by.
Eigen::VectorXd deviations_of(const FitResult& fit, const FitData& data, const Evaluate& evaluate,
                              const Profile& start, const FitOptions& options,
                              const std::vector<double>& weights) {
  const auto told = static_cast<Eigen::Index>(fit.coordinates.size());
  if (fit.undetermined.empty()) return fit.covariance.diagonal().head(told).cwiseSqrt();
  std::vector<Coordinate> all = fit.coordinates;
  for (const Param parameter : fit.undetermined) all.emplace_back(parameter);
  Residuals residuals(data, evaluate, start, all, weights, options.threads);
  residuals.spread = fit.spread;
  const auto nuisances = fit.x.size() - told;
  Eigen::VectorXd x = residuals.start();
  x.head(told) = fit.x.head(told);
  x.tail(nuisances) = fit.x.tail(nuisances);
  return inverse(information_at(residuals, x)).diagonal().head(told).cwiseSqrt();
}

void take(const Optimum& best, const Residuals& residuals, const Eigen::MatrixXd& information,
          FitResult& result) {
  result.x = best.x;
  result.spread = best.spread;
  result.cost = best.cost;
  result.evaluations += best.evaluations;
  result.covariance = inverse(information);
  result.profile = residuals.profile(best.x);
  result.residuals = residuals.log_errors(best.x);
}

/// Takes parameters out of the fit, as undetermined.
/// @return  where those that stay, and the nuisance terms, are
Eigen::VectorXd without(const std::vector<std::size_t>& dropped, FitResult& result) {
  std::vector<Coordinate> kept;
  std::vector<double> values;
  for (std::size_t k = 0; k < result.coordinates.size(); ++k) {
    if (std::find(dropped.begin(), dropped.end(), k) != dropped.end()) {
      result.undetermined.push_back(result.coordinates[k].parameter());
    } else {
      kept.push_back(result.coordinates[k]);
      values.push_back(result.x[static_cast<Eigen::Index>(k)]);
    }
  }
  for (auto k = static_cast<Eigen::Index>(result.coordinates.size()); k < result.x.size(); ++k)
    values.push_back(result.x[k]);
  result.coordinates = kept;
  return Eigen::Map<Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
}

void name_confounded(FitResult& result) {
  for (std::size_t a = 0; a < result.coordinates.size(); ++a) {
    for (std::size_t b = a + 1; b < result.coordinates.size(); ++b) {
      const auto i = static_cast<Eigen::Index>(a);
      const auto j = static_cast<Eigen::Index>(b);
      const double correlation =
          result.covariance(i, j) / std::sqrt(result.covariance(i, i) * result.covariance(j, j));
      if (std::abs(correlation) > kConfounded)
        result.confounded.emplace_back(result.coordinates[a].parameter(), result.coordinates[b].parameter());
    }
  }
}

void name_edges(FitResult& result) {
  for (const Coordinate& coordinate : result.coordinates) {
    const ParameterInfo& about = info(coordinate.parameter());
    const double value = result.profile.value(coordinate.parameter());
    const double near = 1e-3 * (about.high - about.low);
    if (value - about.low < near || about.high - value < near)
      result.at_edge.push_back(coordinate.parameter());
  }
}

}  // namespace

FitResult fit_profile(const FitData& data, const Evaluate& evaluate, const Profile& start,
                      const FitOptions& options, const std::vector<double>& weights,
                      const std::vector<double>& first_spread) {
  check_any_left(data, weights);
  FitResult result;
  result.coordinates = relevant(data, evaluate, start, options, weights);
  std::vector<double> spread = first_spread;
  std::optional<Eigen::VectorXd> from;
  while (true) {
    Residuals residuals(data, evaluate, start, result.coordinates, weights, options.threads);
    if (!spread.empty()) residuals.spread = spread;
    const Optimum best =
        from ? optimise(data, residuals, *from, options, 1) : best_of_starts(data, residuals, options);
    const Eigen::MatrixXd information = information_at(residuals, best.x);
    take(best, residuals, information, result);
    const std::vector<std::size_t> dropped = untold(result.coordinates, information);
    if (dropped.empty()) break;
    spread = best.spread;
    from = without(dropped, result);
  }
  result.deviations = deviations_of(result, data, evaluate, start, options, weights);
  name_confounded(result);
  name_edges(result);
  return result;
}

}  // namespace lanecast
