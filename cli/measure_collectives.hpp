#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "cli/measure_request.hpp"
#include "cli/session.hpp"
#include "hw/measure/run_sweep.hpp"
#include "hw/rendezvous/launcher.hpp"

namespace lanecast {

/// Ranks of a measurement and where each runs.
struct MeasuringJob {
  const MeasureRequest& request;
  std::vector<int> devices;  // CUDA's index of each rank's GPU
  std::optional<LaunchedRank> launched;
};

/// How long ranks wait for each other outside of the engine, which has a time-out of its own.
std::chrono::milliseconds patience(const MeasureRequest& request);

/// Every rank as a thread of this process.
/// @param events  of rank 0; the others only ask whether to stop
/// @throws Error  as run_sweep; where several ranks fail, the first by rank, and the session notes the others
SweepEnd sweep_by_threads(const MeasuringJob& job, const SweepEvents& events, const Session& session);

/// This process's rank, which a launcher or `sweep_by_processes` of rank 0 has started.
SweepEnd sweep_as_rank(const MeasuringJob& job, const LaunchedRank& rank, const SweepEvents& events);

/// This process as rank 0, and the others as processes that it starts.
/// @throws Error  as run_sweep, or kind runtime: a rank's process failed; the message says how each ended
SweepEnd sweep_by_processes(const MeasuringJob& job, const SweepEvents& events, const Session& session);

}  // namespace lanecast
