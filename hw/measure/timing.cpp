#include "hw/measure/timing.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "hw/measure/cuda_require.hpp"

namespace lanecast {
namespace {

constexpr int kFewestSamples = 3;
constexpr int kMostSamples = 20;

class Event {
 public:
  Event() { require_cuda(cudaEventCreate(&event_), "make an event"); }
  ~Event() {
    if (event_ != nullptr) cudaEventDestroy(event_);
  }
  Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  Event& operator=(Event&&) = delete;

  void record(Stream stream) { require_cuda(cudaEventRecord(event_, stream), "record an event"); }
  Seconds since(const Event& begin) const {
    float milliseconds = 0;
    require_cuda(cudaEventElapsedTime(&milliseconds, begin.event_, event_), "read the time of two events");
    return Seconds(static_cast<double>(milliseconds) * 1e-3);
  }

 private:
  cudaEvent_t event_ = nullptr;
};

/// A graph of what `work` starts on the stream.
class Graph {
 public:
  Graph(Stream stream, const std::function<void()>& work) {
    require_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "begin a graph");
    cudaGraph_t graph = nullptr;
    try {
      work();
    } catch (...) {
      cudaStreamEndCapture(stream, &graph);
      if (graph != nullptr) cudaGraphDestroy(graph);
      throw;
    }
    require_cuda(cudaStreamEndCapture(stream, &graph), "end a graph");
    const cudaError_t error = cudaGraphInstantiate(&executable_, graph, 0);
    cudaGraphDestroy(graph);
    require_cuda(error, "make a graph executable");
    require_cuda(cudaGraphUpload(executable_, stream), "upload a graph");
  }
  ~Graph() {
    if (executable_ != nullptr) cudaGraphExecDestroy(executable_);
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  void launch(Stream stream) { require_cuda(cudaGraphLaunch(executable_, stream), "launch a graph"); }

 private:
  cudaGraphExec_t executable_ = nullptr;
};

void start_calls(const PlannedTiming& timing, const TimedRanks& ranks, Stream stream) {
  for (int i = 0; i < timing.iterations; ++i) ranks.call(i, stream);
}

void warm_up(const PlannedTiming& timing, const TimedRanks& ranks, Stream stream) {
  // At least one: the first call of a kind is planned, which a capture should not see.
  for (int i = 0; i < std::max(timing.warmup, 1); ++i) ranks.call(i % timing.iterations, stream);
  ranks.wait(stream);
}

/// Each element of `series` is one timing's end; the first is the begin of the first.
std::vector<Seconds> series_times(const std::vector<Event>& series, int iterations) {
  std::vector<Seconds> times;
  for (std::size_t i = 1; i < series.size(); ++i) {
    times.emplace_back(series[i].since(series[i - 1]).value() / iterations);
  }
  return times;
}

std::vector<Seconds> time_series(const PlannedTiming& timing, const TimedRanks& ranks, Stream stream,
                                 const std::function<void()>& start) {
  std::vector<Event> one(2);
  ranks.barrier();  // until here each rank may have allocated and loaded: with calls on their way that waits
  start();
  one[0].record(stream);
  start();
  one[1].record(stream);
  ranks.wait(stream);
  const int samples = samples_within(timing, ranks.slowest(one[1].since(one[0])));
  std::vector<Event> series(static_cast<std::size_t>(samples) + 1);
  ranks.barrier();
  start();
  series[0].record(stream);
  for (int i = 1; i <= samples; ++i) {
    start();
    series[static_cast<std::size_t>(i)].record(stream);
  }
  ranks.wait(stream);
  start();
  ranks.under_load();
  ranks.wait(stream);
  return series_times(series, timing.iterations);
}

}  // namespace

int samples_within(const PlannedTiming& timing, Seconds one) {
  if (timing.samples) return *timing.samples;
  if (!(one.value() > 0)) return kMostSamples;
  const double fitting = std::floor(timing.budget.value() / one.value());
  return static_cast<int>(
      std::clamp(fitting, static_cast<double>(kFewestSamples), static_cast<double>(kMostSamples)));
}

std::vector<Seconds> time_calls(const PlannedTiming& timing, const TimedRanks& ranks, Stream stream) {
  warm_up(timing, ranks, stream);
  if (!timing.graph) {
    return time_series(timing, ranks, stream, [&] { start_calls(timing, ranks, stream); });
  }
  ranks.barrier();  // a graph is made while no rank's calls are on their way
  Graph graph(stream, [&] { start_calls(timing, ranks, stream); });
  require_cuda(cudaStreamSynchronize(stream), "upload a graph");
  std::vector<Seconds> times = time_series(timing, ranks, stream, [&] { graph.launch(stream); });
  ranks.barrier();  // ... and taken apart
  return times;
}

void run_once(const PlannedTiming& timing, const TimedRanks& ranks, Stream stream) {
  if (!timing.graph) {
    ranks.barrier();
    ranks.call(0, stream);
    ranks.wait(stream);
    return;
  }
  ranks.barrier();
  Graph graph(stream, [&] { ranks.call(0, stream); });
  require_cuda(cudaStreamSynchronize(stream), "upload a graph");
  ranks.barrier();
  graph.launch(stream);
  ranks.wait(stream);
  ranks.barrier();
}

}  // namespace lanecast
