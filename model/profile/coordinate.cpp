#include "model/profile/coordinate.hpp"

#include <algorithm>
#include <cmath>

namespace lanecast {

Coordinate::Coordinate(Param parameter) : parameter_(parameter) {
  const ParameterInfo& about = info(parameter);
  logarithmic_ = about.low > 0;
  unit_ = about.prior > 0 ? about.prior : about.high - about.low;
}

double Coordinate::of_value(double value) const { return logarithmic_ ? std::log(value) : value / unit_; }

double Coordinate::value(double coordinate) const {
  const double value = logarithmic_ ? std::exp(coordinate) : coordinate * unit_;
  return std::clamp(value, info(parameter_).low, info(parameter_).high);
}

double Coordinate::beyond(double coordinate) const {
  const ParameterInfo& about = info(parameter_);
  return std::min(0.0, coordinate - of_value(about.low)) + std::max(0.0, coordinate - of_value(about.high));
}

double Coordinate::prior_sd() const {
  const ParameterInfo& about = info(parameter_);
  return (of_value(about.high) - of_value(about.low)) / 4.0;
}

}  // namespace lanecast
