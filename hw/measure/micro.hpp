#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hw/measure/micro_points.hpp"
#include "model/units.hpp"

namespace lanecast {

/// What one flow of one point gave; docs/micro-benchmarks.md explains the names. Keys as in `measure`'s JSON.
struct MicroResult {
  std::string name;
  std::string source;       // memory that data come from: "gpu0" (CUDA's index), "host"
  std::string destination;  // memory that they go to; launches: both are the GPU
  int threads = 0;          // a block; 0: copy engines
  int blocks = 0;           // of this flow
  Bytes size{0};
  std::optional<double> GBps;  // 1e9 B/s of payload: median of the repeats
  std::optional<double> us;    // median of the repeats
  int session = 1;
  std::optional<int> iterations;  // kernels in a graph, slices in a FIFO
  int repeats = 0;                // 0: derived from other results
  std::optional<double> spread;   // (largest - smallest) / median of the repeats
};

struct MicroProgress {
  std::size_t done = 0;
  std::size_t points = 0;
  std::string name;  // of the point that begins
};

struct MicroPlan {
  std::vector<int> devices;  // CUDA's indices; this process drives them all
  Suite suite = Suite::quick;
  int session = 1;
  std::function<void(const MicroProgress&)> progress;  // may be empty
  std::function<bool()> stop;                          // may be empty; asked before each point
};

/// Finds out which of the devices reach each other's memory.
/// @throws Error  kind usage: a device is named twice, or none; kind no_hardware: there is none of that index
MicroGpus micro_gpus(const std::vector<int>& devices);

/// Runs all points one after the other. Waits of kernels and of the host are bounded.
/// @param each  is given every result as it comes; may be empty
/// @return      all results; when `stop` said so, those until then
/// @throws Error  kind runtime, naming the benchmark: CUDA's error, or a wait that took too long. What was
///                measured before has gone to `each`.
std::vector<MicroResult> run_micro(const MicroPlan& plan,
                                   const std::function<void(const MicroResult&)>& each);

/// What follows from the results: cost of replaying a graph at all, and of each kernel in it (a straight line
/// through `graph_replay` over the number of kernels, by device and session).
std::vector<MicroResult> derived_results(const std::vector<MicroResult>& results);

}  // namespace lanecast
