// How fast the simulator is inside its process: docs/performance.md.
#include <benchmark/benchmark.h>

#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "configs/shipped.hpp"
#include "model/predict/plan_call.hpp"
#include "tests/bench/plain_transfers.hpp"
#include "tests/bench/timed_child.hpp"
#include "tests/support/machine_builders.hpp"
#include "tests/support/simulated.hpp"

namespace lanecast::bench {
namespace {

using namespace lanecast::literals;
using support::PcieSpec;
using support::plan_of;

constexpr PcieSpec kGen5{PcieRate::gen5, 16, Bytes(256)};

/// Simple over two channels in chunks of 128 KiB.
Call call_of(Bytes size) {
  Call call = support::ring_call(size, Protocol::simple);
  call.channels = 2;
  call.chunk = 128_KiB;
  return call;
}

/// A call of the benchmarks; `machine` is made when it first runs.
struct Case {
  std::string name;
  std::function<Machine()> machine;
  Bytes size{0};
  std::optional<Transport> transport;
  Algorithm algorithm = Algorithm::ring;

  Call call() const {
    Call asked = call_of(size);
    asked.transport = transport;
    asked.algorithm = algorithm;
    return asked;
  }

  /// NCCL's for a ring, the engine's for everything else.
  SchedulePlan plan(const Machine& on) const {
    return algorithm == Algorithm::ring ? plan_of(on, call()) : support::engine_plan_of(on, call());
  }
};

ScheduleSimulation simulate(const SchedulePlan& plan, bool exact) {
  ScheduleSimulationOptions options;
  options.exact = exact;
  return simulate_schedule(plan, options);
}

benchmark::Counter rate(std::uint64_t transfers) {
  return {static_cast<double>(transfers), benchmark::Counter::kIsIterationInvariantRate};
}

/// Transfers per second of wall time, and per second of the process's CPU time.
void report_transfers(benchmark::State& state, std::uint64_t transfers, double cpu_seconds) {
  state.counters["transfers"] = static_cast<double>(transfers);
  state.counters["transfers/s"] = rate(transfers);
  state.counters["transfers/cpu_s"] =
      static_cast<double>(transfers) * static_cast<double>(state.iterations()) / cpu_seconds;
}

void exact_transfers(benchmark::State& state, const Case& a_case) {
  const SchedulePlan plan = plan_of(a_case.machine(), a_case.call());
  double cpu_seconds = 0;
  for ([[maybe_unused]] auto iteration : state) {
    const Timed timed = time_in_child([&] { return simulate(plan, true); });
    state.SetIterationTime(timed.wall.value());
    cpu_seconds += timed.cpu.value();
  }
  report_transfers(state, count(transfers_of(plan)), cpu_seconds);
}

void plain_simgrid(benchmark::State& state, const Case& a_case) {
  const SchedulePlan plan = plan_of(a_case.machine(), a_case.call());
  const auto transfers = transfers_of(plan);
  double cpu_seconds = 0;
  for ([[maybe_unused]] auto iteration : state) {
    const Timed timed = time_in_child([&] { return run_plain(plan, transfers); });
    state.SetIterationTime(timed.wall.value());
    cpu_seconds += timed.cpu.value();
  }
  report_transfers(state, count(transfers), cpu_seconds);
}

/// Both by turns, so that what else the machine does falls on both alike. The ratios are the result.
void exact_to_plain(benchmark::State& state, const Case& a_case) {
  const SchedulePlan plan = plan_of(a_case.machine(), a_case.call());
  const auto transfers = transfers_of(plan);
  Timed plain, exact;
  for ([[maybe_unused]] auto iteration : state) {
    const Timed a = time_in_child([&] { return run_plain(plan, transfers); });
    const Timed b = time_in_child([&] { return simulate(plan, true); });
    plain.wall += a.wall;
    plain.cpu += a.cpu;
    exact.wall += b.wall;
    exact.cpu += b.cpu;
    state.SetIterationTime((a.wall + b.wall).value());
  }
  state.counters["ratio"] = plain.wall / exact.wall;
  state.counters["ratio_cpu"] = plain.cpu / exact.cpu;
}

/// The exact answer takes seconds: once a case.
Seconds exact_time(const Case& a_case, const Machine& machine) {
  static std::map<std::string, Seconds> known;
  const auto found = known.find(a_case.name);
  if (found != known.end()) return found->second;
  const SchedulePlan plan = a_case.plan(machine);
  return known[a_case.name] = time_in_child([&] { return simulate(plan, true); }).simulated;
}

/// A whole prediction in its process: planning and folded simulation.
void folded(benchmark::State& state, const Case& a_case) {
  const Machine machine = a_case.machine();
  Timed last;
  double cpu_seconds = 0;
  for ([[maybe_unused]] auto iteration : state) {
    last = time_in_child([&] { return simulate(a_case.plan(machine), false); });
    state.SetIterationTime(last.wall.value());
    cpu_seconds += last.cpu.value();
  }
  const double exact = exact_time(a_case, machine).value();
  state.counters["cpu_ms"] = 1e3 * cpu_seconds / static_cast<double>(state.iterations());
  state.counters["error_percent"] = 100 * std::abs(last.simulated.value() / exact - 1);
  state.counters["folded"] = last.folded ? 1 : 0;
}

/// About a third of a second each.
std::vector<Case> transfer_cases() {
  const auto one = [] { return support::one_switch(8, kGen5); };
  const auto two = [] { return support::two_switches(4, kGen5); };
  return {{"smoke", one, 2_MiB, {}, {}},
          {"one_switch", one, 256_MiB, {}, {}},
          {"two_switches", two, 256_MiB, {}, {}}};
}

std::vector<Case> folded_cases() {
  std::vector<Case> cases{{"smoke", [] { return support::one_switch(8, kGen5); }, 32_MiB, {}, {}},
                          {"one_switch", [] { return support::one_switch(8, kGen5); }, 1_GiB, {}, {}},
                          {"two_switches", [] { return support::two_switches(4, kGen5); }, 1_GiB, {}, {}}};
  for (const char* name : {"rtxpro6000x8-2switch", "rtx4090x8-2socket-nop2p", "a100x8-pcie4-shared-port"}) {
    cases.push_back({name, [name] { return load_machine(name); }, 1_GiB, {}, {}});
  }
  cases.push_back({"rtxpro6000x8-2switch-p2p",
                   [] { return load_machine("rtxpro6000x8-2switch"); },
                   1_GiB,
                   Transport::p2p,
                   {}});
  return cases;
}

/// 256 MiB by each of the engine's algorithms. Exact runs of them take half a minute together.
std::vector<Case> algorithm_cases() {
  std::vector<Case> cases;
  for (const Algorithm algorithm :
       {Algorithm::tree, Algorithm::one_shot, Algorithm::two_shot, Algorithm::halving_doubling,
        Algorithm::hierarchical_ring, Algorithm::hierarchical_tree, Algorithm::star}) {
    const auto two = [] { return support::two_switches(4, kGen5); };
    cases.push_back({to_string(algorithm), two, 256_MiB, {}, algorithm});
  }
  return cases;
}

using Body = void (*)(benchmark::State&, const Case&);

void add(const std::string& name, Body body, const Case& a_case) {
  benchmark::RegisterBenchmark((name + "/" + a_case.name).c_str(), body, a_case)
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond);
}

const bool registered = [] {
  for (const Case& a_case : transfer_cases()) add("exact_transfers", exact_transfers, a_case);
  for (const Case& a_case : transfer_cases()) add("plain_simgrid", plain_simgrid, a_case);
  for (const Case& a_case : transfer_cases()) add("exact_to_plain", exact_to_plain, a_case);
  for (const Case& a_case : folded_cases())
    add(a_case.size == 1_GiB ? "folded_one_gib" : "folded", folded, a_case);
  for (const Case& a_case : algorithm_cases()) add("folded_256_mib_by", folded, a_case);
  return true;
}();

}  // namespace
}  // namespace lanecast::bench
