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
constexpr int kMostInBatch = 1000;  // launches wait in a queue of the driver's
constexpr Seconds kLongestBatch{5.0};

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

/// Timings that follow each other without the host, behind one that is not counted.
void time_batch(const TimedRanks& ranks, Stream stream, const std::function<void()>& start, int timings,
                std::vector<Seconds>& times) {
  std::vector<Event> ends(static_cast<std::size_t>(timings) + 1);
  ranks.barrier();  // until here each rank may have allocated and loaded: with calls on their way that waits
  start();
  for (Event& end : ends) {
    end.record(stream);
    if (&end != &ends.back()) start();
  }
  ranks.wait(stream);
  for (std::size_t i = 1; i < ends.size(); ++i) times.push_back(ends[i].since(ends[i - 1]));
}

std::vector<Seconds> time_series(const PlannedTiming& timing, const TimedRanks& ranks, Stream stream,
                                 const std::function<void()>& start) {
  std::vector<Seconds> times;
  time_batch(ranks, stream, start, 1, times);
  const Seconds one = ranks.slowest(times.front());
  times.clear();
  const int samples = samples_within(timing, one);
  while (static_cast<int>(times.size()) < samples) {
    const int left = samples - static_cast<int>(times.size());
    time_batch(ranks, stream, start, std::min(left, batch_within(one)), times);
  }
  ranks.barrier();
  start();
  ranks.under_load();
  ranks.wait(stream);
  for (Seconds& time : times) time = Seconds(time.value() / timing.iterations);
  return times;
}

}  // namespace

int samples_within(const PlannedTiming& timing, Seconds one) {
  if (timing.samples) return *timing.samples;
  if (!(one.value() > 0)) return kMostSamples;
  const double fitting = std::floor(timing.budget.value() / one.value());
  return static_cast<int>(
      std::clamp(fitting, static_cast<double>(kFewestSamples), static_cast<double>(kMostSamples)));
}

int batch_within(Seconds one) {
  if (!(one.value() > 0)) return kMostInBatch;
  return static_cast<int>(
      std::clamp(std::floor(kLongestBatch.value() / one.value()), 1.0, static_cast<double>(kMostInBatch)));
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
