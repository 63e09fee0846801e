#pragma once
#include <functional>
#include <memory>
#include <string>

#include "hw/engine/communicator.hpp"
#include "hw/engine/engine_device.hpp"
#include "hw/measure/measure_plan.hpp"
#include "hw/rendezvous/exchange.hpp"
#include "model/measured/measured_run.hpp"

namespace lanecast {

/// One rank of a measurement. Used from one thread.
struct MeasuringRank {
  Exchange& control;     // joins the ranks of the whole measurement
  EngineDevice& device;  // opened by this rank
  int cuda_device = 0;   // the same by CUDA's index

  /// An exchange for the n-th communicator of the measurement, counted from 0 over all sessions.
  std::function<std::unique_ptr<Exchange>(int n)> open_exchange;
};

/// What the sweep tells while it runs, on every rank. Functions may be empty.
struct SweepEvents {
  std::function<void(const Communicator&)> opened;          // a communicator, before its calls
  std::function<void(const Call&, int session)> begins;     // a row
  std::function<void(const MeasuredRun&)> measured;         // the row, the same on all ranks
  std::function<void(const std::string& reason)> left_out;  // calls that the engine cannot run
  std::function<void()> under_load;                         // the GPU works, and nobody takes the time
  std::function<bool()> stop;                               // asked between rows
};

enum class SweepEnd { complete, stopped };

/// Measures what the plan says. Collective: every rank calls it with the same plan.
///
/// A call that the engine cannot run is left out where the plan has others, and an error where it is alone.
/// Ends after the running row as soon as `stop` is true on any rank.
/// @throws Error  kind usage: the only call cannot be run; kind runtime: as Communicator, or no memory
SweepEnd run_sweep(const MeasurePlan& plan, MeasuringRank& rank, const SweepEvents& events);

}  // namespace lanecast
