#pragma once
#include <string>
#include <vector>

#include "model/profile/profile.hpp"
#include "model/topology/machine.hpp"
#include "reports/grid.hpp"
#include "tests/cases/errors.hpp"
#include "tests/cases/published_cases.hpp"

namespace lanecast::cases {

/// How the copies of a group of cells travel: what their bound follows from.
enum class CopyWay { direct, across_sockets, staged };

const char* to_string(CopyWay way);

/// The way of a copy from one GPU to another.
CopyWay way_of(const Machine& machine, int from, int to);

/// What a published matrix and the predicted one say about one kind of pair.
struct MatrixRow {
  std::string case_id;
  std::string matrix;  // "one way", "both ways", with "P2P off" where the test switched it off
  CopyWay way = CopyWay::direct;
  bool gated = false;
  double published_median = 0;
  double predicted_median = 0;
  ErrorSummary errors;
  std::string note;
};

/// Published and predicted matrices side by side: one row for each way that its copies take.
struct MatrixComparison {
  std::vector<MatrixRow> rows;
  std::vector<std::string> not_compared;  // "case: matrix: reason"
};

MatrixComparison compare_matrices(const std::vector<PublishedCase>& cases, const Profile& profile);

/// Median |error| that a gated row may reach. The priors say so, not the cases:
/// direct: DLLP share 1-5 %, duplex loss 0-15 %, and cards that send smaller packets than 256 B;
/// across sockets: the priors of facts.md C9 for a socket link spread by a factor of two (22-40, 20-50 GB/s);
/// staged: the prior of `staged.efficiency` is 0.77 in 0.3 to 1.
double bound_of(CopyWay way);

Grid matrix_grid(const MatrixComparison& comparison);

}  // namespace lanecast::cases
