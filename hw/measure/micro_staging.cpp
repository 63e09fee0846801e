#include <cuda_runtime_api.h>

#include <algorithm>
#include <memory>

#include "hw/measure/micro_benchmarks.hpp"
#include "hw/measure/micro_graph.hpp"

namespace lanecast {
namespace {

constexpr std::uint64_t kMoved = std::uint64_t{64} << 20;  // a repeat
constexpr std::uint64_t kFewestSlices = 16;

/// Copies of slices into a FIFO in host memory and out of it, each stream waiting for the other by events.
class StagedCopies {
 public:
  StagedCopies(const MicroPoint& point, const MicroMachine& machine)
      : machine_(machine),
        pair_(point.flows.front()),
        slots_(static_cast<std::size_t>(point.slots)),
        slice_(point.size.value() / static_cast<std::uint64_t>(point.slices)),
        slices_(std::max(kMoved / slice_.value(), kFewestSlices)),
        in_(machine.stream(pair_.source, 0)),
        out_(machine.stream(pair_.destination, 1)),
        fork_(events(pair_.destination, 1)),
        filled_(events(pair_.source, slots_)),
        emptied_(events(pair_.destination, slots_)) {}

  Bytes moved() const { return Bytes(slices_ * slice_.value()); }
  std::uint64_t slices() const { return slices_; }
  int receiver() const { return pair_.destination; }
  MicroMachine::Stream out() const { return out_; }

  /// All copies. They begin and end with the stream `out`, which may be captured.
  void issue() {
    machine_.use(pair_.destination);
    fork_.front()->record(out_);
    machine_.use(pair_.source);
    check_micro(cudaStreamWaitEvent(in_, fork_.front()->get(), 0), "wait for the common start");
    for (std::uint64_t i = 0; i < slices_; ++i) move(i);
  }

 private:
  using Events = std::vector<std::unique_ptr<MicroEvent>>;

  Events events(int device, std::size_t count) const {
    machine_.use(device);
    Events events;
    for (std::size_t i = 0; i < count; ++i) events.push_back(std::make_unique<MicroEvent>());
    return events;
  }

  void move(std::uint64_t slice) {
    const std::size_t slot = slice % slots_;
    const std::size_t slice_bytes = slice_.value();
    const std::size_t place = slice * slice_bytes % (std::size_t{32} << 20);
    std::byte* fifo = machine_.fifo(pair_.source, true) + slot * slice_bytes;
    machine_.use(pair_.source);
    if (slice >= slots_) {
      check_micro(cudaStreamWaitEvent(in_, emptied_[slot]->get(), 0), "wait for a free slot");
    }
    const std::byte* from = machine_.source({pair_.source, kHostMemory, pair_.source, SmWork::copy}) + place;
    check_micro(cudaMemcpyAsync(fifo, from, slice_bytes, cudaMemcpyDefault, in_), "copy into host memory");
    filled_[slot]->record(in_);
    machine_.use(pair_.destination);
    std::byte* to =
        machine_.destination({kHostMemory, pair_.destination, pair_.destination, SmWork::copy}) + place;
    check_micro(cudaStreamWaitEvent(out_, filled_[slot]->get(), 0), "wait for a slice");
    check_micro(cudaMemcpyAsync(to, fifo, slice_bytes, cudaMemcpyDefault, out_), "copy out of host memory");
    emptied_[slot]->record(out_);
  }

  const MicroMachine& machine_;
  MicroFlow pair_;
  std::size_t slots_;
  Bytes slice_;
  std::uint64_t slices_;
  MicroMachine::Stream in_, out_;
  Events fork_, filled_, emptied_;
};

/// From before the first slice to after the last one, on the receiving device.
template <class Issue>
Seconds timed(const StagedCopies& copies, const MicroMachine& machine, Issue issue) {
  machine.use(copies.receiver());
  const MicroEvent begin, end;
  begin.record(copies.out());
  issue();
  machine.use(copies.receiver());
  end.record(copies.out());
  machine.wait(copies.out());
  return end.since(begin);
}

}  // namespace

std::vector<MicroFinding> measure_engine_pipelines(const MicroPoint& point, const MicroMachine& machine,
                                                   const MicroEffort& effort) {
  StagedCopies copies(point, machine);
  std::unique_ptr<MicroGraph> graph;
  if (point.kind == MicroKind::engine_graph) {
    machine.use(copies.receiver());
    graph = std::make_unique<MicroGraph>(copies.out(), [&] { copies.issue(); });
  }
  MicroFinding finding;
  for (int i = 0; i <= effort.repeats; ++i) {
    const Seconds time = timed(copies, machine, [&] {
      if (graph) graph->replay();
      if (!graph) copies.issue();
    });
    if (i == 0) continue;
    finding.rates.push_back(copies.moved() / time);
    finding.times.push_back(time *
                            (static_cast<double>(point.slices) / static_cast<double>(copies.slices())));
  }
  return {finding};
}

}  // namespace lanecast
