// Orders of rings (docs/tune.md): exact up to ten cards, a heuristic above.
#include <benchmark/benchmark.h>

#include "model/advice/ring_order.hpp"
#include "tests/support/machine_builders.hpp"

namespace lanecast::bench {
namespace {

/// Cards of which no two are alike: each with a payload or latency of its own, so that nothing is left out.
Machine unlike_cards(int gpus) {
  Machine machine = support::two_sockets(gpus / 2);
  int number = 0;
  for (Link& link : machine.links) {
    if (link.kind == LinkKind::pcie) link.latency = Seconds(1e-9 * ++number);
  }
  return machine;
}

void search(benchmark::State& state, const Machine& machine) {
  std::vector<int> ranks;
  for (int gpu = 0; gpu < static_cast<int>(machine.gpus.size()); ++gpu) ranks.push_back(gpu);
  const Implementation implementation = implementation_from_string("nccl");
  std::uint64_t looked_at = 0;
  for (auto _ : state) {
    const RingOrders orders = best_ring_order(machine, Profile(), implementation, std::nullopt, ranks);
    looked_at = orders.looked_at;
    benchmark::DoNotOptimize(orders.best.busbw);
  }
  state.counters["orders"] = static_cast<double>(looked_at);
}

void unlike(benchmark::State& state) { search(state, unlike_cards(static_cast<int>(state.range(0)))); }
void two_switches(benchmark::State& state) {
  search(state, support::two_switches(static_cast<int>(state.range(0)) / 2));
}

BENCHMARK(unlike)->Arg(8)->Arg(10)->Arg(16)->Arg(64)->Unit(benchmark::kMillisecond);
BENCHMARK(two_switches)->Arg(8)->Arg(10)->Arg(16)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace lanecast::bench
