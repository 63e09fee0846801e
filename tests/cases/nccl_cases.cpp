/// nccl_cases CASES.yaml [--markdown]: what NCCL's rules choose beside what was published and logged, and
/// NCCL's own cost model beside ours.
///
/// Exit code 77 where the file is absent (the test is skipped). No bound is checked here: nccl_cases_test
/// does that.
#include <filesystem>

#include "model/profile/profile.hpp"
#include "tests/cases/baseline_table.hpp"
#include "tests/cases/case_arguments.hpp"
#include "tests/cases/choice_table.hpp"
#include "tests/cases/h200_sweeps.hpp"
#include "tests/cases/logged_decisions.hpp"
#include "tests/cases/protocol_switch.hpp"

namespace lanecast::cases {
namespace {

void append(std::vector<LoggedFact>& facts, const std::vector<LoggedFact>& more) {
  facts.insert(facts.end(), more.begin(), more.end());
}

int run(const CaseArguments& arguments) {
  const std::filesystem::path cases = std::filesystem::path(arguments.file).parent_path();
  const std::filesystem::path h200 = cases / ".." / "measurements" / "h200x2-nvlink";
  const Profile profile;
  std::vector<ComparisonGroup> groups;
  groups.push_back({"published", false,
                    compare_all_reduce(published_sweeps(read_published_cases(arguments.file)), profile)});
  std::vector<LoggedFact> facts;
  if (std::filesystem::exists(h200)) {
    groups.push_back(
        {"2 x H200", true, compare_all_reduce(h200_sweeps((h200 / "nccl-2.28.9.csv").string()), profile)});
    append(facts, h200_log_facts(h200.string()));
    append(facts, recorded_facts());
    append(facts, switch_facts(groups.back().comparisons));
  }
  append(facts, published_log_facts((cases / "raw").string()));
  append(facts, graph_file_facts((cases / "raw").string()));
  print_table(arguments, "What NCCL chooses by its rules, beside what the source says",
              choice_grid(groups.front().comparisons));
  print_table(arguments, "Prediction and NCCL's own cost model, rows of 1 KiB and more, out of place",
              baseline_grid(groups));
  print_table(arguments, "What NCCL printed, and what measurements show", fact_grid(facts));
  return 0;
}

}  // namespace
}  // namespace lanecast::cases

int main(int argc, char** argv) { return lanecast::cases::run_on_cases(argc, argv, lanecast::cases::run); }
