#pragma once
#include <optional>
#include <string>
#include <vector>

#include "model/measured/measured_run.hpp"
#include "reports/grid.hpp"
#include "reports/measure_report.hpp"

namespace lanecast {

/// The table of nccl-tests, row by row as results come: out of place and in place side by side, with columns
/// of our own behind. What one of the two has not (not measured, not checked) is N/A.
class MeasureTable {
 public:
  /// Comment lines above the rows.
  static std::string head(const MeasureReport& report);

  /// Lines that this run completes: the first of two places waits for the second.
  /// @param both  whether each call is measured in both places
  std::string add(const MeasuredRun& run, bool both);

  /// The row that still waits.
  std::string flush();

  /// Comment lines below the rows.
  static std::string foot(const MeasureReport& report);

 private:
  std::optional<MeasuredRun> waiting_;
};

/// Cells of one call that was measured out of place, in place or both; one of them may be null.
std::vector<std::string> measured_cells(const MeasuredRun* out_of_place, const MeasuredRun* in_place);

/// All of it as a grid, with a column for the session.
Grid measured_grid(const MeasureReport& report);
Grid micro_grid(const MeasureReport& report);

}  // namespace lanecast
