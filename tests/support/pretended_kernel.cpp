#include "tests/support/pretended_kernel.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "hw/rendezvous/status_board.hpp"
#include "model/schedule/schedule.hpp"
#include "tests/support/element.hpp"

namespace lanecast::support {
namespace {

using Clock = std::chrono::steady_clock;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

/// Words that ranks share lie in plain memory.
template <class Word>
Word loaded(const Word* word) {
  return std::atomic_ref<Word>(*const_cast<Word*>(word)).load(std::memory_order_acquire);
}
template <class Word>
void stored(Word* word, Word value) {
  std::atomic_ref<Word>(*word).store(value, std::memory_order_release);
}

struct WaitPlace {
  std::uint32_t what = KernelFault::nothing;
  int peer = -1;
  int channel = 0;
  int step = 0;
  int slice = 0;
  std::uint64_t loop = 0;
};

/// The first of a rank's blocks says why.
void write_fault(const KernelCall& call, const WaitPlace& place, bool aborted) {
  std::uint32_t whole = 0;
  if (!std::atomic_ref<std::uint32_t>(*call.broken).compare_exchange_strong(whole, 1)) return;
  KernelFault& fault = *call.fault;
  fault.peer = place.peer;
  fault.channel = place.channel;
  fault.step = place.step;
  fault.slice = place.slice;
  fault.loop = place.loop;
  fault.aborted = aborted ? 1 : 0;
  fault.call = call.call;
  stored(&fault.what, place.what);
}

/// @return  whether it came; false: time is over, or the host said to give up
template <class Ready>
bool wait_until(const KernelCall& call, const WaitPlace& place, Ready ready) {
  const Clock::time_point end = Clock::now() + std::chrono::nanoseconds(call.timeout_ns);
  for (int looks = 0; !ready(); ++looks) {
    const bool aborted = loaded(call.abort) != 0;
    if (aborted || Clock::now() > end) {
      write_fault(call, place, aborted);
      return false;
    }
    if (looks < 100) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }
  return true;
}

/// One way of a connection, as a block uses it.
struct Way {
  std::byte* fifo = nullptr;
  std::uint64_t* posts = nullptr;
  const std::uint64_t* awaits = nullptr;
  ConnectionState* state = nullptr;
  bool used = false;
};

/// One strand of one channel of one rank.
class PretendedBlock {
 public:
  PretendedBlock(const KernelCall& call, const ChannelWork& work, const KernelMischief& mischief)
      : call_(call),
        work_(work),
        mischief_(mischief),
        kernel_(element_kernel(static_cast<Datatype>(call.datatype), static_cast<ReduceOp>(call.op))),
        in_(at(work.ranks)),
        out_(at(work.ranks)),
        value_(call.slot_bytes) {}

  /// Where slots change their size or number, what lies in them is taken out first.
  void open() {
    for_each_step([this](const Turn& turn) {
      for (int i = 0; i < turn.from.count; ++i) open_way(turn.from.at(i), true);
      for (int i = 0; i < turn.to.count; ++i) open_way(turn.to.at(i), false);
    });
    for (int peer = 0; peer < work_.ranks && !gave_up_; ++peer) {
      Way& way = out_[at(peer)];
      if (!way.used || way.state->slots == slot_cut(call_) || way.state->slots == 0) continue;
      const WaitPlace place{KernelFault::drain, peer, work_.channel, 0, 0, 0};
      gave_up_ = !wait_until(call_, place, [&] { return loaded(way.awaits) == way.state->step; });
    }
  }

  void run(const Turn& turn, const Slice& slice) {
    gave_up_ = gave_up_ || !wait_for_peers(turn, slice);
    if (!gave_up_) misbehave(slice);
    if (gave_up_) return;
    record(turn, slice);
    move(turn, slice);
    for (int i = 0; i < turn.from.count; ++i) post(in_[at(turn.from.at(i))]);
    for (int i = 0; i < turn.to.count; ++i) {
      Way& way = out_[at(turn.to.at(i))];
      post(way);
      way.state->slots = slot_cut(call_);
    }
  }

  std::uint64_t next_loop(std::uint64_t loop, std::uint64_t) const { return loop; }
  std::uint64_t next_step(std::uint64_t, std::uint64_t step, std::uint64_t) const { return step; }

 private:
  template <class Visit>
  void for_each_step(Visit visit) {
    for (int step = 0; step < step_count(work_); ++step) visit(turn_of(work_, step));
  }

  void open_way(int peer, bool receive) {
    Way& way = (receive ? in_ : out_)[at(peer)];
    if (std::exchange(way.used, true)) return;
    const MailboxLayout& layout = call_.layout;
    const int protocol = call_.protocol;
    const int at_own = connection_index(layout, takes_ring_connections(call_), peer, work_.channel);
    const int at_peer =
        connection_index(layout, takes_ring_connections(call_), work_.position, work_.channel);
    std::byte* own = (call_.staged >> peer & 1u) != 0 ? call_.own_host : call_.own_device;
    std::byte* theirs = call_.theirs[peer];
    const auto word = [](std::byte* memory) { return reinterpret_cast<std::uint64_t*>(memory); };
    way.fifo = receive ? own + fifo_offset(layout, protocol, at_own)
                       : theirs + fifo_offset(layout, protocol, at_peer);
    way.posts = word(
        theirs + (receive ? head_offset(layout, protocol, at_peer) : tail_offset(layout, protocol, at_peer)));
    way.awaits =
        word(own + (receive ? tail_offset(layout, protocol, at_own) : head_offset(layout, protocol, at_own)));
    way.state = call_.states + state_index(layout, protocol, receive, at_own);
  }

  void misbehave(const Slice& slice) {
    const auto is_now = [&](const std::optional<CallMoment>& moment) {
      return moment && moment->call == call_.call && moment->step == slice.step;
    };
    if (is_now(mischief_.dies)) kill(getpid(), SIGKILL);
    if (is_now(mischief_.hangs)) {
      const Clock::time_point end = Clock::now() + std::chrono::nanoseconds(call_.timeout_ns) * 10;
      while (loaded(call_.abort) == 0 && Clock::now() < end)
        std::this_thread::sleep_for(std::chrono::microseconds(200));
      gave_up_ = true;
    }
  }

  bool wait_for_peers(const Turn& turn, const Slice& slice) {
    WaitPlace place{KernelFault::data, -1, work_.channel, slice.step, slice.slice, slice.loop};
    for (int i = 0; i < turn.from.count; ++i) {
      place.peer = turn.from.at(i);
      const Way& way = in_[at(place.peer)];
      if (!wait_until(call_, place, [&] { return loaded(way.awaits) > way.state->step; })) return false;
    }
    place.what = KernelFault::credit;
    for (int i = 0; i < turn.to.count; ++i) {
      place.peer = turn.to.at(i);
      const Way& way = out_[at(place.peer)];
      const auto depth = static_cast<std::uint64_t>(call_.fifo_slices);
      if (!wait_until(call_, place, [&] { return loaded(way.awaits) + depth > way.state->step; }))
        return false;
    }
    return true;
  }

  std::byte* slot(const Way& way) const {
    return way.fifo + way.state->step % static_cast<std::uint64_t>(call_.fifo_slices) * call_.slot_bytes;
  }
  static void post(Way& way) { stored(way.posts, ++way.state->step); }

  void move(const Turn& turn, const Slice& slice) {
    if (slice.count == 0) return;
    const std::size_t bytes = slice.count * at(work_.element_bytes);
    combine(turn, slice, bytes);
    if (turn.finishes) kernel_.finish(value_.data(), slice.count, work_.ranks);
    if (turn.keeps) std::memcpy(kept_share(slice), value_.data(), bytes);
    for (int i = 0; i < turn.to.count; ++i) std::memcpy(slot(out_[at(turn.to.at(i))]), value_.data(), bytes);
  }

  /// value_ = what came and the own, in the order of positions.
  void combine(const Turn& turn, const Slice& slice, std::size_t bytes) {
    std::vector<std::pair<int, const std::byte*>> parts;
    for (int i = 0; i < turn.from.count; ++i)
      parts.emplace_back(turn.from.at(i), slot(in_[at(turn.from.at(i))]));
    if (turn.own != Own::nothing) parts.emplace_back(work_.position, own_share(turn, slice));
    std::sort(parts.begin(), parts.end());
    std::memcpy(value_.data(), parts.front().second, bytes);
    for (std::size_t i = 1; i < parts.size(); ++i)
      kernel_.combine(value_.data(), parts[i].second, slice.count);
  }

  const std::byte* own_share(const Turn& turn, const Slice& slice) const {
    if (turn.own == Own::output) return kept_share(slice);
    const bool block = work_.collective == Collective::all_gather;
    return static_cast<const std::byte*>(call_.input) +
           (block ? slice.block_offset : slice.offset) * at(work_.element_bytes);
  }
  std::byte* kept_share(const Slice& slice) const {
    const bool block = work_.collective == Collective::reduce_scatter;
    return static_cast<std::byte*>(call_.output) +
           (block ? slice.block_offset : slice.offset) * at(work_.element_bytes);
  }

  void record(const Turn& turn, const Slice& slice) {
    const Recording& recording = call_.recording;
    if (recording.records == nullptr) return;
    const auto block = static_cast<std::uint32_t>(work_.channel * call_.strands + work_.strand);
    const std::uint32_t index = recorded_++;
    recording.counts[block] = recorded_;
    if (index >= recording.most) return;
    SliceRecord& entry = recording.records[std::size_t{block} * recording.most + index];
    entry.loop = slice.loop;
    entry.bytes = slice.count * at(work_.element_bytes);
    entry.channel = work_.channel;
    entry.strand = work_.strand;
    entry.step = slice.step;
    entry.chunk = slice.chunk;
    entry.slice = slice.slice;
    entry.action = static_cast<std::int32_t>(action_of(turn));
  }

  const KernelCall& call_;
  const ChannelWork& work_;
  const KernelMischief& mischief_;
  ElementKernel kernel_;
  std::vector<Way> in_;   // by the sender's position
  std::vector<Way> out_;  // by the receiver's position
  std::vector<std::byte> value_;
  std::uint32_t recorded_ = 0;
  bool gave_up_ = false;
};
static_assert(SchedulePrimitives<PretendedBlock>);

}  // namespace

void run_pretended_block(const KernelCall& call, int block, const KernelMischief& mischief) {
  if (loaded(call.broken) != 0 || loaded(call.abort) != 0) return;  // others' memory may be gone
  ChannelWork work = call.work;
  work.channel = block / call.strands;
  work.strand = block % call.strands;
  work.tree = call.trees[work.channel % 2];
  if (work.strand >= strand_count(work)) return;
  work.offset = share_begin(call, work.channel);
  work.count = share_count(call, work.channel);
  work.chunk_count = chunk_count(call, work.channel);
  PretendedBlock primitives(call, work, mischief);
  primitives.open();
  run_schedule(primitives, work);
}

void pretended_copy_request(const CopyRequest& request, const std::uint32_t* broken) {
  if (loaded(broken) != 0) return;
  const std::uint64_t epoch = ++*request.epoch;
  stored(request.word, epoch << 32 | request.job);
}

void pretended_copy_wait(const KernelCall& call, const CopyWait& wait) {
  if (loaded(call.broken) != 0) return;
  const WaitPlace place{wait.what, wait.peer, wait.channel, wait.step, wait.slice, wait.loop};
  wait_until(call, place, [&] { return loaded(wait.counter) >= *wait.base + wait.relative; });
}

void pretended_copy_post(std::uint64_t* counter, const std::uint64_t* base, std::uint64_t relative,
                         const std::uint32_t* broken) {
  if (loaded(broken) == 0) stored(counter, *base + relative);
}

}  // namespace lanecast::support
