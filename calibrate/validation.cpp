#include "calibrate/validation.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "calibrate/residuals.hpp"
#include "model/measured/error_statistics.hpp"
#include "model/predict/band.hpp"

namespace lanecast {
namespace {

constexpr double kOutlier = 3.5;  // robust deviations
constexpr double kMadToSd = 1.4826;

FitOptions refit_options(const FitOptions& options, const FitResult& whole) {
  FitOptions again = options;
  again.from = whole.profile;
  again.starts = 1;
  again.rounds = 1;
  again.tolerance = 2e-3;
  again.most_steps = 12;
  again.only = whole.undetermined;
  for (const Coordinate& coordinate : whole.coordinates) again.only.push_back(coordinate.parameter());
  return again;
}

/// Deviation of log time that a fit's covariance gives each of its observations.
Eigen::VectorXd parameter_deviations(const FitData& data, const Evaluate& evaluate, const FitResult& fit,
                                     const FitOptions& options) {
  const Residuals all(data, evaluate, fit.profile, fit.coordinates, {}, options.threads);
  const Eigen::MatrixXd slopes =
      all.log_derivatives(fit.x.head(static_cast<Eigen::Index>(fit.coordinates.size())));
  const auto known = static_cast<Eigen::Index>(fit.coordinates.size());
  const Eigen::MatrixXd covariance = fit.covariance.topLeftCorner(known, known);
  return (slopes * covariance).cwiseProduct(slopes).rowwise().sum().cwiseMax(0.0).cwiseSqrt();
}

}  // namespace

std::vector<std::vector<std::size_t>> folds_of(std::size_t configurations, int folds, std::uint64_t seed) {
  std::vector<std::size_t> order(configurations);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937_64 random(seed);
  std::shuffle(order.begin(), order.end(), random);
  const std::size_t count =
      std::clamp<std::size_t>(static_cast<std::size_t>(folds), 1, std::max<std::size_t>(1, configurations));
  std::vector<std::vector<std::size_t>> groups(count);
  for (std::size_t i = 0; i < order.size(); ++i) groups[i % count].push_back(order[i]);
  return groups;
}

HeldOuts hold_out(const FitData& data, const Evaluate& evaluate, const Profile& start, const FitResult& whole,
                  const FitOptions& options, const std::vector<std::vector<std::size_t>>& groups) {
  HeldOuts held(data.observations.size());
  for (const std::vector<std::size_t>& group : groups) {
    std::vector<double> weights(data.configurations.size(), 1.0);
    for (const std::size_t configuration : group) weights[configuration] = 0.0;
    const FitResult fit =
        fit_profile(data, evaluate, start, refit_options(options, whole), weights, whole.spread);
    const Eigen::VectorXd deviations = parameter_deviations(data, evaluate, fit, options);
    for (std::size_t i = 0; i < data.observations.size(); ++i) {
      const Observation& seen = data.observations[i];
      if (weights[seen.configuration] > 0) continue;
      const double spread = fit.spread[seen.kind];
      HeldOut one;
      one.error = std::exp(-fit.residuals[i]) - 1.0;
      one.deviation = std::hypot(deviations[static_cast<Eigen::Index>(i)], spread);
      one.covered = std::abs(fit.residuals[i]) <= kBandDeviations * one.deviation;
      held[i] = one;
    }
  }
  return held;
}

std::vector<BootstrapInterval> bootstrap(const FitData& data, const Evaluate& evaluate, const Profile& start,
                                         const FitResult& whole, const FitOptions& options, int draws,
                                         std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<std::size_t> pick(0, data.configurations.size() - 1);
  std::vector<std::vector<double>> values(whole.coordinates.size());
  for (int draw = 0; draw < draws; ++draw) {
    std::vector<double> weights(data.configurations.size(), 0.0);
    for (std::size_t i = 0; i < data.configurations.size(); ++i) weights[pick(random)] += 1.0;
    FitOptions again = refit_options(options, whole);
    again.only.clear();
    for (const Coordinate& coordinate : whole.coordinates) again.only.push_back(coordinate.parameter());
    const FitResult fit = fit_profile(data, evaluate, start, again, weights, whole.spread);
    for (std::size_t k = 0; k < whole.coordinates.size(); ++k)
      values[k].push_back(fit.profile.value(whole.coordinates[k].parameter()));
  }
  std::vector<BootstrapInterval> intervals;
  for (std::size_t k = 0; k < whole.coordinates.size(); ++k) {
    if (values[k].empty()) continue;
    intervals.push_back(
        {whole.coordinates[k].parameter(), quantile_of(values[k], 0.025), quantile_of(values[k], 0.975)});
  }
  return intervals;
}

std::vector<LearningPoint> learning_curve(const FitData& data, const Evaluate& evaluate, const Profile& start,
                                          const FitOptions& options, int draws, std::uint64_t seed) {
  std::vector<LearningPoint> points;
  const std::size_t all = data.configurations.size();
  for (std::size_t count = 1; count < all; count = std::max(count + 1, count * 3 / 2)) {
    LearningPoint point;
    point.configurations = static_cast<int>(count);
    int drawn = 0;
    for (int draw = 0; draw < draws; ++draw) {
      std::vector<std::size_t> order(all);
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::mt19937_64 random(seed + static_cast<std::uint64_t>(draw));
      std::shuffle(order.begin(), order.end(), random);
      std::vector<double> weights(all, 0.0);
      for (std::size_t i = 0; i < count; ++i) weights[order[i]] = 1.0;
      FitOptions once = options;
      once.starts = 1;
      const FitResult fit = fit_profile(data, evaluate, start, once, weights);
      std::vector<double> errors;
      for (std::size_t i = 0; i < data.observations.size(); ++i) {
        const Observation& seen = data.observations[i];
        if (weights[seen.configuration] > 0 || seen.first_of_sweep) continue;
        errors.push_back(std::abs(std::exp(-fit.residuals[i]) - 1.0));
      }
      if (errors.empty()) continue;
      point.median += quantile_of(errors, 0.5);
      point.p95 += quantile_of(errors, 0.95);
      ++drawn;
    }
    if (drawn == 0) continue;
    point.median /= drawn;
    point.p95 /= drawn;
    points.push_back(point);
  }
  return points;
}

std::vector<std::size_t> outlier_configurations(const FitData& data, const FitResult& fit) {
  std::vector<std::vector<double>> of(data.configurations.size());
  for (std::size_t i = 0; i < data.observations.size(); ++i) {
    const Observation& seen = data.observations[i];
    if (!seen.first_of_sweep)
      of[seen.configuration].push_back(std::abs(fit.residuals[i]) / fit.spread[seen.kind]);
  }
  std::vector<double> medians;
  for (const std::vector<double>& errors : of) {
    if (!errors.empty()) medians.push_back(quantile_of(errors, 0.5));
  }
  std::vector<std::size_t> outliers;
  if (medians.size() < 4) return outliers;
  const double usual = quantile_of(medians, 0.5);
  std::vector<double> away;
  for (const double median : medians) away.push_back(std::abs(median - usual));
  const double deviation = std::max(kMadToSd * quantile_of(away, 0.5), 0.25);
  for (std::size_t c = 0; c < of.size(); ++c) {
    if (!of[c].empty() && quantile_of(of[c], 0.5) > usual + kOutlier * deviation) outliers.push_back(c);
  }
  return outliers;
}

}  // namespace lanecast
