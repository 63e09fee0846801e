/// all_reduce_cases CASES.yaml [--markdown]: published all-reduce sweeps beside predicted ones.
///
/// Exit code 77 where the file is absent (the test is skipped). No bound is checked.
#include "model/profile/profile.hpp"
#include "tests/cases/all_reduce_comparison.hpp"
#include "tests/cases/case_arguments.hpp"

namespace lanecast::cases {
namespace {

int run(const CaseArguments& arguments) {
  const auto comparisons =
      compare_all_reduce(published_sweeps(read_published_cases(arguments.file)), Profile());
  Grid out;
  out.columns = {{"left out", "", 0, false}, {"reason", "", 0, false}};
  for (const AllReduceComparison& one : comparisons) {
    if (!one.entry.not_simulated.empty()) out.rows.push_back({one.entry.name(), one.entry.not_simulated});
  }
  for (const AllReduceLeftOut& one : all_reduce_left_out()) out.rows.push_back({one.case_id, one.reason});
  print_table(arguments, "All-reduce by case, rows of 1 KiB and more, profile generic",
              all_reduce_summary(comparisons));
  print_table(arguments, "Time of one call, out of place, profile generic",
              all_reduce_points(comparisons, arguments.markdown), true);
  print_table(arguments, "Left out", out);
  return 0;
}

}  // namespace
}  // namespace lanecast::cases

int main(int argc, char** argv) { return lanecast::cases::run_on_cases(argc, argv, lanecast::cases::run); }
