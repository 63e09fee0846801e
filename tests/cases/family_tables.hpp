#pragma once
#include <optional>
#include <string>
#include <vector>

#include "reports/grid.hpp"
#include "tests/cases/family_fit.hpp"
#include "tests/cases/family_table.hpp"

namespace lanecast::cases {

/// An all-reduce case at 1 MiB and more: errors (predicted / measured - 1) of the same rows.
struct FamilyLine {
  std::string case_id;
  std::string family;  // title; empty: of no family
  StatedFacts stated;
  std::string unexplained;      // why it is listed only; empty: it counts
  std::vector<double> generic;  // by the priors
  std::vector<double> held;     // by the family's fit without this case; empty: it cannot be held out
  std::vector<double> fitted;   // by the family's fit with it; empty: of no family
  std::vector<double> nccl;     // by NCCL's own cost model; empty: it can tell none
};

/// A family and its fit.
struct FittedFamily {
  const GpuFamily* family = nullptr;
  const CaseProblem* problem = nullptr;
  CaseFit fit;
};

/// Lines of the cases that hold rows of 1 MiB and more, with what families say of them.
std::vector<FamilyLine> family_lines(const std::vector<PublishedCase>& cases,
                                     const std::vector<AllReduceSweep>& sweeps,
                                     const std::vector<FittedFamily>& families);

/// One line a case, by how much is stated.
Grid family_grid(const std::vector<FamilyLine>& lines);

/// Medians over the cases' medians.
Grid family_summary_grid(const std::vector<FamilyLine>& lines);

Grid unexplained_grid(const std::vector<FamilyLine>& lines);

Grid only_predicted_grid();

/// What was fitted on what, what moved, and errors of held-out observations of all kinds.
Grid family_fit_grid(const std::vector<FittedFamily>& families);

/// Predictions, with bands, of machines whose all-reduce nobody has shown us, and what they are fitted on.
struct TransferTables {
  Grid fits;
  Grid predictions;
};

TransferTables transfer_tables(const std::vector<PublishedCase>& cases,
                               const std::vector<AllReduceSweep>& sweeps);

}  // namespace lanecast::cases
