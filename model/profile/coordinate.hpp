#pragma once
#include <vector>

#include "model/profile/profile.hpp"

namespace lanecast {

/// A parameter as the fit sees it: the natural logarithm of its value, or, where its range begins at 0, the
/// value itself in units of its prior (of its range, where that is 0).
class Coordinate {
 public:
  explicit Coordinate(Param parameter);

  Param parameter() const { return parameter_; }

  double of_value(double value) const;

  /// Clamped to the parameter's range.
  double value(double coordinate) const;

  /// How far it lies beyond an end of the range: below 0 under the lower, above 0 over the upper one.
  double beyond(double coordinate) const;

  double prior() const { return of_value(info(parameter_).prior); }

  /// Standard deviation of the prior: the range is four of them wide.
  double prior_sd() const;

 private:
  Param parameter_;
  bool logarithmic_;
  double unit_;
};

}  // namespace lanecast
