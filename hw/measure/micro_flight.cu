#include <cuda_runtime.h>

#include "hw/measure/micro_benchmarks.hpp"
#include "hw/measure/micro_wait_device.cuh"

namespace lanecast {
namespace {

constexpr std::uint64_t kDataOffset = 4096;       // behind the flag
constexpr std::uint64_t kInboxBytes = 512 << 10;  // half a mailbox
constexpr int kMostThreads = 512;

/// What the blocks of one device found out.
struct FlightCount {
  unsigned long long longest_ns;  // of the thread that took longest, all rounds but the warm-up
  unsigned gave_up;
};

struct Flight {
  MicroKind kind = MicroKind::ll_flight;
  std::byte* inbox[2] = {};  // where role 0 and role 1 look
  std::uint64_t data_packs = 0;
  unsigned warm_up = 0;
  unsigned rounds = 0;  // warm-up included
  int first_role = 0;
  FlightCount* count = nullptr;
};

/// A line for each thread: it flies there and back, whatever the other threads do.
struct LlLines {
  __device__ static void send(const Flight&, std::byte* outbox, unsigned round) {
    device::store_line(outbox + 16 * threadIdx.x, round, round);
  }
  __device__ static bool receive(const Flight& flight, std::byte* inbox, unsigned round) {
    return device::wait_until(
        [=] {
          const device::LlWords line = device::load_line(inbox + 16 * threadIdx.x);
          return line.flag_low == round && line.flag_high == round;
        },
        &flight.count->gave_up);
  }
};

/// A line for 8 threads; its last 8 bytes are the flag.
struct Ll128Lines {
  __device__ static bool has_flag() { return threadIdx.x % 8 == 7; }
  __device__ static void send(const Flight&, std::byte* outbox, unsigned round) {
    device::store_shared_pack(outbox + 16 * threadIdx.x, {~std::uint64_t{round}, round});
  }
  __device__ static bool receive(const Flight& flight, std::byte* inbox, unsigned round) {
    const unsigned lanes = 0xffU << (threadIdx.x % 32 / 8 * 8);
    return device::wait_until(
        [=] {
          const device::Pack pack = device::load_shared_pack(inbox + 16 * threadIdx.x);
          return __all_sync(lanes, !has_flag() || pack.high == round) != 0;
        },
        &flight.count->gave_up, [=](bool over) { return __any_sync(lanes, over) != 0; });
  }
};

/// Data of the whole block, a fence, a flag.
struct FlaggedData {
  __device__ static void send(const Flight& flight, std::byte* outbox, unsigned round) {
    for (std::uint64_t i = threadIdx.x; i < flight.data_packs; i += blockDim.x) {
      device::store_shared_pack(outbox + kDataOffset + 16 * i, {round, round});
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    if (flight.data_packs > 0) device::fence_system();
    device::store_counter(reinterpret_cast<std::uint64_t*>(outbox), round);
  }
  __device__ static bool receive(const Flight& flight, std::byte* inbox, unsigned round) {
    bool came = true;
    if (threadIdx.x == 0) {
      const auto* flag = reinterpret_cast<const std::uint64_t*>(inbox);
      came = device::wait_until([=] { return device::load_counter(flag) >= round; }, &flight.count->gave_up);
    }
    return __syncthreads_and(came ? 1 : 0) != 0;
  }
};

template <class Wire>
__device__ void play(const Flight& flight, int role) {
  std::byte* inbox = role == 0 ? flight.inbox[0] : flight.inbox[1];  // an index would put it into memory
  std::byte* outbox = role == 0 ? flight.inbox[1] : flight.inbox[0];
  std::uint64_t begin_ns = 0;
  for (unsigned round = 1; round <= flight.rounds; ++round) {
    if (round == flight.warm_up + 1) begin_ns = device::device_time_ns();
    if (role == 0) Wire::send(flight, outbox, round);
    if (!Wire::receive(flight, inbox, round)) return;
    if (role == 1) Wire::send(flight, outbox, round);
  }
  if (role != 0) return;
  atomicMax(&flight.count->longest_ns, static_cast<unsigned long long>(device::device_time_ns() - begin_ns));
}

__global__ void __launch_bounds__(kMostThreads) flight_kernel(Flight flight) {
  const int role = flight.first_role + static_cast<int>(blockIdx.x);
  switch (flight.kind) {
    case MicroKind::ll_flight:
      return play<LlLines>(flight, role);
    case MicroKind::ll128_flight:
      return play<Ll128Lines>(flight, role);
    default:
      return play<FlaggedData>(flight, role);
  }
}

/// Both inboxes without old flags.
void clear(const Flight& flight, bool in_host, const MicroMachine& machine, const MicroFlow& pair) {
  constexpr std::size_t kFlags = 16 * kMostThreads;
  const int devices[2] = {pair.source, pair.destination};
  for (int role = 0; role < 2; ++role) {
    machine.clear(devices[role], false, machine.findings(devices[role]), sizeof(FlightCount));
    machine.clear(devices[role], in_host, flight.inbox[role], kFlags);
  }
}

void start(Flight flight, int device, int role, int blocks, const MicroPoint& point,
           const MicroMachine& machine) {
  machine.use(device);
  flight.first_role = role;
  flight.count = reinterpret_cast<FlightCount*>(machine.findings(device));
  flight_kernel<<<static_cast<unsigned>(blocks), static_cast<unsigned>(point.threads), 0,
                  machine.stream(device, role)>>>(flight);
  check_micro(cudaGetLastError(), "start a ping-pong kernel");
}

FlightCount finish(int device, int role, const MicroMachine& machine) {
  machine.wait(machine.stream(device, role));
  FlightCount count{};
  machine.get(device, &count, machine.findings(device), sizeof count);
  check_micro_wait(count.gave_up != 0);
  return count;
}

/// One way: half of a round.
Seconds fly(const Flight& flight, const MicroPoint& point, const MicroMachine& machine) {
  const MicroFlow& pair = point.flows.front();
  clear(flight, point.through_host, machine, pair);
  const bool one_device = pair.source == pair.destination;
  start(flight, pair.source, 0, one_device ? 2 : 1, point, machine);
  if (!one_device) start(flight, pair.destination, 1, 1, point, machine);
  const FlightCount count = finish(pair.source, 0, machine);
  if (!one_device) finish(pair.destination, 1, machine);
  const double one_ways = 2.0 * (flight.rounds - flight.warm_up);
  return Seconds(1e-9 * static_cast<double>(count.longest_ns) / one_ways);
}

}  // namespace

std::vector<MicroFinding> measure_flights(const MicroPoint& point, const MicroMachine& machine,
                                          const MicroEffort& effort) {
  const MicroFlow& pair = point.flows.front();
  Flight flight;
  flight.kind = point.kind;
  flight.inbox[0] = machine.mailbox(pair.source, point.through_host);
  flight.inbox[1] = machine.mailbox(point.through_host ? pair.source : pair.destination, point.through_host);
  flight.inbox[1] += kInboxBytes;
  flight.data_packs = point.kind == MicroKind::flag_flight ? point.size.value() / 16 : 0;
  flight.warm_up = 50;
  flight.rounds = flight.warm_up + 500;
  MicroFinding finding;
  fly(flight, point, machine);
  for (int i = 0; i < effort.repeats; ++i) finding.times.push_back(fly(flight, point, machine));
  return {finding};
}

}  // namespace lanecast
