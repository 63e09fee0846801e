#include "hw/measure/micro_points.hpp"

namespace lanecast {
namespace {

using namespace literals;

MicroFlow between(int source, int destination) { return {source, destination, source, SmWork::copy}; }

/// Pairs of GPUs that play ping-pong through each other's memory: a device with itself (two of its blocks),
/// and every two that reach each other.
std::vector<MicroFlow> flight_pairs(const MicroGpus& gpus, bool through_host) {
  std::vector<MicroFlow> pairs;
  for (std::size_t a = 0; a < gpus.devices.size(); ++a) {
    for (std::size_t b = a; b < gpus.devices.size(); ++b) {
      const bool reach = a == b || through_host || (gpus.access[a][b] && gpus.access[b][a]);
      if (reach) pairs.push_back(between(gpus.devices[a], gpus.devices[b]));
    }
  }
  return pairs;
}

MicroPoint flight(MicroKind kind, const std::string& name, int threads, Bytes size) {
  MicroPoint point;
  point.kind = kind;
  point.name = name;
  point.threads = threads;
  point.blocks = 1;
  point.size = size;
  return point;
}

/// Payload: 8 B a thread and line for LL, 15 B of 16 a thread for LL128, what stands before the flag.
std::vector<MicroPoint> flights(Suite suite) {
  std::vector<MicroPoint> points;
  const bool full = suite == Suite::full;
  for (const int threads : full ? std::vector{1, 32, 128, 512} : std::vector{1, 512}) {
    const Bytes size(8 * static_cast<std::uint64_t>(threads));
    points.push_back(flight(MicroKind::ll_flight, "flight_ll", threads, size));
  }
  for (const int threads : full ? std::vector{8, 32, 128, 512} : std::vector{8, 512}) {
    const Bytes size(15 * static_cast<std::uint64_t>(threads));
    points.push_back(flight(MicroKind::ll128_flight, "flight_ll128", threads, size));
  }
  const std::vector<Bytes> behind =
      full ? std::vector{0_B, 16_B, 1_KiB, 8_KiB, 64_KiB} : std::vector{0_B, 8_KiB};
  for (const Bytes size : behind) points.push_back(flight(MicroKind::flag_flight, "flight_flag", 512, size));
  return points;
}

void add_flights(Suite suite, const MicroGpus& gpus, std::vector<MicroPoint>& points) {
  for (const bool through_host : {false, true}) {
    for (const MicroFlow& pair : flight_pairs(gpus, through_host)) {
      for (MicroPoint point : flights(suite)) {
        if (through_host) point.name += "_host";
        point.through_host = through_host;
        point.flows = {pair};
        points.push_back(point);
      }
    }
  }
}

/// Stores to own memory, host memory and each peer, then the fence.
void add_fences(Suite suite, const MicroGpus& gpus, std::vector<MicroPoint>& points) {
  const std::vector<Bytes> sizes = suite == Suite::full
                                       ? std::vector{0_B, 1_KiB, 8_KiB, 32_KiB, 128_KiB, 512_KiB}
                                       : std::vector{0_B, 8_KiB, 128_KiB};
  for (std::size_t a = 0; a < gpus.devices.size(); ++a) {
    std::vector<int> targets{kHostMemory};
    for (std::size_t b = 0; b < gpus.devices.size(); ++b) {
      if (a == b || gpus.access[a][b]) targets.push_back(gpus.devices[b]);
    }
    for (const int target : targets) {
      for (const Bytes size : sizes) {
        MicroPoint point = flight(MicroKind::fence, "fence", 512, size);
        point.flows = {between(gpus.devices[a], target)};
        points.push_back(point);
      }
    }
  }
}

/// Chunks of equal bytes in one slice and in two; the FIFO holds two chunks.
void add_slices(Suite suite, const MicroGpus& gpus, std::vector<MicroPoint>& points) {
  const std::vector<Bytes> chunks = suite == Suite::full
                                        ? std::vector{32_KiB, 64_KiB, 128_KiB, 256_KiB, 512_KiB, 1_MiB}
                                        : std::vector{64_KiB, 512_KiB};
  for (const bool through_host : {false, true}) {
    for (const MicroFlow& pair : flight_pairs(gpus, through_host)) {
      for (const Bytes chunk : chunks) {
        for (const int slices : {1, 2}) {
          MicroPoint point = flight(MicroKind::sm_pipeline, "slices", 512, chunk);
          point.name += std::to_string(slices);
          if (through_host) point.name += "_host";
          point.flows = {pair};
          point.through_host = through_host;
          point.slices = slices;
          point.slots = 2 * slices;
          points.push_back(point);
        }
      }
    }
  }
}

/// FIFOs in host memory from 256 KiB to 16 MiB, by thread blocks (8 slices) and by copy engines (4 slices).
void add_staging(Suite suite, const MicroGpus& gpus, std::vector<MicroPoint>& points) {
  const bool full = suite == Suite::full;
  const std::vector<Bytes> buffers =
      full ? std::vector{256_KiB, 512_KiB, 1_MiB, 2_MiB, 4_MiB, 8_MiB, 16_MiB} : std::vector{512_KiB, 4_MiB};
  for (const MicroFlow& pair : flight_pairs(gpus, true)) {
    for (const Bytes buffer : buffers) {
      MicroPoint point = flight(MicroKind::sm_pipeline, "staged_sm", 512, buffer);
      point.flows = {pair};
      point.through_host = true;
      point.slices = point.slots = 8;
      for (const int blocks : full ? std::vector{1, 4} : std::vector{4}) {
        point.blocks = blocks;
        points.push_back(point);
      }
      point.kind = MicroKind::engine_pipeline;
      point.name = "staged_ce";
      point.threads = point.blocks = 0;
      point.slices = point.slots = 4;
      points.push_back(point);
      point.kind = MicroKind::engine_graph;
      point.name = "staged_ce_graph";
      points.push_back(point);
    }
  }
}

MicroPoint launch(MicroKind kind, const std::string& name, int device, int kernels = 0) {
  MicroPoint point = flight(kind, name, 32, Bytes(0));
  point.flows = {between(device, device)};
  point.kernels = kernels;
  return point;
}

void add_block_starts(Suite suite, int device, std::vector<MicroPoint>& points) {
  const bool full = suite == Suite::full;
  for (const bool arguments : {false, true}) {
    const std::string name = arguments ? "graph_kernel_arguments" : "graph_kernel";
    for (const int threads : full ? std::vector{32, 64, 128, 256, 512, 640, 1024} : std::vector{64, 512}) {
      for (const int blocks : full ? std::vector{1, 2, 4, 8, 16, 32} : std::vector{1, 32}) {
        MicroPoint point = launch(MicroKind::graph_kernel, name, device);
        point.threads = threads;
        point.blocks = blocks;
        point.arguments = arguments;
        points.push_back(point);
      }
    }
  }
}

void add_launches(Suite suite, const MicroGpus& gpus, std::vector<MicroPoint>& points) {
  for (const int device : gpus.devices) {
    points.push_back(launch(MicroKind::stream_launch, "launch_stream", device));
    points.push_back(launch(MicroKind::synchronised_launch, "launch_synchronised", device));
    for (const int kernels : {10, 20, 100}) {
      points.push_back(launch(MicroKind::graph_replay, "graph_replay", device, kernels));
      points.push_back(launch(MicroKind::graph_replay_host, "graph_replay_host", device, kernels));
      points.push_back(launch(MicroKind::graph_period, "graph_period", device, kernels));
    }
    if (suite == Suite::full || device == gpus.devices.front()) add_block_starts(suite, device, points);
  }
}

}  // namespace

const char* to_string(Suite suite) { return suite == Suite::quick ? "quick" : "full"; }

std::optional<Suite> suite_from_string(const std::string& text) {
  if (text == "quick") return Suite::quick;
  if (text == "full") return Suite::full;
  return std::nullopt;
}

std::string memory_name(int memory) {
  return memory == kHostMemory ? "host" : "gpu" + std::to_string(memory);
}

std::vector<MicroPoint> micro_points(Suite suite, const MicroGpus& gpus) {
  std::vector<MicroPoint> points;
  add_launches(suite, gpus, points);
  add_flights(suite, gpus, points);
  add_fences(suite, gpus, points);
  add_sm_rate_points(suite, gpus, points);
  add_joint_sm_points(suite, gpus, points);
  add_engine_points(suite, gpus, points);
  add_slices(suite, gpus, points);
  add_staging(suite, gpus, points);
  return points;
}

}  // namespace lanecast
