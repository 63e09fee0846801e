// What one evaluation by the event loop costs, as fits ask for 10^5 of (docs/performance.md).
#include <benchmark/benchmark.h>

#include "sim/event_simulation.hpp"
#include "tests/support/machine_builders.hpp"
#include "tests/support/simulated.hpp"

namespace lanecast::bench {
namespace {

/// Two Gen5 switches with two GPUs each, four channels that share their uplinks.
SchedulePlan plan_of_bytes(std::int64_t bytes, Protocol protocol) {
  Call call = support::ring_call(Bytes(static_cast<std::uint64_t>(bytes)), protocol);
  call.channels = 4;
  return support::plan_of(support::two_switches(2, {PcieRate::gen5, 16, Bytes(256)}), call);
}

void events(benchmark::State& state, Protocol protocol) {
  const SchedulePlan plan = plan_of_bytes(state.range(0), protocol);
  for ([[maybe_unused]] auto iteration : state) benchmark::DoNotOptimize(simulate_events(plan, true));
}
BENCHMARK_CAPTURE(events, simple, Protocol::simple)
    ->Arg(1 << 20)
    ->Arg(64 << 20)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(events, ll, Protocol::ll)->Arg(1 << 20)->Unit(benchmark::kMillisecond);

void events_with_shares(benchmark::State& state, Protocol protocol) {
  const SchedulePlan plan = plan_of_bytes(state.range(0), protocol);
  for ([[maybe_unused]] auto iteration : state) benchmark::DoNotOptimize(simulate_events(plan, true, true));
}
BENCHMARK_CAPTURE(events_with_shares, simple, Protocol::simple)
    ->Arg(1 << 20)
    ->Arg(64 << 20)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(events_with_shares, ll, Protocol::ll)->Arg(1 << 20)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace lanecast::bench
