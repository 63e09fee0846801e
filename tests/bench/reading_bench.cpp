// What comes before a simulation: reading a machine, changing it, planning a call (docs/performance.md).
#include <benchmark/benchmark.h>

#include <optional>
#include <string>

#include "configs/machine_paths.hpp"
#include "configs/machine_reader.hpp"
#include "configs/machine_writer.hpp"
#include "configs/shipped.hpp"
#include "tests/support/machine_builders.hpp"
#include "tests/support/simulated.hpp"

namespace lanecast::bench {
namespace {

using namespace lanecast::literals;

constexpr int kGpusOfASwitch = 8;

/// The shipped machine of 8 GPUs, or a made one with 8 GPUs below each switch.
Machine machine_of(int gpus) {
  if (gpus == 8) return load_machine("rtxpro6000x8-2switch");
  Machine machine;
  machine.name = "generated";
  const NodeId cpu = support::add_cpu(machine);
  for (int i = 0; i < gpus / kGpusOfASwitch; ++i) {
    const NodeId sw = support::add_switch(machine, support::add_root(machine, cpu));
    for (int g = 0; g < kGpusOfASwitch; ++g) support::add_gpu(machine, sw);
  }
  return machine;
}

void read_machine(benchmark::State& state) {
  const std::string text = write_machine(machine_of(static_cast<int>(state.range(0))));
  for ([[maybe_unused]] auto iteration : state)
    benchmark::DoNotOptimize(read_machine_text(text, "bench.yaml"));
  state.counters["KiB"] = static_cast<double>(text.size()) / 1024;
}
BENCHMARK(read_machine)->Arg(8)->Arg(1024)->Unit(benchmark::kMillisecond);

void read_shipped_file(benchmark::State& state) {
  const std::string path = machine_path("rtxpro6000x8-2switch");
  for ([[maybe_unused]] auto iteration : state) benchmark::DoNotOptimize(read_machine_file(path));
}
BENCHMARK(read_shipped_file)->Unit(benchmark::kMillisecond);

/// 256 MiB over two channels; the protocol given, or chosen by planning with each.
void plan_call(benchmark::State& state, std::optional<Protocol> protocol) {
  const Machine machine = machine_of(static_cast<int>(state.range(0)));
  Call call;
  call.size = 256_MiB;
  call.channels = 2;
  call.protocol = protocol;
  for ([[maybe_unused]] auto iteration : state) benchmark::DoNotOptimize(support::plan_of(machine, call));
}
BENCHMARK_CAPTURE(plan_call, simple, Protocol::simple)->Arg(8)->Arg(1024)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(plan_call, open, std::nullopt)->Arg(8)->Arg(1024)->Unit(benchmark::kMicrosecond);

void apply_set(benchmark::State& state) {
  Machine machine = machine_of(static_cast<int>(state.range(0)));
  const std::string assignment = "links.gpu" + std::to_string(state.range(0) - 1) + ".width=x8";
  for ([[maybe_unused]] auto iteration : state) lanecast::apply_set(machine, assignment);
}
BENCHMARK(apply_set)->Arg(8)->Arg(1024)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace lanecast::bench
