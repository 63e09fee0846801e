#include "tests/support/thread_collective.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

#include "model/error.hpp"
#include "tests/support/connections.hpp"
#include "tests/support/rank_buffers.hpp"
#include "tests/support/thread_primitives.hpp"

namespace lanecast::support {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

const ChannelWork& any_work(const ThreadCall& call) { return call.plan.works.at(0).at(0); }

/// Payload of the largest slice: loop 0 has the largest regions.
std::size_t slot_bytes(const std::vector<ChannelWork>& strands) {
  const ChannelWork& any = strands.front();
  if (any.count == 0) return 0;
  int parts = 1;
  for (const ChannelWork& work : strands) {
    for (int step = 0; step < step_count(work); ++step) parts = std::max(parts, turn_of(work, step).parts);
  }
  Chunk chunk;
  chunk.count = part_count_of(any, 0) * static_cast<std::uint64_t>(parts);
  return slice_of(any, chunk, 0, 0, 0).count * static_cast<std::size_t>(any.element_bytes);
}

/// What all ranks must agree about; the rest of a work is a rank's own.
auto shared_part(const ChannelWork& work) {
  return std::tuple(work.schedule, work.collective, work.ranks, work.root, work.in_place, work.offset,
                    work.count, work.block_stride, work.chunk_count, work.grain_count, work.slices_per_chunk,
                    work.min_slice_count, work.group_ranks, work.outer_tree);
}

void require(bool holds, const std::string& what, const std::string& mend) {
  if (!holds) throw Error(ErrorKind::usage, what, "ThreadCall", mend);
}

void check_shares(const ThreadCall& call) {
  const std::size_t channels = call.plan.works[0].size();
  for (const std::vector<ChannelWork>& works : call.plan.works) {
    require(works.size() == channels, "ranks have different numbers of channels",
            "give each rank all channels");
    for (std::size_t c = 0; c < channels; ++c) {
      require(shared_part(works[c]) == shared_part(call.plan.works[0][c]),
              "ranks disagree about channel " + std::to_string(c),
              "give all ranks the same schedule, share and geometry");
      require(
          works[c].channel == static_cast<int>(c),
          "the work at " + std::to_string(c) + " says it is of channel " + std::to_string(works[c].channel),
          "number channels by their place");
      require(works[c].element_bytes == element_bytes(call.type),
              "element_bytes is " + std::to_string(works[c].element_bytes) + ", not that of " +
                  to_string(call.type),
              "make the plan for the type of the call");
    }
  }
}

void check_positions(const ThreadCall& call, int channel) {
  const ChannelWork& work = call.plan.works[0][at(channel)];
  RankOrder order = order_of(call.plan, channel);
  const bool rooted = work.collective == Collective::broadcast || work.collective == Collective::reduce;
  require(!rooted || order.at(at(work.root)) == call.root,
          "the root of channel " + std::to_string(channel) + " is not rank " + std::to_string(call.root),
          "ChannelWork::root is a position, ThreadCall::root a rank");
  std::sort(order.begin(), order.end());
  require(order == plain_order(static_cast<int>(call.plan.works.size())),
          "two ranks share a position in channel " + std::to_string(channel),
          "make each position one rank's");
  const std::string fault = fault_of(connections_of(strands_of(call.plan, channel)));
  require(fault.empty(), "channel " + std::to_string(channel) + ": " + fault,
          "check the trees, and that the schedule can do this collective with so many ranks");
}

void check_depth(const ThreadCall& call) {
  for (const ChannelWork& work : call.plan.works[0]) {
    const int depth = min_fifo_depth(work, call.credit_return);
    require(call.fifo_depth >= depth, "a FIFO of " + std::to_string(call.fifo_depth) + " slots would lock up",
            "use at least " + std::to_string(depth) + " slots, or fewer slices a chunk");
  }
}

void check_call(const ThreadCall& call) {
  require(!call.plan.works.empty() && !call.plan.works[0].empty(), "the plan has no work",
          "use split_evenly");
  const ChannelWork& work = any_work(call);
  const int ranks = static_cast<int>(call.plan.works.size());
  require(work.ranks == ranks, "the plan has works for " + std::to_string(ranks) + " ranks",
          "one vector a rank");
  require(call.root >= 0 && call.root < ranks, "root " + std::to_string(call.root) + " is not a rank",
          "roots are 0 to ranks - 1");
  check_shares(call);
  require(call.inputs.size() == call.plan.works.size(), "inputs are not one a rank", "give one input a rank");
  const std::size_t bytes = input_count(work.collective, call.count, ranks) * at(element_bytes(call.type));
  for (const std::vector<std::byte>& input : call.inputs) {
    require(input.size() == bytes, "an input has " + std::to_string(input.size()) + " bytes",
            "make it " + std::to_string(bytes) + " bytes");
  }
  if (ranks == 1) return;
  for (int c = 0; c < static_cast<int>(call.plan.works[0].size()); ++c) check_positions(call, c);
  if (call.refuse_shallow) check_depth(call);
}

std::vector<RankBuffers> make_buffers(const ThreadCall& call) {
  const ChannelWork& work = any_work(call);
  const int ranks = static_cast<int>(call.plan.works.size());
  const std::size_t bytes = output_count(work.collective, call.count, ranks) * at(element_bytes(call.type));
  std::vector<RankBuffers> buffers;
  for (int rank = 0; rank < ranks; ++rank) {
    buffers.emplace_back(work.collective, work.in_place, call.inputs[at(rank)], bytes, rank, call.poison);
  }
  return buffers;
}

/// One strand of one channel of one rank: what its thread gets and leaves.
struct Strand {
  int rank = 0;
  ChannelWork work;
  std::vector<RecordedStep> steps;
  Bytes wire_bytes;
  std::exception_ptr error;
};

/// All connections and threads of one call.
template <Fifo F>
class ThreadCollective {
 public:
  ThreadCollective(const ThreadCall& call, std::vector<RankBuffers>& buffers)
      : call_(call), buffers_(buffers) {
    for (int channel = 0; channel < static_cast<int>(call.plan.works[0].size()); ++channel) {
      const std::vector<ChannelWork> works = strands_of(call.plan, channel);
      const RankOrder order = order_of(call.plan, channel);
      for (const ChannelWork& work : works) strands_.push_back({order[at(work.position)], work, {}, {}, {}});
      slot_bytes_.push_back(slot_bytes(works));
      const FifoShape shape{static_cast<std::uint64_t>(call.fifo_depth), slot_bytes_.back(), call.first_step};
      ConnectionFifos<F>& fifos = fifos_.emplace_back();
      for (const auto& [ends, connection] : connections_of(works)) fifos.try_emplace(ends, shape);
    }
  }

  void run(ThreadResult& result) {
    {
      std::vector<std::jthread> threads;
      for (Strand& strand : strands_) threads.emplace_back([this, &strand] { run_guarded(strand); });
    }
    result.first_error = first_error_;
    for (const Strand& strand : strands_) {  // of a channel in the order of their numbers
      const auto rank = at(strand.rank);
      const auto channel = at(strand.work.channel);
      auto& steps = result.steps[rank][channel];
      steps.insert(steps.end(), strand.steps.begin(), strand.steps.end());
      result.wire_bytes[rank][channel] += strand.wire_bytes;
      if (!result.errors[rank][channel]) result.errors[rank][channel] = strand.error;
    }
  }

 private:
  void run_guarded(Strand& strand) {
    try {
      run_strand(strand);
    } catch (...) {
      strand.error = std::current_exception();
      const std::lock_guard lock(first_error_mutex_);
      if (!first_error_) first_error_ = std::current_exception();
      if (call_.raise_abort) abort_.store(true, std::memory_order_relaxed);
    }
  }

  void run_strand(Strand& strand) {
    const ChannelWork& work = strand.work;
    ThreadSide side;
    side.input = buffers_[at(strand.rank)].input();
    side.output = buffers_[at(strand.rank)].output();
    side.kernel = element_kernel(call_.type, call_.op);
    side.first_step = call_.first_step;
    side.credit_return = call_.credit_return;
    if (call_.record) side.recording = &strand.steps;
    if (call_.before_slice) {
      side.before_slice = [&](const Slice& slice) { call_.before_slice(strand.rank, work, slice); };
    }
    const BoundedWait wait({strand.rank, work.channel, work.strand}, call_.deadline, abort_);
    FifoPrimitives<F> primitives(work, fifos_[at(work.channel)], slot_bytes_[at(work.channel)], wait,
                                 std::move(side));
    run_schedule(primitives, work);
    strand.wire_bytes = primitives.wire_bytes();
  }

  const ThreadCall& call_;
  std::vector<RankBuffers>& buffers_;
  std::vector<Strand> strands_;
  std::vector<std::size_t> slot_bytes_;    // [channel]
  std::vector<ConnectionFifos<F>> fifos_;  // [channel]
  std::atomic<bool> abort_{false};
  std::mutex first_error_mutex_;
  std::exception_ptr first_error_;
};

void run_threads(const ThreadCall& call, std::vector<RankBuffers>& buffers, ThreadResult& result) {
  switch (call.protocol) {
    case Protocol::simple:
      ThreadCollective<SimpleFifo>(call, buffers).run(result);
      break;
    case Protocol::ll:
      ThreadCollective<LlFifo>(call, buffers).run(result);
      break;
    case Protocol::ll128:
      ThreadCollective<Ll128Fifo>(call, buffers).run(result);
      break;
  }
}

}  // namespace

ThreadResult try_threads(const ThreadCall& call) {
  check_call(call);
  const std::size_t ranks = call.plan.works.size();
  const std::size_t channels = call.plan.works[0].size();
  ThreadResult result;
  result.steps.assign(ranks, std::vector<std::vector<RecordedStep>>(channels));
  result.wire_bytes.assign(ranks, std::vector<Bytes>(channels));
  result.errors.assign(ranks, std::vector<std::exception_ptr>(channels));

  std::vector<RankBuffers> buffers = make_buffers(call);
  if (ranks == 1) {
    std::copy(call.inputs[0].begin(), call.inputs[0].end(), buffers[0].output());
  } else {
    run_threads(call, buffers, result);
  }
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    if (!buffers[rank].only_output_changed()) {
      throw Error(ErrorKind::check_failed, "bytes outside of the output changed",
                  "rank " + std::to_string(rank), "look for an offset or a count beyond the share");
    }
    result.outputs.push_back(buffers[rank].take_output());
  }
  return result;
}

ThreadResult run_on_threads(const ThreadCall& call) {
  ThreadResult result = try_threads(call);
  if (result.first_error) std::rethrow_exception(result.first_error);
  return result;
}

std::uint64_t input_count(Collective collective, std::uint64_t count, int ranks) {
  return collective == Collective::reduce_scatter ? count * static_cast<std::uint64_t>(ranks) : count;
}

std::uint64_t output_count(Collective collective, std::uint64_t count, int ranks) {
  return collective == Collective::all_gather ? count * static_cast<std::uint64_t>(ranks) : count;
}

}  // namespace lanecast::support
