#pragma once
#include <string>
#include <vector>

#include "model/implementation/implementation.hpp"
#include "model/profile/profile.hpp"
#include "reports/grid.hpp"
#include "tests/cases/published_cases.hpp"

namespace lanecast::cases {

/// One published all-reduce sweep, and the call that predicts it.
struct AllReduceCase {
  std::string case_id;
  std::string variant;  // tells the sweeps of one case apart; may be empty
  std::string list;     // as FigurePlace::list
  std::string entries;  // as matching_entries: which rows of the list
  std::string machine;  // as CaseMachine's; shipped ones that are not there yet leave the case out
  std::vector<std::string> sets;
  std::string implementation;  // "nccl-2.27": the version of the case, or the nearest one known
  Call call;                   // everything but the size
  std::string not_stated;      // of transport, link widths, protocol and channels; empty: a stated case
};

const std::vector<AllReduceCase>& all_reduce_cases();

/// Sweeps that cannot be predicted, and why: "case" or "case, variant".
struct AllReduceLeftOut {
  std::string case_id;
  std::string reason;
};

const std::vector<AllReduceLeftOut>& all_reduce_left_out();

/// One published row beside its prediction.
struct AllReducePoint {
  Bytes size{0};
  double published_us = 0;
  Prediction predicted;

  double error() const { return predicted.time.value() * 1e6 / published_us - 1; }
};

/// A sweep of at least 1 KiB a row, out of place.
struct AllReduceComparison {
  const AllReduceCase* entry = nullptr;
  std::vector<AllReducePoint> points;
};

/// Sweeps whose machine exists; those of machines still missing are added to `left_out`.
std::vector<AllReduceComparison> compare_all_reduce(const std::vector<PublishedCase>& cases,
                                                    const Profile& profile,
                                                    std::vector<AllReduceLeftOut>& left_out);

/// Median and p95 of |error| of each sweep, over all its rows and over those of 4 MiB and more.
Grid all_reduce_summary(const std::vector<AllReduceComparison>& comparisons);

/// Every point. @param sparse  only every second power of two of the sweeps with more than twelve rows
Grid all_reduce_points(const std::vector<AllReduceComparison>& comparisons, bool sparse);

}  // namespace lanecast::cases
