#include "hw/measure/micro_machine.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "model/error.hpp"

namespace lanecast {
namespace {

constexpr std::size_t kHostPart = std::size_t{32} << 20;
constexpr std::size_t kFindings = std::size_t{64} << 10;
constexpr std::chrono::seconds kLongestWait{10};

struct DeviceFree {
  void operator()(std::byte* memory) const { cudaFree(memory); }
};
struct HostFree {
  void operator()(std::byte* memory) const { cudaFreeHost(memory); }
};
using DeviceMemory = std::unique_ptr<std::byte, DeviceFree>;
using HostMemory = std::unique_ptr<std::byte, HostFree>;
struct StreamDestroy {
  void operator()(CUstream_st* stream) const { cudaStreamDestroy(stream); }
};

DeviceMemory device_memory(std::size_t size, int device) {
  void* memory = nullptr;
  const std::string what =
      "allocate " + std::to_string(size >> 10) + " KiB on device " + std::to_string(device);
  check_micro(cudaMalloc(&memory, size), what);
  DeviceMemory owned(static_cast<std::byte*>(memory));
  check_micro(cudaMemset(memory, 0, size), "clear memory on device " + std::to_string(device));
  return owned;
}

HostMemory host_memory(std::size_t size) {
  void* memory = nullptr;
  check_micro(cudaHostAlloc(&memory, size, cudaHostAllocPortable | cudaHostAllocMapped),
              "allocate " + std::to_string(size >> 20) + " MiB of pinned host memory");
  std::memset(memory, 0, size);
  return HostMemory(static_cast<std::byte*>(memory));
}

}  // namespace

void check_micro(int code, const std::string& doing) {
  if (code == cudaSuccess) return;
  const auto error = static_cast<cudaError_t>(code);
  cudaGetLastError();  // the runtime keeps it for the next caller, else
  throw Error(ErrorKind::runtime, std::string("CUDA: ") + cudaGetErrorString(error), "it should " + doing,
              "see that no other program uses the GPU; `nvidia-smi` and the kernel's log say more");
}

void check_micro_wait(bool gave_up) {
  if (!gave_up) return;
  throw Error(ErrorKind::runtime, "a thread block waited 2 s for data that did not come", "",
              "see that no other program keeps the GPU busy, then run it again");
}

struct MicroMachine::Gpu {
  int device = 0;
  int multiprocessors = 0;
  DeviceMemory in, second, out, mailbox, findings;
  HostMemory host;                                                            // in, out, then the mailbox
  std::array<std::unique_ptr<CUstream_st, StreamDestroy>, kStreams> streams;  // last, so destroyed first
};

MicroMachine::MicroMachine(const MicroGpus& gpus) {
  for (const int device : gpus.devices) open(device);
  allow_access(gpus);
}

void MicroMachine::open(int device) {
  use(device);
  gpus_.push_back(std::make_unique<Gpu>());
  Gpu& gpu = *gpus_.back();
  gpu.device = device;
  check_micro(cudaDeviceGetAttribute(&gpu.multiprocessors, cudaDevAttrMultiProcessorCount, device),
              "count the multiprocessors of device " + std::to_string(device));
  const std::size_t largest_bytes = kLargest.value();
  gpu.in = device_memory(largest_bytes, device);
  gpu.second = device_memory(largest_bytes, device);
  gpu.out = device_memory(largest_bytes, device);
  gpu.mailbox = device_memory(kMailbox.value(), device);
  gpu.findings = device_memory(kFindings, device);
  gpu.host = host_memory(2 * kHostPart + kMailbox.value());
  for (auto& owned : gpu.streams) {
    Stream stream = nullptr;
    check_micro(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "create a stream");
    owned.reset(stream);
  }
  check_micro(cudaDeviceSynchronize(), "clear memory of device " + std::to_string(device));
}

void MicroMachine::allow_access(const MicroGpus& gpus) {
  for (std::size_t a = 0; a < gpus.devices.size(); ++a) {
    for (std::size_t b = 0; b < gpus.devices.size(); ++b) {
      if (a == b || !gpus.access[a][b]) continue;
      use(gpus.devices[a]);
      const cudaError_t error = cudaDeviceEnablePeerAccess(gpus.devices[b], 0);
      if (error == cudaErrorPeerAccessAlreadyEnabled) {
        cudaGetLastError();
        continue;
      }
      check_micro(error, "open the memory of device " + std::to_string(gpus.devices[b]) + " to device " +
                             std::to_string(gpus.devices[a]));
      allowed_.push_back({gpus.devices[a], gpus.devices[b]});
    }
  }
}

MicroMachine::~MicroMachine() {
  for (const auto& [from, to] : allowed_) {
    if (cudaSetDevice(from) == cudaSuccess) cudaDeviceDisablePeerAccess(to);
  }
  cudaGetLastError();
}

const MicroMachine::Gpu& MicroMachine::gpu(int device) const {
  const auto found =
      std::find_if(gpus_.begin(), gpus_.end(), [&](const auto& gpu) { return gpu->device == device; });
  if (found == gpus_.end()) {
    throw Error(ErrorKind::usage, "device " + std::to_string(device) + " is not among those measured", "",
                "");
  }
  return **found;
}

std::byte* MicroMachine::source(const MicroFlow& flow) const {
  return flow.source == kHostMemory ? gpu(flow.runner).host.get() : gpu(flow.source).in.get();
}

std::byte* MicroMachine::destination(const MicroFlow& flow) const {
  return flow.destination == kHostMemory ? gpu(flow.runner).host.get() + kHostPart
                                         : gpu(flow.destination).out.get();
}

std::byte* MicroMachine::second(int device) const { return gpu(device).second.get(); }

std::byte* MicroMachine::fifo(int device, bool in_host) const {
  return in_host ? gpu(device).host.get() : gpu(device).second.get();
}

std::byte* MicroMachine::mailbox(int device, bool in_host) const {
  return in_host ? gpu(device).host.get() + 2 * kHostPart : gpu(device).mailbox.get();
}

std::byte* MicroMachine::findings(int device) const { return gpu(device).findings.get(); }

MicroMachine::Stream MicroMachine::stream(int device, int index) const {
  return gpu(device).streams.at(static_cast<std::size_t>(index)).get();
}

int MicroMachine::multiprocessors(int device) const { return gpu(device).multiprocessors; }

void MicroMachine::put(int device, std::byte* to, const void* from, std::size_t bytes) const {
  use(device);
  check_micro(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice),
              "write to device " + std::to_string(device));
  check_micro(cudaStreamSynchronize(nullptr), "write to device " + std::to_string(device));
}

void MicroMachine::get(int device, void* to, const std::byte* from, std::size_t bytes) const {
  use(device);
  check_micro(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost),
              "read from device " + std::to_string(device));
}

void MicroMachine::clear(int device, bool in_host, std::byte* memory, std::size_t bytes) const {
  if (in_host) {
    std::memset(memory, 0, bytes);
    return;
  }
  use(device);
  check_micro(cudaMemset(memory, 0, bytes), "clear memory of device " + std::to_string(device));
  check_micro(cudaStreamSynchronize(nullptr), "clear memory of device " + std::to_string(device));
}

void MicroMachine::use(int device) const {
  check_micro(cudaSetDevice(device), "use device " + std::to_string(device));
}

void MicroMachine::wait(Stream stream) const {
  const auto begin = std::chrono::steady_clock::now();
  cudaError_t state = cudaErrorNotReady;
  while ((state = cudaStreamQuery(stream)) == cudaErrorNotReady) {
    if (std::chrono::steady_clock::now() - begin > kLongestWait) {
      throw Error(ErrorKind::runtime, "the GPU did not finish within 10 s", "",
                  "see that no other program keeps the GPU busy, then run it again");
    }
    std::this_thread::yield();
  }
  check_micro(state, "finish the work of a stream");
}

MicroEvent::MicroEvent() { check_micro(cudaEventCreate(&event_), "create an event"); }
MicroEvent::~MicroEvent() { cudaEventDestroy(event_); }

void MicroEvent::record(MicroMachine::Stream stream) const {
  check_micro(cudaEventRecord(event_, stream), "record an event");
}

Seconds MicroEvent::since(const MicroEvent& earlier) const {
  float milliseconds = 0;
  check_micro(cudaEventElapsedTime(&milliseconds, earlier.event_, event_),
              "take the time between two events");
  return Seconds(1e-3 * static_cast<double>(milliseconds));
}

}  // namespace lanecast
