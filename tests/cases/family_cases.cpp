/// family_cases CASES.yaml [--markdown] [--write-profiles FOLDER]: profiles of GPU families, fitted to
/// published cases, and what they say of cases that they did not see.
///
/// Exit code 77 where the file is absent (the test is skipped). No bound is checked.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <list>

#include "configs/profile_writer.hpp"
#include "model/error.hpp"
#include "tests/cases/case_arguments.hpp"
#include "tests/cases/family_profile.hpp"
#include "tests/cases/family_tables.hpp"

namespace lanecast::cases {
namespace {

void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  if (!file.flush())
    throw Error(ErrorKind::runtime, "a profile cannot be written", path.string(),
                "name a folder that can be");
}

void write_profiles(const std::string& folder, const std::vector<FittedFamily>& families) {
  std::filesystem::create_directories(folder);
  for (const FittedFamily& one : families)
    write_file(std::filesystem::path(folder) / (one.family->profile + ".yaml"),
               write_profile(family_profile(*one.family, *one.problem, one.fit)));
}

int run(const CaseArguments& arguments) {
  const std::vector<PublishedCase> cases = read_published_cases(arguments.file);
  const std::vector<AllReduceSweep> sweeps = published_sweeps(cases);
  std::list<CaseProblem> problems;
  std::vector<FittedFamily> families;
  for (const GpuFamily& family : gpu_families()) {
    const CaseProblem& problem = problems.emplace_back(cases, sweeps, family.cases);
    families.push_back({&family, &problem, fit_cases(problem, true)});
    std::cerr << family.profile << " is fitted\n";
  }
  const std::vector<FamilyLine> lines = family_lines(cases, sweeps, families);
  print_table(
      arguments,
      "All-reduce of 1 MiB and more, out of place: median over the cases' median |error|, of how many",
      family_summary_grid(lines));
  print_table(arguments, "All-reduce of 1 MiB and more, by case", family_grid(lines));
  print_table(arguments, "Listed, not fitted to", unexplained_grid(lines));
  print_table(arguments, "Counted, not fitted to", only_predicted_grid());
  print_table(arguments, "Profiles of GPU families: median |error| of all observations",
              family_fit_grid(families));
  const TransferTables transfers = transfer_tables(cases, sweeps);
  print_table(arguments, "What the predictions below are fitted on", transfers.fits);
  print_table(arguments, "Predictions of all-reduce, launched in a stream, out of place",
              transfers.predictions);
  if (!arguments.profiles.empty()) write_profiles(arguments.profiles, families);
  return 0;
}

}  // namespace
}  // namespace lanecast::cases

int main(int argc, char** argv) {
  return lanecast::cases::run_on_cases(argc, argv, lanecast::cases::run, lanecast::cases::Extra::profiles);
}
