#include "tests/cases/errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace lanecast::cases {

double quantile(std::vector<double> values, double part) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::sort(values.begin(), values.end());
  const double place = part * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (values[above] - values[below]) * (place - static_cast<double>(below));
}

double median(const std::vector<double>& values) { return quantile(values, 0.5); }

ErrorSummary summarise(const std::vector<double>& errors) {
  std::vector<double> sizes;
  for (const double error : errors) sizes.push_back(std::abs(error));
  return {errors.size(), median(errors), median(sizes), quantile(sizes, 0.95), quantile(sizes, 1.0)};
}

std::string percent(double share) { return std::isnan(share) ? "-" : fmt::format("{:.1f} %", share * 100); }

std::string signed_percent(double share) {
  return std::isnan(share) ? "-" : fmt::format("{:+.1f} %", share * 100);
}

std::string two_decimals(double value) { return std::isnan(value) ? "-" : fmt::format("{:.2f}", value); }

}  // namespace lanecast::cases
