#pragma once
#include <string>
#include <vector>

#include "model/measured/comparison.hpp"
#include "model/measured/matrix_comparison.hpp"

namespace lanecast {

/// Which errors a tolerance bounds.
enum class ToleranceOf {
  max,     // that of each row and of each cell
  median,  // the median of absolute errors, of each group and of each table
  p95      // their 95th percentile
};

/// What lies beyond the tolerance, the worst first: "size 1024, simple p2p: +23.4 % (run.csv:17)".
struct Breach {
  std::string what;
  double error = 0;  // with its sign, for `max`
};

/// @param tolerance  a fraction: 0.1
std::vector<Breach> breaches(const std::vector<ComparedRow>& rows,
                             const std::vector<ComparedMatrix>& matrices, ToleranceOf of, double tolerance);

}  // namespace lanecast
