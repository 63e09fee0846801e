#include "calibrate/residuals.hpp"

#include <algorithm>
#include <cmath>

#include "calibrate/parallel.hpp"

namespace lanecast {
namespace {

constexpr double kStep = 0.01;         // of a coordinate, for differences: far above what folding leaves out
constexpr double kRobustFrom = 2.0;    // spreads, from which residuals count less
constexpr double kSessionSd = 0.05;    // of log time: what sessions may differ by
constexpr double kColdSd = 0.10;       // what first rows may differ by
constexpr double kWall = 30;           // how much steeper the prior is beyond its range
constexpr int kLooksBetweenScans = 6;  // derivatives between two looks at all pairs of call and parameter

/// Square root of twice the pseudo-Huber loss, with the sign: quadratic near 0, linear far out.
double robust(double r) {
  const double ratio = r / kRobustFrom;
  const double loss = kRobustFrom * kRobustFrom * (std::sqrt(1.0 + ratio * ratio) - 1.0);
  return std::copysign(std::sqrt(2.0 * loss), r);
}

double robust_derivative(double r) {
  if (std::abs(r) < 1e-6) return 1.0;
  const double ratio = r / kRobustFrom;
  return r / std::sqrt(1.0 + ratio * ratio) / robust(r);
}

}  // namespace

Residuals::Residuals(const FitData& data, const Evaluate& evaluate, const Profile& start,
                     std::vector<Coordinate> coordinates, const std::vector<double>& weights, int threads)
    : spread(data.kinds.size(), 0.05),
      data_(data),
      evaluate_(evaluate),
      start_(start),
      coordinates_(std::move(coordinates)),
      threads_(threads),
      matters_(data.calls.size(), std::vector<bool>(coordinates_.size(), true)) {
  std::vector<bool> wanted(data.calls.size(), false);
  for (std::size_t i = 0; i < data.observations.size(); ++i) {
    const Observation& seen = data.observations[i];
    const double weight = weights.empty() ? 1.0 : weights[seen.configuration];
    sessions_ = std::max(sessions_, seen.session + 1);
    if (weight <= 0) continue;
    used_.push_back(i);
    weight_of_.push_back(std::sqrt(weight));
    wanted[seen.call] = true;
  }
  for (std::size_t c = 0; c < wanted.size(); ++c) {
    if (wanted[c]) calls_.push_back(c);
  }
  nuisances_ = sessions_;  // one less for sessions, one more for first rows
}

Eigen::Index Residuals::session_column(const Observation& seen) const {
  return static_cast<Eigen::Index>(coordinates_.size()) + seen.session - 1;
}

Eigen::Index Residuals::cold_column() const {
  return static_cast<Eigen::Index>(coordinates_.size()) + sessions_ - 1;
}

double Residuals::nuisance(const Observation& seen, const InputType& x) const {
  return (seen.session > 0 ? x[session_column(seen)] : 0.0) + (seen.first_of_sweep ? x[cold_column()] : 0.0);
}

Residuals::InputType Residuals::at(const Profile& profile) const {
  InputType x = InputType::Zero(inputs());
  for (std::size_t k = 0; k < coordinates_.size(); ++k)
    x[static_cast<Eigen::Index>(k)] = coordinates_[k].of_value(profile.value(coordinates_[k].parameter()));
  return x;
}

Profile Residuals::profile(const InputType& x) const {
  Profile profile = start_;
  for (std::size_t k = 0; k < coordinates_.size(); ++k)
    profile.set(coordinates_[k].parameter(), coordinates_[k].value(x[static_cast<Eigen::Index>(k)]));
  return profile;
}

std::vector<double> Residuals::log_times(const InputType& x) const {
  std::vector<double> times(data_.calls.size(), 0.0);
  const Profile at = profile(x);
  parallel_for(calls_.size(), threads_,
               [&](std::size_t i) { times[calls_[i]] = std::log(evaluate_(calls_[i], at).value()); });
  evaluations_ += static_cast<int>(calls_.size());
  return times;
}

double Residuals::log_error(const Observation& seen, const std::vector<double>& log_times,
                            const InputType& x) const {
  return std::log(seen.time.value()) - log_times[seen.call] - nuisance(seen, x);
}

int Residuals::operator()(const InputType& x, ValueType& residuals) const {
  const std::vector<double> times = log_times(x);
  residuals.resize(values());
  for (std::size_t i = 0; i < used_.size(); ++i) {
    const Observation& seen = data_.observations[used_[i]];
    residuals[static_cast<Eigen::Index>(i)] =
        weight_of_[i] * robust(log_error(seen, times, x) / spread[seen.kind]);
  }
  const auto rows = static_cast<Eigen::Index>(used_.size());
  const auto parameters = static_cast<Eigen::Index>(coordinates_.size());
  for (Eigen::Index k = 0; k < parameters; ++k) {
    const Coordinate& coordinate = coordinates_[static_cast<std::size_t>(k)];
    residuals[rows + k] =
        (x[k] - coordinate.prior() + kWall * coordinate.beyond(x[k])) / coordinate.prior_sd();
  }
  for (Eigen::Index k = parameters; k < inputs(); ++k)
    residuals[rows + k] = x[k] / (k == cold_column() ? kColdSd : kSessionSd);
  return 0;
}

Eigen::MatrixXd Residuals::log_derivatives(const InputType& x) const {
  const bool scan = looks_++ % kLooksBetweenScans == 0;
  const std::vector<double> times = log_times(x);
  const auto parameters = static_cast<Eigen::Index>(coordinates_.size());
  Eigen::MatrixXd of_call = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(data_.calls.size()), parameters);
  std::vector<Profile> moved;
  std::vector<double> steps;
  for (Eigen::Index k = 0; k < parameters; ++k) {
    const Coordinate& coordinate = coordinates_[static_cast<std::size_t>(k)];
    InputType there = x;
    // away from the nearer end of the range, where the value is clamped
    const double middle =
        0.5 *
        (coordinate.of_value(info(coordinate.parameter()).low > 0 ? info(coordinate.parameter()).low : 0.0) +
         coordinate.of_value(info(coordinate.parameter()).high));
    const double step = x[k] < middle ? kStep : -kStep;
    there[k] += step;
    moved.push_back(profile(there));
    steps.push_back(step);
  }
  parallel_for(calls_.size(), threads_, [&](std::size_t i) {
    const std::size_t call = calls_[i];
    int evaluated = 0;
    for (std::size_t k = 0; k < coordinates_.size(); ++k) {
      if (!scan && !matters_[call][k]) continue;
      const double moved_time = std::log(evaluate_(call, moved[k]).value());
      const double derivative = (moved_time - times[call]) / steps[k];
      matters_[call][k] = std::abs(derivative) > 1e-9;
      of_call(static_cast<Eigen::Index>(call), static_cast<Eigen::Index>(k)) = derivative;
      ++evaluated;
    }
    evaluations_ += evaluated;
  });
  Eigen::MatrixXd of_observation(static_cast<Eigen::Index>(used_.size()), parameters);
  for (std::size_t i = 0; i < used_.size(); ++i)
    of_observation.row(static_cast<Eigen::Index>(i)) =
        of_call.row(static_cast<Eigen::Index>(data_.observations[used_[i]].call));
  return of_observation;
}

int Residuals::df(const InputType& x, JacobianType& jacobian) const {
  const Eigen::MatrixXd derivatives = log_derivatives(x);
  const std::vector<double> errors = log_errors(x);
  jacobian.setZero(values(), inputs());
  const auto parameters = static_cast<Eigen::Index>(coordinates_.size());
  for (std::size_t i = 0; i < used_.size(); ++i) {
    const Observation& seen = data_.observations[used_[i]];
    const auto row = static_cast<Eigen::Index>(i);
    const double scale =
        -weight_of_[i] * robust_derivative(errors[used_[i]] / spread[seen.kind]) / spread[seen.kind];
    jacobian.row(row).head(parameters) = scale * derivatives.row(row);
    if (seen.session > 0) jacobian(row, session_column(seen)) = scale;
    if (seen.first_of_sweep) jacobian(row, cold_column()) = scale;
  }
  const auto rows = static_cast<Eigen::Index>(used_.size());
  for (Eigen::Index k = 0; k < parameters; ++k) {
    const Coordinate& coordinate = coordinates_[static_cast<std::size_t>(k)];
    jacobian(rows + k, k) = (1.0 + (coordinate.beyond(x[k]) == 0 ? 0.0 : kWall)) / coordinate.prior_sd();
  }
  for (Eigen::Index k = parameters; k < inputs(); ++k)
    jacobian(rows + k, k) = 1.0 / (k == cold_column() ? kColdSd : kSessionSd);
  return 0;
}

std::vector<double> Residuals::log_errors(const InputType& x) const {
  std::vector<bool> wanted(data_.calls.size(), false);
  for (const Observation& seen : data_.observations) wanted[seen.call] = true;
  std::vector<double> times(data_.calls.size(), 0.0);
  const Profile at = profile(x);
  parallel_for(times.size(), threads_, [&](std::size_t c) {
    if (wanted[c]) times[c] = std::log(evaluate_(c, at).value());
  });
  evaluations_ += static_cast<int>(times.size());
  std::vector<double> errors;
  for (const Observation& seen : data_.observations) errors.push_back(log_error(seen, times, x));
  return errors;
}

}  // namespace lanecast
