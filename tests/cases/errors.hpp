#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace lanecast::cases {

/// The value below which the share `part` (0 to 1) of the values lies, linear between neighbours; NaN of
/// nothing.
double quantile(std::vector<double> values, double part);
double median(const std::vector<double>& values);

/// predicted / published - 1, of several figures.
struct ErrorSummary {
  std::size_t count = 0;
  double median = 0;  // with its sign
  double median_abs = 0;
  double p95_abs = 0;
  double max_abs = 0;
};

ErrorSummary summarise(const std::vector<double>& errors);

std::string percent(double share);         // "12.3 %"; "-" for NaN
std::string signed_percent(double share);  // "+12.3 %"
std::string two_decimals(double value);    // "55.60"

}  // namespace lanecast::cases
