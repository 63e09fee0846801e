#pragma once
#include <functional>
#include <string>

#include "reports/grid.hpp"

namespace lanecast::cases {

/// What the programs of this folder take: CASES.yaml [--markdown].
struct CaseArguments {
  std::string file;
  bool markdown = false;
  std::string profiles;  // --write-profiles: the folder; empty: nothing is written
};

/// An option that only some of the programs take.
enum class Extra { none, profiles };

/// Reads the arguments and runs `program`; errors go to stderr.
///
/// @return  the exit code: the program's, 77 where the file is absent, else that of the Error's kind
int run_on_cases(int argc, char** argv, const std::function<int(const CaseArguments&)>& program,
                 Extra extra = Extra::none);

/// Prints a table to stdout, in markdown folded away where it is a long one.
void print_table(const CaseArguments& arguments, const std::string& caption, const Grid& grid,
                 bool fold = false);

}  // namespace lanecast::cases
