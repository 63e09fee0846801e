#include <cuda_runtime.h>

#include <algorithm>

#include "hw/measure/micro_benchmarks.hpp"
#include "hw/measure/micro_wait_device.cuh"

namespace lanecast {
namespace {

using device::Pack;

constexpr int kMostThreads = 512;
constexpr int kInFlight = 4;
constexpr std::uint64_t kCounterBytes = 128;       // each has a line of its own
constexpr std::uint64_t kHeads = 256 << 10;        // where in a mailbox the consumers' counters lie
constexpr std::uint64_t kBytesOfBlock = 16 << 20;  // moved by one producer, at least kFewestSlices
constexpr std::uint64_t kFewestSlices = 64;
constexpr std::uint64_t kMostSlices = 512;
constexpr std::uint64_t kWarmUp = 16;  // slices

struct PipelineCount {
  unsigned long long begin_ns;  // smallest and largest of all consumers
  unsigned long long end_ns;
  unsigned gave_up;
};

struct Pipeline {
  const std::byte* from = nullptr;  // the producers' own memory
  std::byte* to = nullptr;          // the consumers'
  std::byte* fifo = nullptr;        // of all channels, one after the other
  std::byte* tails = nullptr;       // slices that are there, written by producers
  std::byte* heads = nullptr;       // slices that are taken, written by consumers
  std::uint64_t slice_packs = 0;
  std::uint64_t own_packs = 0;  // of a channel's part of `from` and `to`; a multiple of slice_packs
  std::uint64_t slots = 0;
  std::uint64_t slices = 0;  // of one channel, warm-up included
  int channels = 0;
  bool producers = true;
  bool consumers = true;
  PipelineCount* count = nullptr;
};

__device__ void copy_slice(const Pack* from, Pack* to, std::uint64_t packs) {
  const std::uint64_t stride = blockDim.x;
  std::uint64_t at = threadIdx.x;
  for (; at + (kInFlight - 1) * stride < packs; at += kInFlight * stride) {
    Pack moved[kInFlight];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) moved[i] = device::load_shared_pack(from + at + i * stride);
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) device::store_shared_pack(to + at + i * stride, moved[i]);
  }
  for (; at < packs; at += stride) device::store_shared_pack(to + at, device::load_shared_pack(from + at));
}

__device__ bool block_waits_for(const std::uint64_t* counter, std::uint64_t value, unsigned* gave_up) {
  bool came = true;
  if (threadIdx.x == 0) {
    came = device::wait_until([=] { return device::load_counter(counter) >= value; }, gave_up);
  }
  return __syncthreads_and(came ? 1 : 0) != 0;
}

struct Channel {
  const Pack* from;
  Pack* to;
  Pack* fifo;
  std::uint64_t* tail;
  std::uint64_t* head;
};

__device__ Channel channel_of(const Pipeline& pipeline, std::uint64_t number) {
  const std::uint64_t fifo_bytes = pipeline.slots * pipeline.slice_packs * sizeof(Pack);
  return {reinterpret_cast<const Pack*>(pipeline.from) + number * pipeline.own_packs,
          reinterpret_cast<Pack*>(pipeline.to) + number * pipeline.own_packs,
          reinterpret_cast<Pack*>(pipeline.fifo + number * fifo_bytes),
          reinterpret_cast<std::uint64_t*>(pipeline.tails + number * kCounterBytes),
          reinterpret_cast<std::uint64_t*>(pipeline.heads + number * kCounterBytes)};
}

__device__ void produce(const Pipeline& pipeline, const Channel& channel) {
  for (std::uint64_t s = 0; s < pipeline.slices; ++s) {
    const std::uint64_t free_from = s < pipeline.slots ? 0 : s - pipeline.slots + 1;
    if (!block_waits_for(channel.head, free_from, &pipeline.count->gave_up)) return;
    copy_slice(channel.from + s * pipeline.slice_packs % pipeline.own_packs,
               channel.fifo + s % pipeline.slots * pipeline.slice_packs, pipeline.slice_packs);
    __syncthreads();
    if (threadIdx.x != 0) continue;
    device::fence_system();
    device::store_counter(channel.tail, s + 1);
  }
}

__device__ void consume(const Pipeline& pipeline, const Channel& channel) {
  std::uint64_t begin_ns = 0;
  for (std::uint64_t s = 0; s < pipeline.slices; ++s) {
    if (!block_waits_for(channel.tail, s + 1, &pipeline.count->gave_up)) return;
    copy_slice(channel.fifo + s % pipeline.slots * pipeline.slice_packs,
               channel.to + s * pipeline.slice_packs % pipeline.own_packs, pipeline.slice_packs);
    __syncthreads();
    if (threadIdx.x == 0) device::store_counter(channel.head, s + 1);
    if (s + 1 == kWarmUp) begin_ns = device::device_time_ns();
  }
  if (threadIdx.x != 0) return;
  atomicMin(&pipeline.count->begin_ns, static_cast<unsigned long long>(begin_ns));
  atomicMax(&pipeline.count->end_ns, static_cast<unsigned long long>(device::device_time_ns()));
}

/// One block a channel and side; where both sides share a device, producers come first.
__global__ void __launch_bounds__(kMostThreads) pipeline_kernel(Pipeline pipeline) {
  const int block = static_cast<int>(blockIdx.x);
  const bool produces = pipeline.producers && block < pipeline.channels;
  const int first = pipeline.producers && !produces ? pipeline.channels : 0;
  const Channel channel = channel_of(pipeline, static_cast<std::uint64_t>(block - first));
  if (produces) {
    produce(pipeline, channel);
  } else {
    consume(pipeline, channel);
  }
}

Pipeline described(const MicroPoint& point, const MicroMachine& machine) {
  const MicroFlow& pair = point.flows.front();
  const int meeting = point.through_host ? pair.source : pair.destination;
  const std::uint64_t slice_bytes = point.size.value() / static_cast<std::uint64_t>(point.slices);
  Pipeline pipeline;
  pipeline.from = machine.source({pair.source, pair.destination, pair.source, SmWork::copy});
  pipeline.to = machine.destination({pair.source, pair.destination, pair.destination, SmWork::copy});
  pipeline.fifo = machine.fifo(meeting, point.through_host);
  pipeline.tails = machine.mailbox(meeting, point.through_host);
  pipeline.heads = machine.mailbox(pair.source, point.through_host) + kHeads;
  pipeline.slice_packs = slice_bytes / sizeof(Pack);
  pipeline.own_packs = (std::uint64_t{8} << 20) / sizeof(Pack) / pipeline.slice_packs * pipeline.slice_packs;
  pipeline.slots = static_cast<std::uint64_t>(point.slots);
  pipeline.slices = std::clamp(kBytesOfBlock / slice_bytes, kFewestSlices, kMostSlices) + kWarmUp;
  pipeline.channels = point.blocks;
  return pipeline;
}

void clear(const Pipeline& pipeline, const MicroPoint& point, const MicroMachine& machine) {
  constexpr std::size_t kBytes = 64 * kCounterBytes;
  const PipelineCount none{~0ULL, 0, 0};
  const MicroFlow& pair = point.flows.front();
  machine.clear(pair.destination, point.through_host, pipeline.tails, kBytes);
  machine.clear(pair.source, point.through_host, pipeline.heads, kBytes);
  for (const int device : {pair.source, pair.destination}) {
    machine.put(device, machine.findings(device), &none, sizeof none);
  }
}

void start(Pipeline pipeline, int device, const MicroPoint& point, const MicroMachine& machine) {
  const int sides = (pipeline.producers ? 1 : 0) + (pipeline.consumers ? 1 : 0);
  machine.use(device);
  pipeline.count = reinterpret_cast<PipelineCount*>(machine.findings(device));
  pipeline_kernel<<<static_cast<unsigned>(sides * point.blocks), static_cast<unsigned>(point.threads), 0,
                    machine.stream(device, 0)>>>(pipeline);
  check_micro(cudaGetLastError(), "start a kernel around a FIFO");
}

PipelineCount finish(int device, const MicroMachine& machine) {
  machine.wait(machine.stream(device, 0));
  PipelineCount count{};
  machine.get(device, &count, machine.findings(device), sizeof count);
  check_micro_wait(count.gave_up != 0);
  return count;
}

/// From the end of the warm-up to the last slice, at the consumers.
Seconds pass_through(Pipeline pipeline, const MicroPoint& point, const MicroMachine& machine) {
  const MicroFlow& pair = point.flows.front();
  clear(pipeline, point, machine);
  const bool one_device = pair.source == pair.destination;
  pipeline.consumers = one_device;
  start(pipeline, pair.source, point, machine);
  if (!one_device) {
    pipeline.producers = false;
    pipeline.consumers = true;
    start(pipeline, pair.destination, point, machine);
    finish(pair.source, machine);
  }
  const PipelineCount count = finish(pair.destination, machine);
  return Seconds(1e-9 * static_cast<double>(count.end_ns - count.begin_ns));
}

}  // namespace

std::vector<MicroFinding> measure_sm_pipelines(const MicroPoint& point, const MicroMachine& machine,
                                               const MicroEffort& effort) {
  const Pipeline pipeline = described(point, machine);
  const std::uint64_t counted = pipeline.slices - kWarmUp;
  const Bytes moved(counted * pipeline.slice_packs * sizeof(Pack) *
                    static_cast<std::uint64_t>(pipeline.channels));
  MicroFinding finding;
  for (int i = 0; i <= effort.repeats; ++i) {
    const Seconds time = pass_through(pipeline, point, machine);
    if (i == 0) continue;
    finding.rates.push_back(moved / time);
    finding.times.push_back(time * (static_cast<double>(point.slices) / static_cast<double>(counted)));
  }
  return {finding};
}

}  // namespace lanecast
