#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/units.hpp"

namespace lanecast {

/// How many points: `quick` takes less than 20 s on one GPU, `full` less than 3 min.
enum class Suite : std::uint8_t { quick, full };

const char* to_string(Suite suite);
std::optional<Suite> suite_from_string(const std::string& text);

/// GPUs to measure, by CUDA's index in this process, and which of them reach which memory.
struct MicroGpus {
  std::vector<int> devices;               // no index twice
  std::vector<std::vector<bool>> access;  // devices x devices: row's kernels may use column's memory
};

/// What runs a point.
enum class MicroKind : std::uint8_t {
  sm_rate,              // thread blocks move data for a while
  engine_rate,          // copy engines move data
  ll_flight,            // ping-pong of LL lines, 16 B
  ll128_flight,         // ping-pong of LL128 lines, 128 B by 8 threads
  flag_flight,          // ping-pong of data, fence, flag
  fence,                // a system fence behind stores
  sm_pipeline,          // producer and consumer blocks around a FIFO
  engine_pipeline,      // copies into and out of a FIFO in host memory, issued by the host
  engine_graph,         // the same, captured in a graph
  stream_launch,        // launches one after the other in a stream
  synchronised_launch,  // a launch and its end, seen by the host
  graph_replay,         // one replay, from its start to its end on the GPU
  graph_replay_host,    // one replay and its end, seen by the host
  graph_period,         // replays one after the other
  graph_kernel,         // one more kernel in a graph
};

/// What a thread block does with each 16 bytes.
enum class SmWork : std::uint8_t { store, load, copy, reduce };

inline constexpr int kHostMemory = -1;

/// Data that go from one memory to another. Memories: a device's index, or kHostMemory.
struct MicroFlow {
  int source = kHostMemory;
  int destination = kHostMemory;
  int runner = 0;  // device whose thread blocks or copy engine move the data
  SmWork work = SmWork::copy;
};

/// One benchmark with its settings: a result for each flow.
struct MicroPoint {
  MicroKind kind = MicroKind::sm_rate;
  std::string name;
  std::vector<MicroFlow> flows;
  int threads = 0;            // a block
  int blocks = 0;             // a flow
  Bytes size{0};              // by kind: one buffer, one copy, payload of a flight, chunk, FIFO
  bool through_host = false;  // flights, pipelines: data meet in host memory
  int slots = 0;              // pipelines: slices that the FIFO holds
  int slices = 0;             // pipelines: slices in `size`
  int kernels = 0;            // graphs: nodes
  bool arguments = false;     // graph_kernel: with nearly 4 KiB of arguments, put into shared memory
};

/// "host", "gpu0".
std::string memory_name(int memory);

/// All points, in the order in which they run. A pure function: `--dry-run` lists them without a GPU.
///
/// Every device and every pair with access has its points. The whole grid of threads and blocks is run for
/// the first device and the first pair (each way); the others get its corners.
std::vector<MicroPoint> micro_points(Suite suite, const MicroGpus& gpus);

/// Parts of that list, in micro_rate_points.cpp.
void add_sm_rate_points(Suite suite, const MicroGpus& gpus, std::vector<MicroPoint>& points);
void add_joint_sm_points(Suite suite, const MicroGpus& gpus, std::vector<MicroPoint>& points);
void add_engine_points(Suite suite, const MicroGpus& gpus, std::vector<MicroPoint>& points);

}  // namespace lanecast
