#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "cli/measure_options.hpp"
#include "hw/measure/measure_plan.hpp"
#include "reports/measure_report.hpp"

namespace lanecast {

enum class RanksAs { processes, threads };

/// What the flags of `measure` ask for.
struct MeasureRequest {
  MeasurePlan plan;
  RanksAs ranks_as = RanksAs::processes;
  std::vector<int> devices;          // of each rank; empty: in turn
  std::optional<std::string> suite;  // "quick", "full"
  std::chrono::milliseconds timeout{10'000};
};

/// The number of ranks that `-g` asks for, or `--devices` names; absent: as many as there are GPUs.
/// @throws Error  kind usage: not 1 to 16
std::optional<int> asked_ranks(const MeasureOptions& options);

/// @param ranks  how many there are: sizes of blocks, roots and GPUs depend on it. Absent: not known yet;
/// what
///               depends on it is read, but not held against it.
/// @throws Error  kind usage: a value that is none, values that exclude each other, no size that is left,
///                more than 100 000 rows
MeasureRequest read_measure_request(const MeasureOptions& options, std::optional<int> ranks);

/// Every row of one session, for `--dry-run`.
std::vector<PlannedRun> planned_runs(const MeasurePlan& plan);

}  // namespace lanecast
