#pragma once
#include <optional>
#include <vector>

#include "model/profile/profile.hpp"
#include "reports/grid.hpp"
#include "tests/cases/all_reduce_table.hpp"
#include "tests/cases/published_cases.hpp"

namespace lanecast::cases {

/// One measured time, out of place, and the size that it belongs to.
struct AllReduceRow {
  Bytes size{0};
  double published_us = 0;
};

/// A sweep of at least 1 KiB a row.
struct AllReduceSweep {
  AllReduceCase entry;
  std::vector<AllReduceRow> rows;
};

/// The sweeps of `all_reduce_cases()`.
/// @throws Error  kind usage, where a table of tests/cases and the file differ
std::vector<AllReduceSweep> published_sweeps(const std::vector<PublishedCase>& cases);

/// One measured row beside our prediction, and beside what NCCL's own cost model chooses and reckons.
struct AllReducePoint {
  Bytes size{0};
  double published_us = 0;
  std::optional<Prediction> predicted;  // absent: AllReduceCase::not_simulated
  std::optional<Prediction> nccl;       // absent: AllReduceCase::not_reckoned

  double error_of(const Prediction& one) const { return one.time.value() * 1e6 / published_us - 1; }
};

struct AllReduceComparison {
  AllReduceCase entry;
  int channels = 0;  // of the communicator
  std::vector<AllReducePoint> points;
};

/// What NCCL's rules choose for each row with the case's environment and nothing else, and how long its cost
/// model takes it to need. Nothing is simulated.
std::vector<AllReduceComparison> choose_all_reduce(const std::vector<AllReduceSweep>& sweeps,
                                                   const Profile& profile);

/// The same with our predictions: by simulation, with the same environment.
std::vector<AllReduceComparison> compare_all_reduce(const std::vector<AllReduceSweep>& sweeps,
                                                    const Profile& profile);

/// Median and p95 of |error| of each sweep, over all its rows and over those of 4 MiB and more.
Grid all_reduce_summary(const std::vector<AllReduceComparison>& comparisons);

/// Every predicted point. @param sparse  only every second power of two of the sweeps with more than twelve
/// rows
Grid all_reduce_points(const std::vector<AllReduceComparison>& comparisons, bool sparse);

}  // namespace lanecast::cases
