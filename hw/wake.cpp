#include "hw/wake.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <chrono>

namespace lanecast {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kCopySize = std::size_t{4} << 20;
constexpr int kMostGpus = 64;
constexpr std::chrono::milliseconds kWarmUp{250};
constexpr std::chrono::seconds kLongestCopy{2};
constexpr std::chrono::seconds kLongestEnd{3};
constexpr std::chrono::microseconds kPoll{50};

std::chrono::duration<double> duration_of(Seconds time) {
  return std::chrono::duration<double>(time.value());
}

/// Memory and a stream on the current device.
struct CopyBuffers {
  void* device = nullptr;
  void* host = nullptr;
  cudaStream_t stream = nullptr;

  bool allocate() {
    return cudaMalloc(&device, kCopySize) == cudaSuccess && cudaMallocHost(&host, kCopySize) == cudaSuccess &&
           cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess;
  }

  /// Not in a destructor: where a copy hangs, freeing would hang as well.
  void release() {
    if (stream != nullptr) cudaStreamDestroy(stream);
    if (host != nullptr) cudaFreeHost(host);
    if (device != nullptr) cudaFree(device);
  }

  /// Whether one copy came to its end in time.
  bool copy() const {
    if (cudaMemcpyAsync(host, device, kCopySize, cudaMemcpyDeviceToHost, stream) != cudaSuccess) return false;
    const Clock::time_point begin = Clock::now();
    cudaError_t state = cudaErrorNotReady;
    while ((state = cudaStreamQuery(stream)) == cudaErrorNotReady) {
      if (Clock::now() - begin > kLongestCopy) return false;
      std::this_thread::sleep_for(kPoll);
    }
    return state == cudaSuccess;
  }
};

}  // namespace

/// What a thread shares with the object that may be gone before it.
struct AwakeGpus::Worker {
  enum State { starting, copying, warm, ended };
  std::atomic<bool> stop{false};
  std::atomic<int> state{starting};

  void run(int gpu) {
    CopyBuffers buffers;
    bool good = cudaSetDevice(gpu) == cudaSuccess && buffers.allocate();
    const Clock::time_point begin = Clock::now();
    while (good && !stop && Clock::now() - begin < duration_of(kLongest)) {
      good = buffers.copy();
      if (good) state = Clock::now() - begin > kWarmUp ? warm : copying;
    }
    if (good) buffers.release();
    state = ended;
  }
};

AwakeGpus::AwakeGpus() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    cudaGetLastError();  // the runtime keeps it for the next caller, else
    return;
  }
  for (int gpu = 0; gpu < std::min(count, kMostGpus); ++gpu) {
    workers_.push_back(std::make_shared<Worker>());
    threads_.emplace_back([worker = workers_.back(), gpu] { worker->run(gpu); });
  }
}

AwakeGpus::~AwakeGpus() {
  for (const auto& worker : workers_) worker->stop = true;
  const Clock::time_point begin = Clock::now();
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    while (workers_[i]->state != Worker::ended && Clock::now() - begin < kLongestEnd) {
      std::this_thread::sleep_for(kPoll);
    }
    if (workers_[i]->state == Worker::ended) {
      threads_[i].join();
    } else {
      threads_[i].detach();
    }
  }
}

void AwakeGpus::wait_until_busy(Seconds most) const {
  const Clock::time_point begin = Clock::now();
  const auto ready = [](const std::shared_ptr<Worker>& worker) { return worker->state >= Worker::warm; };
  while (!std::all_of(workers_.begin(), workers_.end(), ready) && Clock::now() - begin < duration_of(most)) {
    std::this_thread::sleep_for(kPoll);
  }
}

std::vector<bool> AwakeGpus::busy() const {
  std::vector<bool> busy;
  for (const auto& worker : workers_)
    busy.push_back(worker->state == Worker::copying || worker->state == Worker::warm);
  return busy;
}

}  // namespace lanecast
