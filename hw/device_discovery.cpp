#include "hw/device_discovery.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>

namespace lanecast {
namespace {

constexpr int kMostDevices = 64;

std::string problem_of(cudaError_t error) {
  if (error != cudaErrorInsufficientDriver) return std::string("CUDA: ") + cudaGetErrorString(error);
  const int major = CUDART_VERSION / 1000;  // the runtime says the same where there is no driver at all
  return "CUDA: NVIDIA's driver is not there, or too old for CUDA " + std::to_string(major);
}

CudaDevice describe(int index) {
  CudaDevice device;
  std::array<char, 32> bus_id{};
  if (cudaDeviceGetPCIBusId(bus_id.data(), static_cast<int>(bus_id.size()), index) == cudaSuccess) {
    device.bus_id = bus_id.data();
  }
  cudaDeviceProp properties{};
  if (cudaGetDeviceProperties(&properties, index) == cudaSuccess) {
    device.name = properties.name;
    device.sm = properties.major * 10 + properties.minor;
    device.memory = Bytes(properties.totalGlobalMem);
    device.l2 = Bytes(static_cast<std::uint64_t>(std::max(properties.l2CacheSize, 0)));
  }
  return device;
}

std::optional<int> attribute(cudaDeviceP2PAttr which, int from, int to) {
  int value = 0;
  return cudaDeviceGetP2PAttribute(&value, which, from, to) == cudaSuccess ? std::optional(value)
                                                                           : std::nullopt;
}

CudaPair describe_pair(int from, int to) {
  CudaPair pair;
  int access = 0;
  pair.access = cudaDeviceCanAccessPeer(&access, from, to) == cudaSuccess && access != 0;
  pair.performance_rank = attribute(cudaDevP2PAttrPerformanceRank, from, to);
  if (const auto atomics = attribute(cudaDevP2PAttrNativeAtomicSupported, from, to)) {
    pair.native_atomics = *atomics != 0;
  }
  return pair;
}

}  // namespace

CudaDevices discover_cuda_devices() {
  CudaDevices found;
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) {
    cudaGetLastError();  // the runtime keeps it for the next caller, else
    found.problem = problem_of(error);
    return found;
  }
  if (count == 0) found.problem = "CUDA shows no GPU to this process";
  count = std::min(count, kMostDevices);
  for (int i = 0; i < count; ++i) found.devices.push_back(describe(i));
  for (int from = 0; from < count; ++from) {
    std::vector<CudaPair> row(static_cast<std::size_t>(count));
    for (int to = 0; to < count; ++to) {
      if (to != from) row[static_cast<std::size_t>(to)] = describe_pair(from, to);
    }
    found.pairs.push_back(std::move(row));
  }
  return found;
}

}  // namespace lanecast
