#pragma once
#include <Eigen/Core>
#include <atomic>
#include <vector>

#include "calibrate/observation.hpp"
#include "model/profile/coordinate.hpp"

namespace lanecast {

/// The residuals of a fit as a function of its coordinates, in the form that Eigen's Levenberg-Marquardt
/// takes, with derivatives by differences over all cores.
class Residuals {
 public:
  using Scalar = double;
  using InputType = Eigen::VectorXd;
  using ValueType = Eigen::VectorXd;
  using JacobianType = Eigen::MatrixXd;
  enum { InputsAtCompileTime = Eigen::Dynamic, ValuesAtCompileTime = Eigen::Dynamic };

  /// @param weights  [configuration]; observations of weight 0 are left out
  Residuals(const FitData& data, const Evaluate& evaluate, const Profile& start,
            std::vector<Coordinate> coordinates, const std::vector<double>& weights, int threads);

  int inputs() const { return static_cast<int>(coordinates_.size()) + nuisances_; }
  int values() const { return static_cast<int>(used_.size()) + inputs(); }

  /// @return 0, as Eigen asks
  int operator()(const InputType& x, ValueType& residuals) const;
  int df(const InputType& x, JacobianType& jacobian) const;

  /// The coordinates of a profile, nuisance terms 0.
  InputType at(const Profile& profile) const;

  /// Those that a fit keeps to where data say nothing.
  InputType start() const { return at(start_); }

  Profile profile(const InputType& x) const;

  /// [observation] log(measured / predicted) with nuisance terms taken off; of all, used or not.
  std::vector<double> log_errors(const InputType& x) const;

  /// Spread of each kind by which residuals are divided.
  std::vector<double> spread;

  /// Derivatives of log predicted times, observations used x coordinates: what `df` is made of.
  Eigen::MatrixXd log_derivatives(const InputType& x) const;

  /// [observation used] number among all.
  const std::vector<std::size_t>& used() const { return used_; }

  const std::vector<Coordinate>& coordinates() const { return coordinates_; }
  int evaluations() const { return evaluations_; }

 private:
  std::vector<double> log_times(const InputType& x) const;  // [call]
  double log_error(const Observation& seen, const std::vector<double>& log_times, const InputType& x) const;
  double nuisance(const Observation& seen, const InputType& x) const;
  Eigen::Index session_column(const Observation& seen) const;
  Eigen::Index cold_column() const;

  const FitData& data_;
  const Evaluate& evaluate_;
  Profile start_;
  std::vector<Coordinate> coordinates_;
  std::vector<std::size_t> used_;
  std::vector<double> weight_of_;   // [used]
  std::vector<std::size_t> calls_;  // that observations used are of
  int sessions_ = 1;
  int nuisances_ = 0;
  int threads_;
  mutable std::vector<std::vector<bool>> matters_;  // [call][coordinate]: a derivative that is not zero
  mutable int looks_ = 0;                           // derivatives taken so far
  mutable std::atomic<int> evaluations_{0};
};

}  // namespace lanecast
