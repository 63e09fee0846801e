#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "model/measured/measured_run.hpp"
#include "reports/document.hpp"
#include "reports/format.hpp"

namespace lanecast {

/// A GPU of the machine that was measured, in CUDA's order. Absent: it does not say.
struct MeasuredGpu {
  int index = 0;
  std::string name;
  std::string bus_id;  // "0000:3b:00.0"
  int sm = 0;          // compute capability x 10
  Bytes memory{0};
  std::optional<int> sm_clock_MHz_before;
  std::optional<int> memory_clock_MHz_before;
  std::optional<int> sm_clock_MHz_min;  // seen while it worked
  std::optional<int> sm_clock_MHz_max;
  std::optional<int> memory_clock_MHz;  // last seen while it worked, as what follows
  std::optional<int> pcie_generation;
  std::optional<int> pcie_width;
  std::optional<int> performance_state;
};

/// What was measured on.
struct MeasuredMachine {
  std::string host;
  std::string kernel;                       // "Linux 6.8.0-60-generic"
  std::string cpu;                          // model name
  std::string captured;                     // 2026-11-30T06:25:03Z
  std::string driver;                       // NVIDIA's, "580.95.05"
  std::optional<std::string> cuda_driver;   // newest CUDA that the driver knows, "13.0"
  std::optional<std::string> cuda_runtime;  // CUDA that the engine was built with
  std::vector<MeasuredGpu> gpus;
  std::vector<std::string> paths;  // "rank 0 to rank 1: host memory (peer access is refused)"
  std::string machine_file;        // text of `topo discover`; empty: not read
};

/// A micro-benchmark's result; docs/micro-benchmarks.md explains the names.
struct MicroRow {
  std::string name;
  std::string source;
  std::string destination;
  int threads = 0;
  int blocks = 0;
  Bytes size{0};
  std::optional<double> GBps;
  std::optional<double> us;
  int session = 1;
  std::optional<int> iterations;
  int repeats = 0;
  std::optional<double> spread;
};

struct MeasureReport {
  RunInfo run;
  MeasuredMachine machine;
  int ranks = 0;
  std::string ranks_as;      // "processes", "threads"
  std::vector<int> devices;  // CUDA's index of each rank's GPU
  Launch launch = Launch::graph;
  std::vector<MeasuredRun> runs;
  std::vector<MicroRow> micro;
  std::vector<std::string> left_out;  // calls that the engine cannot run, and why
  std::string ended;                  // why it ended before its end; empty: it is complete
};

/// Elements that were wrong in all runs.
std::uint64_t wrong_elements(const MeasureReport& report);

/// The document in a format. Table and markdown show the main columns; JSON and CSV hold every key
/// (docs/measure.md). CSV holds the runs, and where there are none the micro-benchmarks.
std::string measure_text(const MeasureReport& report, Format format);

/// A run with all of its keys, in the documented order: a line of JSON lines.
nlohmann::ordered_json run_as_json(const MeasureReport& report, const MeasuredRun& run);
nlohmann::ordered_json micro_as_json(const MicroRow& row);

/// What `--dry-run` prints: calls as asked for, what is left to the engine as `auto` (null in JSON).
struct PlannedRun {
  Call call;
  std::string staging;  // "sm", "ce"; empty: left to the engine
};
std::string planned_text(const RunInfo& run, const std::vector<std::string>& head,
                         const std::vector<PlannedRun>& planned, int ranks, Format format);

}  // namespace lanecast
