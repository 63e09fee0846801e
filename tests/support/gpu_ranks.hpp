#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "hw/engine/communicator.hpp"
#include "hw/engine/engine_device.hpp"
#include "model/predict/call.hpp"

namespace lanecast::support {

/// How many GPUs CUDA shows; 0: tests that need one are skipped.
int gpu_count();

/// One rank, as its thread sees it.
struct GpuRank {
  int rank = 0;
  Communicator& communicator;
  EngineDevice& device;
  Stream stream = nullptr;
};

/// Ranks as threads of this process, rank r on GPU r modulo their number.
///
/// @return  what each rank threw, by rank; empty: nothing
std::vector<std::string> run_gpu_ranks(int ranks, const EngineOptions& options,
                                       const std::function<void(GpuRank&)>& body);

/// A call on every rank with reproducible inputs, checked element by element.
struct GpuCase {
  Call call;  // size: in elements of one rank's block times ranks, as Call says
  CallChoice choice;
  int offset = 0;   // elements by which the buffers are moved off their alignment
  int replays = 0;  // of a captured graph; 0: in the stream
  int repeats = 1;  // calls in the stream, or in the graph
  std::uint64_t seed = 1;
};

/// Runs the case on this rank and counts the wrong elements of its output; guards around it are counted too.
std::uint64_t wrong_elements(GpuRank& rank, const GpuCase& test);

}  // namespace lanecast::support
