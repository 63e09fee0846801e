#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "model/measured/comparison.hpp"
#include "model/measured/matrix_comparison.hpp"
#include "model/measured/tolerance.hpp"
#include "reports/document.hpp"
#include "reports/format.hpp"

namespace lanecast {

/// Which rows table and markdown list; JSON and CSV have all.
enum class RowsShown { automatic, all, worst };

/// A tolerance and what lies beyond it.
struct ToleranceResult {
  double tolerance = 0;  // a fraction
  ToleranceOf of = ToleranceOf::max;
  std::vector<Breach> beyond;
};

/// Measurements beside predictions.
struct ComparisonReport {
  RunInfo run;
  std::string measured;   // files
  std::string predicted;  // a file, or what was predicted on
  std::string machine;    // empty: not known
  std::string profile;    // empty: not known
  bool in_place = false;
  bool with_nccl_model = false;
  CallComparison calls;
  std::vector<ComparedMatrix> matrices;
  std::optional<ToleranceResult> tolerance;
  std::vector<Warning> warnings;
  RowsShown shown = RowsShown::automatic;
  std::size_t worst = 10;
};

/// The document in a format (docs/compare.md). CSV holds the rows, and where there are none the cells of
/// pairwise tables.
std::string comparison_text(const ComparisonReport& report, Format format);

/// "max", "median", "p95".
const char* to_string(ToleranceOf of);

/// "10 % (max)"
std::string bound_of(const ToleranceResult& result);

/// "+12.3 %  size 1024, simple p2p (run.log:17)"
std::string text_of(const Breach& breach);

}  // namespace lanecast
