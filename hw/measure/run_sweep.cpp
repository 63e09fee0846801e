#include "hw/measure/run_sweep.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include "hw/engine/fresh_stream.hpp"
#include "hw/measure/call_buffers.hpp"
#include "hw/measure/cuda_require.hpp"
#include "hw/measure/rank_link.hpp"
#include "hw/measure/timing.hpp"
#include "model/error.hpp"

namespace lanecast {
namespace {

class OwnStream {
 public:
  OwnStream() { require_cuda(static_cast<cudaError_t>(make_stream(&stream_)), "make a stream"); }
  ~OwnStream() { cudaStreamDestroy(stream_); }
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;
  Stream get() const { return stream_; }

 private:
  Stream stream_ = nullptr;
};

ReferenceCall reference_of(const Call& call, int ranks, std::uint64_t seed) {
  ReferenceCall reference;
  reference.collective = call.collective;
  reference.type = call.datatype;
  reference.op = call.op;
  reference.ranks = ranks;
  reference.root = call.root;
  reference.count = counted_elements(call, ranks);
  reference.seed = seed;
  return reference;
}

Bytes largest_size(const PlannedGroup& group) {
  Bytes largest(1);
  for (const PlannedCall& each : group.calls) {
    if (!each.sizes.empty()) largest = std::max(largest, each.sizes.back());
  }
  return largest;
}

std::uint64_t widest_element(const PlannedGroup& group) {
  int widest = 1;
  for (const PlannedCall& each : group.calls) widest = std::max(widest, element_bytes(each.call.datatype));
  return static_cast<std::uint64_t>(widest);
}

/// The calls of one communicator.
class GroupSweep {
 public:
  GroupSweep(const MeasurePlan& plan, const PlannedGroup& group, MeasuringRank& rank,
             const SweepEvents& events, Communicator& communicator, int session)
      : plan_(plan),
        group_(group),
        link_(rank.control),
        events_(events),
        communicator_(communicator),
        session_(session),
        buffers_(std::max(plan.working_set.value_or(Bytes(0)), largest_size(group)),
                 Bytes(plan.offset * widest_element(group))),
        check_(stream_.get()) {}

  SweepEnd run();

 private:
  SweepEnd run_call(const PlannedCall& planned);
  bool can_run(const PlannedCall& planned, const Call& call) const;
  void measure(const PlannedCall& planned, const Call& call);
  std::vector<Seconds> timed(const PlannedCall& planned, const Call& call, const Rotation& rotation);
  void check(const PlannedCall& planned, const Call& call, MeasuredRun& run);
  TimedRanks timed_ranks(const PlannedCall& planned, const Call& call, const Rotation& rotation);
  MeasuredRun described(const PlannedCall& planned, const Call& call, const Rotation& rotation) const;

  const MeasurePlan& plan_;
  const PlannedGroup& group_;
  RankLink link_;
  const SweepEvents& events_;
  Communicator& communicator_;
  int session_;
  OwnStream stream_;
  CallBuffers buffers_;
  ValueCheck check_;
};

SweepEnd GroupSweep::run() {
  for (const PlannedCall& planned : group_.calls) {
    if (run_call(planned) == SweepEnd::stopped) return SweepEnd::stopped;
  }
  link_.barrier();  // buffers are freed, which waits for the GPU, once no rank has calls on their way
  return SweepEnd::complete;
}

SweepEnd GroupSweep::run_call(const PlannedCall& planned) {
  for (const Bytes size : planned.sizes) {
    for (const bool in_place : plan_.in_place) {
      if (link_.any(events_.stop && events_.stop(), "whether to go on")) return SweepEnd::stopped;
      Call call = planned.call;
      call.size = size;
      call.in_place = in_place;
      if (!can_run(planned, call)) continue;
      if (events_.begins) events_.begins(call, session_);
      measure(planned, call);
    }
  }
  return SweepEnd::complete;
}

bool GroupSweep::can_run(const PlannedCall& planned, const Call& call) const {
  try {
    communicator_.way(call, planned.choice);
    return true;
  } catch (const Error& error) {
    const bool alone = plan_.groups.size() == 1 && group_.calls.size() == 1 && planned.sizes.size() == 1;
    if (error.kind() != ErrorKind::usage || alone) throw;
    if (events_.left_out) events_.left_out(error.what());
    return false;
  }
}

TimedRanks GroupSweep::timed_ranks(const PlannedCall& planned, const Call& call, const Rotation& rotation) {
  TimedRanks ranks;
  ranks.call = [this, &planned, &call, rotation](int index, Stream stream) {
    const CallPlace place =
        buffers_.place(call, communicator_.rank(), communicator_.ranks(), rotation.offset(index));
    communicator_.run(call, planned.choice, place.input, place.output, stream);
  };
  ranks.wait = [this](Stream stream) { communicator_.synchronize(stream); };
  ranks.barrier = [this] { link_.barrier(); };
  ranks.slowest = [this](Seconds mine) { return link_.slowest(mine); };
  ranks.under_load = [this] {
    if (events_.under_load) events_.under_load();
  };
  return ranks;
}

std::vector<Seconds> GroupSweep::timed(const PlannedCall& planned, const Call& call,
                                       const Rotation& rotation) {
  const std::uint64_t elements =
      buffers_.span().value() / static_cast<std::uint64_t>(element_bytes(call.datatype));
  const ReferenceCall reference = reference_of(call, communicator_.ranks(), plan_.seed);
  check_.fill_input(buffers_.first_input(), reference, communicator_.rank(), elements);
  check_.fill_input(buffers_.first_output(), reference, communicator_.rank(), elements);
  require_cuda(cudaStreamSynchronize(stream_.get()), "fill the buffers");
  link_.barrier();
  return time_calls(plan_.timing, timed_ranks(planned, call, rotation), stream_.get());
}

void GroupSweep::check(const PlannedCall& planned, const Call& call, MeasuredRun& run) {
  if (plan_.timing.checks == 0) return;
  const TimedRanks ranks = timed_ranks(planned, call, Rotation());
  WrongElements wrong;
  for (int round = 0; round < plan_.timing.checks; ++round) {
    const ReferenceCall reference =
        reference_of(call, communicator_.ranks(), plan_.seed + static_cast<std::uint64_t>(round));
    prepare_first(buffers_, call, reference, communicator_.rank(), check_);
    require_cuda(cudaStreamSynchronize(stream_.get()), "fill the buffers");
    run_once(plan_.timing, ranks, stream_.get());
    const WrongElements found = check_first(buffers_, call, reference, communicator_.rank(), check_);
    if (wrong.count == 0) wrong.first = found.first;
    wrong.count += found.count;
  }
  run.wrong = 0;
  const std::string mine = std::to_string(wrong.count) + " " + wrong.first;
  const std::vector<std::string> all = link_.all_texts(mine, "numbers of wrong elements");
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const std::size_t blank = all[rank].find(' ');
    const std::uint64_t count = std::stoull(all[rank].substr(0, blank));
    if (count > 0 && *run.wrong == 0)
      run.first_wrong = "rank " + std::to_string(rank) + ": " + all[rank].substr(blank + 1);
    *run.wrong += count;
  }
}

MeasuredRun GroupSweep::described(const PlannedCall& planned, const Call& call,
                                  const Rotation& rotation) const {
  const ChosenWay way = communicator_.way(call, planned.choice);
  MeasuredRun run;
  run.call = call;
  run.ranks = communicator_.ranks();
  run.count = counted_elements(call, run.ranks);
  run.algorithm = way.algorithm;
  run.protocol = way.protocol;
  run.transport = way.transport;
  run.staging = way.transport == Transport::shm ? to_string(way.staging) : "";
  run.channels = way.channels;
  run.threads = way.threads;
  run.chunk = way.chunk;
  run.buffsize = way.buffsize;
  run.warmup = plan_.timing.warmup;
  run.session = session_;
  run.working_set =
      Bytes(touched_bytes(call, run.ranks).value() * static_cast<std::uint64_t>(rotation.places));
  return run;
}

void GroupSweep::measure(const PlannedCall& planned, const Call& call) {
  const Rotation rotation = rotation_of(call.size, buffers_.span(), plan_.timing.iterations);
  MeasuredRun run = described(planned, call, rotation);
  const std::vector<Seconds> times = slowest_of(link_.all_times(timed(planned, call, rotation)));
  run.samples = static_cast<int>(times.size());
  run.graph_replays = plan_.timing.graph ? run.samples : 0;
  run.time = spread_of(times);
  check(planned, call, run);
  if (events_.measured) events_.measured(run);
}

SweepEnd sweep_group(const MeasurePlan& plan, const PlannedGroup& group, MeasuringRank& rank,
                     const SweepEvents& events, std::pair<int, int> session_and_number) {
  const auto [session, number] = session_and_number;
  RankLink link(rank.control);
  try {
    Communicator communicator(rank.open_exchange(number), rank.device, group.options);
    try {
      if (events.opened) events.opened(communicator);
      GroupSweep sweep(plan, group, rank, events, communicator, session);
      link.barrier();  // all have their memory
      return sweep.run();
    } catch (const std::exception& error) {  // told before this rank's own closing, which may take a while
      link.give_up(error.what());
      throw;
    }
  } catch (const std::exception& error) {
    link.give_up(error.what());
    throw;
  }
}

}  // namespace

SweepEnd run_sweep(const MeasurePlan& plan, MeasuringRank& rank, const SweepEvents& events) {
  require_cuda(cudaSetDevice(rank.cuda_device), "use GPU " + std::to_string(rank.cuda_device));
  int number = 0;
  for (int session = 1; session <= plan.sessions; ++session) {
    for (const PlannedGroup& group : plan.groups) {
      if (sweep_group(plan, group, rank, events, {session, number++}) == SweepEnd::stopped)
        return SweepEnd::stopped;
    }
  }
  return SweepEnd::complete;
}

}  // namespace lanecast
