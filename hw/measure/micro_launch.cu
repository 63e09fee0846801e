#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>

#include "hw/kernels/memory_device.cuh"
#include "hw/measure/micro_benchmarks.hpp"
#include "hw/measure/micro_graph.hpp"

namespace lanecast {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kLaunches = 200;   // in a stream, a repeat
constexpr int kReplays = 20;     // one after the other, a repeat
constexpr int kFewKernels = 20;  // graphs whose difference is the cost of a kernel
constexpr int kManyKernels = 120;
constexpr int kRepeatsOfShort = 4;  // short things are repeated more often

__global__ void empty_kernel() {}

/// As large as a kernel's arguments may be on all GPUs (4 KiB), as a collective's call nearly is.
struct ManyArguments {
  std::uint32_t words[960] = {};
};

__global__ void argument_kernel(ManyArguments arguments, std::uint32_t* to) {
  __shared__ std::uint32_t words[960];
  for (unsigned i = threadIdx.x; i < 960; i += blockDim.x) words[i] = arguments.words[i];
  __syncthreads();
  if (words[threadIdx.x % 960] != 0) *to = words[0];  // never: all are 0
}

__global__ void holding_kernel(std::uint64_t time_ns) {
  const std::uint64_t begin_ns = device::device_time_ns();
  while (device::device_time_ns() - begin_ns < time_ns) {
  }
}

void launch(const MicroPoint& point, MicroMachine::Stream stream, std::byte* findings) {
  const auto blocks = static_cast<unsigned>(point.blocks), threads = static_cast<unsigned>(point.threads);
  if (point.arguments) {
    argument_kernel<<<blocks, threads, 0, stream>>>({}, reinterpret_cast<std::uint32_t*>(findings));
  } else {
    empty_kernel<<<blocks, threads, 0, stream>>>();
  }
  check_micro(cudaGetLastError(), "start an empty kernel");
}

/// A graph of one kernel after the other.
MicroGraph kernel_graph(const MicroPoint& point, int kernels, MicroMachine::Stream stream,
                        std::byte* findings) {
  return MicroGraph(stream, [=, &point] {
    for (int i = 0; i < kernels; ++i) launch(point, stream, findings);
  });
}

template <class Work>
Seconds host_time(Work work) {
  const auto begin = Clock::now();
  work();
  return Seconds(std::chrono::duration<double>(Clock::now() - begin).count());
}

/// One replay, from an event before it to one after it.
Seconds replay_time(const MicroGraph& graph, const MicroMachine& machine, MicroMachine::Stream stream) {
  const MicroEvent begin, end;
  begin.record(stream);
  graph.replay();
  end.record(stream);
  machine.wait(stream);
  return end.since(begin);
}

Seconds median(std::vector<Seconds> times) {
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

/// What one more kernel takes in a graph: two graphs' difference, so that what a replay costs drops out.
Seconds kernel_time(const MicroGraph& few, const MicroGraph& many, const MicroMachine& machine,
                    MicroMachine::Stream stream) {
  std::vector<Seconds> short_times, long_times;
  for (int i = 0; i < 5; ++i) {
    short_times.push_back(replay_time(few, machine, stream));
    long_times.push_back(replay_time(many, machine, stream));
  }
  return (median(long_times) - median(short_times)) * (1.0 / (kManyKernels - kFewKernels));
}

template <class Measure>
std::vector<MicroFinding> repeated(int repeats, Measure measure) {
  MicroFinding finding;
  measure();
  for (int i = 0; i < repeats; ++i) finding.times.push_back(measure());
  return {finding};
}

std::vector<MicroFinding> measure_graph(const MicroPoint& point, const MicroMachine& machine,
                                        MicroMachine::Stream stream, std::byte* findings, int repeats) {
  if (point.kind == MicroKind::graph_kernel) {
    const MicroGraph few = kernel_graph(point, kFewKernels, stream, findings);
    const MicroGraph many = kernel_graph(point, kManyKernels, stream, findings);
    return repeated(repeats, [&] { return kernel_time(few, many, machine, stream); });
  }
  const MicroGraph graph = kernel_graph(point, point.kernels, stream, findings);
  const int often = kRepeatsOfShort * repeats;
  if (point.kind == MicroKind::graph_replay) {
    return repeated(often, [&] { return replay_time(graph, machine, stream); });
  }
  const int replays = point.kind == MicroKind::graph_period ? kReplays : 1;
  return repeated(often, [&] {
    const Seconds time = host_time([&] {
      for (int i = 0; i < replays; ++i) graph.replay();
      machine.wait(stream);
    });
    return time * (1.0 / replays);
  });
}

}  // namespace

void hold_stream(MicroMachine::Stream stream, Seconds time) {
  const double time_ns = 1e9 * std::min(time.value(), 10e-3);
  holding_kernel<<<1, 1, 0, stream>>>(static_cast<std::uint64_t>(time_ns));
  check_micro(cudaGetLastError(), "hold a stream");
}

std::vector<MicroFinding> measure_launches(const MicroPoint& point, const MicroMachine& machine,
                                           const MicroEffort& effort) {
  const int device = point.flows.front().runner;
  const MicroMachine::Stream stream = machine.stream(device, 0);
  std::byte* findings = machine.findings(device);
  machine.use(device);
  if (point.kind != MicroKind::stream_launch && point.kind != MicroKind::synchronised_launch) {
    return measure_graph(point, machine, stream, findings, effort.repeats);
  }
  const int launches = point.kind == MicroKind::stream_launch ? kLaunches : 1;
  return repeated(kRepeatsOfShort * effort.repeats, [&] {
    const Seconds time = host_time([&] {
      for (int i = 0; i < launches; ++i) launch(point, stream, findings);
      machine.wait(stream);
    });
    return time * (1.0 / launches);
  });
}

}  // namespace lanecast
