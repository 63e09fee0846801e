#pragma once
#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/data_options.hpp"
#include "cli/machine_options.hpp"
#include "cli/output.hpp"
#include "model/measured/comparison.hpp"
#include "model/measured/tolerance.hpp"
#include "reports/comparison_report.hpp"

namespace lanecast {

/// The flags of `compare`, as typed. Empty: not given.
struct CompareOptions {
  std::vector<std::string> files;
  MachineOptions machine;
  DataOptions data;
  std::string implementation;
  bool in_place = false;
  bool first_rows = false;
  bool nccl_model = false;
  bool exact = false;
  std::string min_size;
  std::vector<std::string> only;
  std::string tolerance;
  std::string tolerance_of = "max";
  std::string worst = "10";
  std::string rows = "auto";
  std::string seed = "1";
  std::string jobs = "0";
  OutputOptions output;
};

void add_compare_options(CLI::App& command, CompareOptions& options);

/// Which rows count. @throws Error  kind usage, as all functions here
ComparisonOptions read_comparison_options(const CompareOptions& options);

/// "protocol=ll,channels=2,8": keys with one or more values.
/// @param flag  as messages name it
CallFilter read_call_filter(const std::vector<std::string>& texts, const std::string& flag);

/// A share: "10%" or "0.1".
double read_share(const std::string& text, const std::string& flag);

ToleranceOf read_tolerance_of(const CompareOptions& options);
RowsShown read_rows_shown(const CompareOptions& options);

}  // namespace lanecast
