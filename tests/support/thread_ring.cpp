#include "tests/support/thread_ring.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "model/error.hpp"
#include "tests/support/rank_buffers.hpp"

namespace lanecast::support {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

const RingWork& any_work(const ThreadRingCall& call) { return call.plan.works.at(0).at(0); }

/// Payload of the largest slice: loop 0 has the largest chunk.
std::size_t slot_bytes(const RingWork& work) {
  if (work.count == 0) return 0;
  Chunk chunk;
  chunk.count = chunk_count_of(work, 0);
  return slice_of(work, chunk, 0, 0, 0).count * static_cast<std::size_t>(work.element_bytes);
}

bool same_share(const RingWork& a, const RingWork& b) {
  return a.collective == b.collective && a.ranks == b.ranks && a.root == b.root && a.in_place == b.in_place &&
         a.offset == b.offset && a.count == b.count && a.chunk_count == b.chunk_count &&
         a.slices_per_chunk == b.slices_per_chunk;
}

void require(bool holds, const std::string& what, const std::string& mend) {
  if (!holds) throw Error(ErrorKind::usage, what, "ThreadRingCall", mend);
}

void check_works(const ThreadRingCall& call) {
  const std::size_t channels = call.plan.works[0].size();
  const Collective collective = any_work(call).collective;
  for (const std::vector<RingWork>& works : call.plan.works) {
    require(works.size() == channels, "ranks have different numbers of channels",
            "give each rank all channels");
    for (std::size_t c = 0; c < channels; ++c) {
      require(same_share(works[c], call.plan.works[0][c]),
              "ranks disagree about channel " + std::to_string(c),
              "give all ranks the same share and geometry");
      require(works[c].element_bytes == element_bytes(call.type),
              "element_bytes is " + std::to_string(works[c].element_bytes) + ", not that of " +
                  to_string(call.type),
              "make the plan for the type of the call");
    }
  }
  for (std::size_t c = 0; c < channels; ++c) {
    RingOrder order = ring_order(call.plan, static_cast<int>(c));
    const bool rooted = collective == Collective::broadcast || collective == Collective::reduce;
    require(!rooted || order.at(at(call.plan.works[0][c].root)) == call.root,
            "the root of channel " + std::to_string(c) + " is not rank " + std::to_string(call.root),
            "RingWork::root is a ring position, ThreadRingCall::root a rank");
    std::sort(order.begin(), order.end());
    require(order == plain_order(static_cast<int>(call.plan.works.size())),
            "two ranks share a position in channel " + std::to_string(c), "make each position one rank's");
  }
}

void check_call(const ThreadRingCall& call) {
  require(!call.plan.works.empty() && !call.plan.works[0].empty(), "the plan has no work",
          "use split_evenly");
  const RingWork& work = any_work(call);
  const int ranks = static_cast<int>(call.plan.works.size());
  require(work.ranks == ranks, "the plan has works for " + std::to_string(ranks) + " ranks",
          "one vector a rank");
  require(call.root >= 0 && call.root < ranks, "root " + std::to_string(call.root) + " is not a rank",
          "roots are 0 to ranks - 1");
  check_works(call);
  require(call.inputs.size() == call.plan.works.size(), "inputs are not one a rank", "give one input a rank");
  const std::size_t bytes = input_count(work.collective, call.count, ranks) * at(element_bytes(call.type));
  for (const std::vector<std::byte>& input : call.inputs) {
    require(input.size() == bytes, "an input has " + std::to_string(input.size()) + " bytes",
            "make it " + std::to_string(bytes) + " bytes");
  }
  for (const RingWork& w : call.plan.works[0]) {
    const int depth = ranks == 1 ? 1 : min_fifo_depth(w, call.credit_return);
    require(call.fifo_depth >= depth, "a FIFO of " + std::to_string(call.fifo_depth) + " slots would lock up",
            "use at least " + std::to_string(depth) + " slots, or fewer slices a chunk");
  }
}

std::vector<RankBuffers> make_buffers(const ThreadRingCall& call) {
  const RingWork& work = any_work(call);
  const int ranks = static_cast<int>(call.plan.works.size());
  const std::size_t bytes = output_count(work.collective, call.count, ranks) * at(element_bytes(call.type));
  std::vector<RankBuffers> buffers;
  for (int rank = 0; rank < ranks; ++rank) {
    buffers.emplace_back(work.collective, work.in_place, call.inputs[at(rank)], bytes, rank, call.poison);
  }
  return buffers;
}

/// All connections and threads of one call.
template <class Primitives, Fifo F>
class ThreadRing {
 public:
  ThreadRing(const ThreadRingCall& call, std::vector<RankBuffers>& buffers, ThreadRingResult& result)
      : call_(call), buffers_(buffers), result_(result) {
    for (std::size_t c = 0; c < call.plan.works[0].size(); ++c) {
      const FifoShape shape{static_cast<std::uint64_t>(call.fifo_depth), slot_bytes(call.plan.works[0][c]),
                            call.first_step};
      std::vector<std::unique_ptr<F>> channel;
      for (std::size_t p = 0; p < call.plan.works.size(); ++p) channel.push_back(std::make_unique<F>(shape));
      fifos_.push_back(std::move(channel));
    }
  }

  void run() {
    std::vector<std::jthread> threads;
    for (std::size_t rank = 0; rank < call_.plan.works.size(); ++rank) {
      for (std::size_t channel = 0; channel < fifos_.size(); ++channel) {
        threads.emplace_back(
            [this, rank, channel] { run_guarded(static_cast<int>(rank), static_cast<int>(channel)); });
      }
    }
  }

 private:
  void run_guarded(int rank, int channel) {
    try {
      run_channel(rank, channel);
    } catch (...) {
      result_.errors[at(rank)][at(channel)] = std::current_exception();
      const std::lock_guard lock(first_error_mutex_);
      if (!result_.first_error) result_.first_error = std::current_exception();
      if (call_.raise_abort) abort_.store(true, std::memory_order_relaxed);
    }
  }

  void run_channel(int rank, int channel) {
    const RingWork& work = call_.plan.works[at(rank)][at(channel)];
    ThreadSide side;
    side.input = buffers_[at(rank)].input();
    side.output = buffers_[at(rank)].output();
    side.kernel = element_kernel(call_.type, call_.op);
    side.first_step = call_.first_step;
    side.credit_return = call_.credit_return;
    if (call_.record) side.recording = &result_.steps[at(rank)][at(channel)];
    if (call_.before_slice) {
      side.before_slice = [this, rank, channel](const Slice& slice) {
        call_.before_slice(rank, channel, slice);
      };
    }
    F& from_previous = *fifos_[at(channel)][at(work.position)];
    F& to_next = *fifos_[at(channel)][at((work.position + 1) % work.ranks)];
    const BoundedWait wait(rank, channel, call_.deadline, abort_);
    Primitives primitives(work, from_previous, to_next, slot_bytes(work), wait, std::move(side));
    run_ring(primitives, work);
    result_.wire_bytes[at(rank)][at(channel)] = primitives.wire_bytes();
  }

  const ThreadRingCall& call_;
  std::vector<RankBuffers>& buffers_;
  ThreadRingResult& result_;
  std::vector<std::vector<std::unique_ptr<F>>> fifos_;  // [channel][position of the receiver]
  std::atomic<bool> abort_{false};
  std::mutex first_error_mutex_;
};

void run_threads(const ThreadRingCall& call, std::vector<RankBuffers>& buffers, ThreadRingResult& result) {
  switch (call.protocol) {
    case Protocol::simple:
      ThreadRing<SimplePrimitives, SimpleFifo>(call, buffers, result).run();
      break;
    case Protocol::ll:
      ThreadRing<LlPrimitives, LlFifo>(call, buffers, result).run();
      break;
    case Protocol::ll128:
      ThreadRing<Ll128Primitives, Ll128Fifo>(call, buffers, result).run();
      break;
  }
}

}  // namespace

ThreadRingResult try_thread_ring(const ThreadRingCall& call) {
  check_call(call);
  const std::size_t ranks = call.plan.works.size();
  const std::size_t channels = call.plan.works[0].size();
  ThreadRingResult result;
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

ThreadRingResult run_thread_ring(const ThreadRingCall& call) {
  ThreadRingResult result = try_thread_ring(call);
  if (result.first_error) std::rethrow_exception(result.first_error);
  return result;
}

int min_fifo_depth(const RingWork& work, CreditReturn credit_return) {
  if (work.collective == Collective::broadcast || work.collective == Collective::reduce) return 1;
  bool holds_while_waiting = false;
  for (int step = 0; step < ring_step_count(work.collective, work.ranks); ++step) {
    const RingAction action =
        ring_step(work.collective, work.position, work.ranks, step, work.root, work.in_place).action;
    holds_while_waiting = holds_while_waiting || (receives(action) && sends(action));
  }
  return work.slices_per_chunk + (credit_return == CreditReturn::after_turn && holds_while_waiting ? 1 : 0);
}

std::uint64_t input_count(Collective collective, std::uint64_t count, int ranks) {
  return collective == Collective::reduce_scatter ? count * static_cast<std::uint64_t>(ranks) : count;
}

std::uint64_t output_count(Collective collective, std::uint64_t count, int ranks) {
  return collective == Collective::all_gather ? count * static_cast<std::uint64_t>(ranks) : count;
}

}  // namespace lanecast::support
