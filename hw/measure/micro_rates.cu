#include <cuda_runtime.h>

#include <algorithm>
#include <map>

#include "hw/kernels/memory_device.cuh"
#include "hw/measure/micro_benchmarks.hpp"

namespace lanecast {
namespace {

using device::Pack;

constexpr int kMostThreads = 512;
constexpr int kInFlight = 4;            // loads of a thread
constexpr int kTurnsBetweenLooks = 16;  // at the clock

struct SmFlow {
  const Pack* first = nullptr;
  const Pack* second = nullptr;  // sums only
  Pack* to = nullptr;
  std::uint64_t packs = 0;  // a multiple of what all threads have in flight
  int blocks = 0;
  SmWork work = SmWork::copy;
};

/// Found out by the blocks of one flow together.
struct SmCount {
  unsigned long long bytes;
  unsigned long long begin_ns;
  unsigned long long end_ns;
};

struct SmLaunch {
  SmFlow flows[2];
  std::uint64_t window_ns = 0;
  SmCount* counts = nullptr;
};

__device__ std::uint64_t sum_of_floats(std::uint64_t a, std::uint64_t b) {
  const float low = __uint_as_float(static_cast<unsigned>(a)) + __uint_as_float(static_cast<unsigned>(b));
  const float high =
      __uint_as_float(static_cast<unsigned>(a >> 32)) + __uint_as_float(static_cast<unsigned>(b >> 32));
  return static_cast<std::uint64_t>(__float_as_uint(high)) << 32 | __float_as_uint(low);
}

/// One turn: kInFlight packs, `stride` apart. What is loaded and goes nowhere is gathered in `kept`.
template <SmWork work>
__device__ void move_packs(const SmFlow& flow, std::uint64_t at, std::uint64_t stride, std::uint64_t& kept) {
  Pack packs[kInFlight];
  Pack more[kInFlight];
#pragma unroll
  for (int i = 0; i < kInFlight; ++i) {
    packs[i] =
        work == SmWork::store ? Pack{at, kept} : device::load_shared_pack(flow.first + at + i * stride);
    if (work == SmWork::reduce) more[i] = device::load_shared_pack(flow.second + at + i * stride);
  }
#pragma unroll
  for (int i = 0; i < kInFlight; ++i) {
    if (work == SmWork::reduce) {
      packs[i] = {sum_of_floats(packs[i].low, more[i].low), sum_of_floats(packs[i].high, more[i].high)};
    }
    if (work == SmWork::load) {
      kept ^= packs[i].low ^ packs[i].high;
    } else {
      device::store_shared_pack(flow.to + at + i * stride, packs[i]);
    }
  }
}

/// Goes round the buffer until `end_ns`. @return bytes that this thread has moved
template <SmWork work>
__device__ std::uint64_t move_until(const SmFlow& flow, std::uint64_t thread, std::uint64_t end_ns) {
  const std::uint64_t stride = static_cast<std::uint64_t>(flow.blocks) * blockDim.x;
  std::uint64_t at = thread;
  std::uint64_t turns = 0;
  std::uint64_t kept = 0;
  do {
    for (int i = 0; i < kTurnsBetweenLooks; ++i) {
      move_packs<work>(flow, at, stride, kept);
      at += kInFlight * stride;
      if (at >= flow.packs) at = thread;
    }
    turns += kTurnsBetweenLooks;
  } while (device::device_time_ns() < end_ns);
  if (work == SmWork::load && kept == 0x5eed5eed5eed5eedULL) flow.to[thread] = {kept, kept};  // never dropped
  return turns * kInFlight * sizeof(Pack);
}

__global__ void __launch_bounds__(kMostThreads, 2) moving_kernel(SmLaunch launch) {
  const int which = static_cast<int>(blockIdx.x) < launch.flows[0].blocks ? 0 : 1;
  const SmFlow flow = which == 0 ? launch.flows[0] : launch.flows[1];  // an index would put it into memory
  const auto block = static_cast<std::uint64_t>(blockIdx.x - (which == 0 ? 0 : launch.flows[0].blocks));
  const std::uint64_t thread = block * blockDim.x + threadIdx.x;
  const std::uint64_t begin_ns = device::device_time_ns();
  const std::uint64_t end_ns = begin_ns + launch.window_ns;
  std::uint64_t bytes = 0;
  switch (flow.work) {
    case SmWork::store:
      bytes = move_until<SmWork::store>(flow, thread, end_ns);
      break;
    case SmWork::load:
      bytes = move_until<SmWork::load>(flow, thread, end_ns);
      break;
    case SmWork::copy:
      bytes = move_until<SmWork::copy>(flow, thread, end_ns);
      break;
    case SmWork::reduce:
      bytes = move_until<SmWork::reduce>(flow, thread, end_ns);
      break;
  }
  device::fence_system();
  const std::uint64_t ended_ns = device::device_time_ns();
  SmCount& count = launch.counts[which];
  atomicAdd(&count.bytes, static_cast<unsigned long long>(bytes));
  atomicMin(&count.begin_ns, static_cast<unsigned long long>(begin_ns));
  atomicMax(&count.end_ns, static_cast<unsigned long long>(ended_ns));
}

/// The flows that one device runs, and their places in the point.
struct DeviceFlows {
  SmLaunch launch;
  std::vector<std::size_t> places;
};

std::map<int, DeviceFlows> by_runner(const MicroPoint& point, const MicroMachine& machine, Seconds window) {
  std::map<int, DeviceFlows> runners;
  for (std::size_t i = 0; i < point.flows.size(); ++i) {
    const MicroFlow& flow = point.flows[i];
    DeviceFlows& runner = runners[flow.runner];
    SmFlow& sm = runner.launch.flows[runner.places.size()];
    const std::uint64_t in_flight = static_cast<std::uint64_t>(point.threads * point.blocks) * kInFlight;
    sm.first = reinterpret_cast<const Pack*>(machine.source(flow));
    sm.second = reinterpret_cast<const Pack*>(machine.second(flow.runner));
    sm.to = reinterpret_cast<Pack*>(machine.destination(flow));
    sm.packs = point.size.value() / sizeof(Pack) / in_flight * in_flight;
    sm.blocks = point.blocks;
    sm.work = flow.work;
    runner.launch.window_ns = static_cast<std::uint64_t>(window.value() * 1e9);
    runner.launch.counts = reinterpret_cast<SmCount*>(machine.findings(flow.runner));
    runner.places.push_back(i);
  }
  return runners;
}

void start(const DeviceFlows& flows, int device, const MicroPoint& point, const MicroMachine& machine) {
  machine.use(device);
  const unsigned blocks = static_cast<unsigned>(point.blocks) * static_cast<unsigned>(flows.places.size());
  moving_kernel<<<blocks, static_cast<unsigned>(point.threads), 0, machine.stream(device, 0)>>>(flows.launch);
  check_micro(cudaGetLastError(), "start a kernel that moves data");
}

void clear(int device, const MicroMachine& machine) {
  const SmCount none[2] = {{0, ~0ULL, 0}, {0, ~0ULL, 0}};
  machine.put(device, machine.findings(device), none, sizeof none);
}

void collect(const DeviceFlows& flows, int device, const MicroMachine& machine,
             std::vector<MicroFinding>& findings) {
  machine.wait(machine.stream(device, 0));
  SmCount counts[2];
  machine.get(device, counts, machine.findings(device), sizeof counts);
  for (std::size_t i = 0; i < flows.places.size(); ++i) {
    const Seconds time(1e-9 * static_cast<double>(counts[i].end_ns - counts[i].begin_ns));
    findings[flows.places[i]].rates.push_back(Bytes(counts[i].bytes) / time);
  }
}

}  // namespace

std::vector<MicroFinding> measure_sm_rates(const MicroPoint& point, const MicroMachine& machine,
                                           const MicroEffort& effort) {
  const auto runners = by_runner(point, machine, effort.window);
  std::vector<MicroFinding> findings(point.flows.size());
  for (int repeat = 0; repeat <= effort.repeats; ++repeat) {
    for (const auto& [device, flows] : runners) clear(device, machine);
    for (const auto& [device, flows] : runners) start(flows, device, point, machine);
    for (const auto& [device, flows] : runners) collect(flows, device, machine, findings);
    if (repeat > 0) continue;
    for (MicroFinding& finding : findings) finding.rates.clear();  // the warm-up
  }
  return findings;
}

}  // namespace lanecast
