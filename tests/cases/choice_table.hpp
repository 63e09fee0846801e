#pragma once
#include <vector>

#include "reports/grid.hpp"
#include "tests/cases/all_reduce_comparison.hpp"

namespace lanecast::cases {

/// Rows of one sweep, next to each other, that NCCL's rules send the same way.
struct ChoiceRegion {
  const AllReduceComparison* sweep = nullptr;
  std::size_t first = 0;  // indices into its points
  std::size_t last = 0;

  const AllReducePoint& from() const { return sweep->points[first]; }
  const AllReducePoint& to() const { return sweep->points[last]; }
};

/// Regions of equal algorithm, protocol and transport, split where the source says something else. Sweeps for
/// which NCCL's choice cannot be told have none.
std::vector<ChoiceRegion> choice_regions(const AllReduceComparison& sweep);

enum class Verdict { agrees, differs, not_stated };

/// What the source says of these sizes; nothing stated where it is silent.
StatedChoice stated_for(const AllReduceCase& entry, Bytes size);

Verdict verdict_on(const ChoiceRegion& region);

/// One line a region: what NCCL's rules choose with nothing forced but the case's environment, beside what
/// the source says.
Grid choice_grid(const std::vector<AllReduceComparison>& comparisons);

}  // namespace lanecast::cases
