#pragma once
#include <string>
#include <vector>

#include "reports/grid.hpp"
#include "tests/cases/all_reduce_comparison.hpp"

namespace lanecast::cases {

/// Sweeps of one origin.
struct ComparisonGroup {
  std::string name;
  bool by_case = false;  // a line for all sweeps of one `case_id`, instead of one for each
  std::vector<AllReduceComparison> comparisons;
};

/// Our error beside that of NCCL's own cost model, on the same rows: a line for each sweep or case, then sums
/// of each group, of all groups together and of the cases that state everything. Sums count only rows that
/// both can tell; where one of the two can tell none of a sweep, its columns say so.
Grid baseline_grid(const std::vector<ComparisonGroup>& groups);

}  // namespace lanecast::cases
