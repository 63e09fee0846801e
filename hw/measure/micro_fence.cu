#include <cuda_runtime.h>

#include "hw/kernels/memory_device.cuh"
#include "hw/measure/micro_benchmarks.hpp"

namespace lanecast {
namespace {

constexpr int kRounds = 200;

/// In ticks of one multiprocessor; the whole kernel by both clocks gives a tick's length.
struct FenceCount {
  unsigned long long fence_ticks;
  unsigned long long all_ticks;
  unsigned long long all_ns;
};

/// One block stores, meets at a barrier, and its first thread waits at the fence: as a Simple slice ends.
__global__ void fence_kernel(std::byte* to, std::uint64_t packs, FenceCount* count) {
  const std::uint64_t begin_ns = device::device_time_ns();
  const long long begin = clock64();
  long long fence_ticks = 0;
  for (int round = 0; round < kRounds; ++round) {
    for (std::uint64_t i = threadIdx.x; i < packs; i += blockDim.x) {
      device::store_shared_pack(to + 16 * i, {i, static_cast<std::uint64_t>(round)});
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      const long long before = clock64();
      device::fence_system();
      fence_ticks += clock64() - before;
    }
    __syncthreads();
  }
  if (threadIdx.x != 0) return;
  count->fence_ticks = static_cast<unsigned long long>(fence_ticks);
  count->all_ticks = static_cast<unsigned long long>(clock64() - begin);
  count->all_ns = device::device_time_ns() - begin_ns;
}

Seconds fence_time(const MicroPoint& point, const MicroMachine& machine) {
  const MicroFlow& flow = point.flows.front();
  const MicroMachine::Stream stream = machine.stream(flow.source, 0);
  auto* found = reinterpret_cast<FenceCount*>(machine.findings(flow.source));
  machine.use(flow.source);
  fence_kernel<<<1, static_cast<unsigned>(point.threads), 0, stream>>>(machine.destination(flow),
                                                                       point.size.value() / 16, found);
  check_micro(cudaGetLastError(), "start a kernel with fences");
  machine.wait(stream);
  FenceCount count{};
  machine.get(flow.source, &count, machine.findings(flow.source), sizeof count);
  const double tick_ns = static_cast<double>(count.all_ns) / static_cast<double>(count.all_ticks);
  return Seconds(1e-9 * tick_ns * static_cast<double>(count.fence_ticks) / kRounds);
}

}  // namespace

std::vector<MicroFinding> measure_fences(const MicroPoint& point, const MicroMachine& machine,
                                         const MicroEffort& effort) {
  MicroFinding finding;
  fence_time(point, machine);
  for (int i = 0; i < effort.repeats; ++i) finding.times.push_back(fence_time(point, machine));
  return {finding};
}

}  // namespace lanecast
