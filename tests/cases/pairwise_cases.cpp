/// pairwise_cases CASES.yaml [--markdown]: published copies between GPUs and to the host beside predicted
/// ones.
///
/// Exit code 77 where the file is absent (the test is skipped), 3 where a gated matrix is beyond its bound.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <string>

#include "model/error.hpp"
#include "model/profile/profile.hpp"
#include "tests/cases/case_arguments.hpp"
#include "tests/cases/case_machines.hpp"
#include "tests/cases/copy_sets.hpp"
#include "tests/cases/matrix_comparison.hpp"

namespace lanecast::cases {
namespace {

Grid left_out_grid() {
  Grid grid;
  grid.columns = {{"left out", "", 0, false}, {"reason", "", 0, false}};
  for (const CaseLeftOut& one : cases_left_out()) grid.rows.push_back({one.case_id, one.reason});
  return grid;
}

/// A case that no table names would be lost without a word.
void check_complete(const std::vector<PublishedCase>& cases) {
  for (const PublishedCase& one : cases) {
    if (one.kind == "all_reduce") continue;
    const auto& table = case_machines();
    const bool known = std::any_of(table.begin(), table.end(),
                                   [&](const CaseMachine& entry) { return entry.case_id == one.id; });
    if (!known) {
      throw Error(ErrorKind::check_failed, "case `" + one.id + "` has no machine and no reason to stay out",
                  "tests/cases/case_machines.cpp", "add it to one of the two tables");
    }
  }
}

int run(const CaseArguments& arguments) {
  const auto cases = read_published_cases(arguments.file);
  check_complete(cases);
  const Profile profile;
  const MatrixComparison matrices = compare_matrices(cases, profile);
  print_table(arguments, "Matrices, median over the cells, profile generic", matrix_grid(matrices));
  print_table(arguments, "Copies at once, GB/s in total, profile generic", copy_set_grid(cases, profile),
              true);
  print_table(arguments, "One-way latency of a flag, profile generic", latency_grid(cases, profile));
  print_table(arguments, "Left out", left_out_grid());
  if (!arguments.markdown) {
    for (const std::string& line : matrices.not_compared) std::cout << "# not compared: " << line << "\n";
  }
  int beyond = 0;
  for (const MatrixRow& row : matrices.rows) {
    if (!row.gated || row.errors.median_abs <= bound_of(row.way)) continue;
    ++beyond;
    std::cerr << fmt::format("beyond its bound: {}, {}, {}: {} > {}\n", row.case_id, row.matrix,
                             to_string(row.way), percent(row.errors.median_abs), percent(bound_of(row.way)));
  }
  return beyond == 0 ? 0 : static_cast<int>(ErrorKind::check_failed);
}

}  // namespace
}  // namespace lanecast::cases

int main(int argc, char** argv) { return lanecast::cases::run_on_cases(argc, argv, lanecast::cases::run); }
