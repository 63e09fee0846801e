#include <cuda_runtime_api.h>

#include <array>
#include <map>
#include <memory>

#include "hw/measure/micro_benchmarks.hpp"

namespace lanecast {
namespace {

/// Of a flow, a repeat; even. Many of small ones, whose start counts.
int copies_of(Bytes size) { return size < Bytes(std::uint64_t{1} << 20) ? 64 : 8; }

/// One flow's copies in a stream of their own. The time of the first half counts: flows of one point are
/// equally large, so that none has ended by then unless their rates differ by more than two.
struct EngineFlow {
  MicroFlow flow;
  MicroMachine::Stream stream = nullptr;
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  MicroEvent begin, half;
};

std::vector<std::unique_ptr<EngineFlow>> engine_flows(const MicroPoint& point, const MicroMachine& machine) {
  std::vector<std::unique_ptr<EngineFlow>> flows;
  std::map<int, int> used;
  for (const MicroFlow& flow : point.flows) {
    machine.use(flow.runner);  // events belong to a device
    auto engine = std::make_unique<EngineFlow>();
    engine->flow = flow;
    engine->stream = machine.stream(flow.runner, used[flow.runner]++);
    engine->from = machine.source(flow);
    engine->to = machine.destination(flow);
    flows.push_back(std::move(engine));
  }
  return flows;
}

void issue(const EngineFlow& engine, Bytes size, const MicroEvent& gate, const MicroMachine& machine) {
  machine.use(engine.flow.runner);
  check_micro(cudaStreamWaitEvent(engine.stream, gate.get(), 0), "wait for the common start");
  engine.begin.record(engine.stream);
  const std::size_t size_bytes = size.value();
  const int copies = copies_of(size);
  for (int i = 0; i < copies; ++i) {
    check_micro(cudaMemcpyAsync(engine.to, engine.from, size_bytes, cudaMemcpyDefault, engine.stream),
                "copy by a copy engine");
    if (i + 1 == copies / 2) engine.half.record(engine.stream);
  }
}

}  // namespace

std::vector<MicroFinding> measure_engine_rates(const MicroPoint& point, const MicroMachine& machine,
                                               const MicroEffort& effort) {
  const auto flows = engine_flows(point, machine);
  const int holder = point.flows.front().runner;
  machine.use(holder);
  const MicroEvent gate;
  const MicroMachine::Stream held = machine.stream(holder, MicroMachine::kStreams - 1);
  const int copies = copies_of(point.size);
  const Seconds issuing(100e-6 + 5e-6 * copies * static_cast<double>(flows.size()));
  std::vector<MicroFinding> findings(point.flows.size());
  for (int repeat = 0; repeat <= effort.repeats; ++repeat) {
    machine.use(holder);
    hold_stream(held, issuing);
    gate.record(held);
    for (const auto& engine : flows) issue(*engine, point.size, gate, machine);
    for (std::size_t i = 0; i < flows.size(); ++i) {
      machine.wait(flows[i]->stream);
      if (repeat == 0) continue;
      const Seconds time = flows[i]->half.since(flows[i]->begin) * (2.0 / copies);
      findings[i].times.push_back(time);
      findings[i].rates.push_back(point.size / time);
    }
  }
  return findings;
}

}  // namespace lanecast
