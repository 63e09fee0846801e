/// whatif_cases CASES.yaml [--markdown]: published changes (a machine in two settings) beside predicted ones.
///
/// Exit code 77 where the file is absent (the test is skipped), 3 where a kind of change has no pair. No
/// bound is checked.
#include <algorithm>

#include "model/error.hpp"
#include "tests/cases/case_arguments.hpp"
#include "tests/cases/whatif_comparison.hpp"

namespace lanecast::cases {
namespace {

/// A table that lost its rows would pass without a word.
void check_complete(const std::vector<WhatIfRow>& rows) {
  for (const ChangeKind kind : change_kinds()) {
    if (std::any_of(rows.begin(), rows.end(), [&](const WhatIfRow& row) { return row.kind == kind; }))
      continue;
    throw Error(ErrorKind::check_failed, std::string("no pair of the kind `") + to_string(kind) + "`",
                "tests/cases/whatif_table.hpp", "bring its tables up to date");
  }
}

Grid left_out_grid() {
  Grid grid;
  grid.columns = {{"left out", "", 0, false}, {"reason", "", 0, false}};
  for (const WhatIfLeftOut& one : what_ifs_left_out()) grid.rows.push_back({one.pair, one.reason});
  return grid;
}

int run(const CaseArguments& arguments) {
  const std::vector<WhatIfRow> rows = compare_what_ifs(read_published_cases(arguments.file));
  check_complete(rows);
  const std::vector<WhatIfRow> cited = compare_cited_what_ifs();
  print_table(arguments,
              "Published changes by kind: error of the predicted factor; direction: of those beyond 5 %",
              what_if_summary(rows));
  print_table(arguments, "Cited figures by kind: the same", what_if_summary(cited));
  print_table(arguments, "Published changes, factors after / before", what_if_grid(rows), true);
  print_table(arguments, "Cited figures, factors after / before", what_if_grid(cited), true);
  print_table(arguments, "Left out", left_out_grid());
  return 0;
}

}  // namespace
}  // namespace lanecast::cases

int main(int argc, char** argv) { return lanecast::cases::run_on_cases(argc, argv, lanecast::cases::run); }
