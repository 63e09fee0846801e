// Many predictions on all cores, as a sweep asks for them (docs/performance.md).
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <string>
#include <vector>

#include "configs/machine_paths.hpp"
#include "sim/predict.hpp"
#include "tests/support/machine_builders.hpp"
#include "tests/support/simulated.hpp"

namespace lanecast::bench {
namespace {

constexpr int kGpus = 8;
constexpr std::size_t kSpread = 77;  // without a factor in common with 200

/// Two Gen5 switches with four GPUs each, and each of them with one GPU's link at a width and a generation.
std::vector<Machine> whatifs() {
  std::vector<Machine> machines;
  for (int gpu = 0; gpu < kGpus; ++gpu) {
    for (const char* width : {"x16", "x8", "x4", "x2", "x1"}) {
      for (const char* generation : {"gen5", "gen4", "gen3", "gen2", "gen1"}) {
        Machine machine = support::two_switches(kGpus / 2, {PcieRate::gen5, 16, Bytes(256)});
        const std::string link = "links.gpu" + std::to_string(gpu);
        apply_sets(machine, {link + ".width=" + width, link + ".rate=" + generation});
        machines.push_back(machine);
      }
    }
  }
  return machines;
}

/// 25 sizes from 8 B to 1 GiB, each with Simple and with LL, over two channels.
std::vector<Call> calls() {
  std::vector<Bytes> sizes;
  for (std::uint64_t bytes = 8; bytes < 1024; bytes *= 4) sizes.push_back(Bytes(bytes));
  for (std::uint64_t bytes = 1024; bytes <= 1ULL << 30; bytes *= 2) sizes.push_back(Bytes(bytes));
  std::vector<Call> all;
  for (const Bytes size : sizes) {
    for (const Protocol protocol : {Protocol::simple, Protocol::ll}) {
      all.push_back(support::ring_call(size, protocol));
      all.back().channels = 2;
    }
  }
  return all;
}

/// CPU time of this process and of the children that have ended.
double cpu_seconds() {
  double seconds = 0;
  for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    getrusage(who, &usage);
    for (const timeval& part : {usage.ru_utime, usage.ru_stime}) {
      seconds += static_cast<double>(part.tv_sec) + 1e-6 * static_cast<double>(part.tv_usec);
    }
  }
  return seconds;
}

/// Range: how many of the machines, spread over all widths and generations; 200 are all, and 10 000
/// predictions.
void sweep(benchmark::State& state) {
  const std::vector<Machine> machines = whatifs();
  const std::vector<Call> each = calls();
  const auto taken = static_cast<std::size_t>(state.range(0));
  std::size_t predictions = 0;
  const double cpu_before = cpu_seconds();
  for ([[maybe_unused]] auto iteration : state) {
    for (std::size_t i = 0; i < taken; ++i) {
      const Machine& machine = machines[i * kSpread % machines.size()];
      predictions += predict(machine, Profile(), Implementation{}, each, SimulationOptions{}).size();
    }
  }
  const auto made = static_cast<double>(predictions);
  state.counters["predictions"] = made;
  state.counters["cpu_s"] = cpu_seconds() - cpu_before;
  state.counters["predictions/s"] = benchmark::Counter(made, benchmark::Counter::kIsRate);
}
BENCHMARK(sweep)->Arg(2)->Arg(20)->Arg(200)->Iterations(1)->UseRealTime()->Unit(benchmark::kSecond);

}  // namespace
}  // namespace lanecast::bench
