#pragma once
#include <cstddef>
#include <cstdint>

#include "hw/kernels/connections_device.cuh"
#include "hw/kernels/elements_device.cuh"
#include "hw/kernels/memory_device.cuh"
#include "hw/kernels/wait_device.cuh"
#include "model/schedule/schedule.hpp"

namespace lanecast::device {

/// Slices of this call so far on a connection, and how many slots further than the first one the next lies.
struct SliceCount {
  std::uint32_t slices = 0;
  std::uint32_t slot = 0;

  __device__ void advance(std::uint32_t slots) {
    ++slices;
    if (++slot == slots) slot = 0;
  }
};

/// Those of all connections of a strand, one way. A ring has one, and a one-shot uses all alike: one counter,
/// which stays in registers.
template <KernelShape Shape>
class SliceCounts {
 public:
  __device__ const SliceCount& of(int) const { return count_; }
  __device__ void advance(const Peers& peers, std::uint32_t slots) {
    if (peers.count > 0) count_.advance(slots);
  }

 private:
  SliceCount count_;
};
template <>
class SliceCounts<KernelShape::any> {
 public:
  __device__ const SliceCount& of(int peer) const { return counts_[peer]; }
  __device__ void advance(const Peers& peers, std::uint32_t slots) {
    for (int i = 0; i < peers.count; ++i) counts_[peers.at(i)].advance(slots);
  }

 private:
  SliceCount counts_[kMostEngineRanks];
};

/// Who contributes to a turn, in the order of positions: -1 stands for the own share. Ranks that compute the
/// same sum get the same bits.
class Contributors {
 public:
  __device__ Contributors(const Turn& turn, int own, int ranks)
      : count_(turn.from.count + (turn.own != Own::nothing ? 1 : 0)),
        own_(turn.own != Own::nothing ? own : kMostEngineRanks),
        all_(turn.from.count == ranks - 1),
        named_(turn.from) {}

  __device__ int count() const { return count_; }
  /// The k-th: a position, or -1.
  __device__ int at(int k) const {
    if (all_ && own_ != kMostEngineRanks) return k == own_ ? -1 : k;
    int previous = -1;
    for (;; --k) {
      int next = own_ > previous ? own_ : kMostEngineRanks;
      for (int i = 0; i < named_.count; ++i) {
        const int position = named_.at(i);
        if (position > previous && position < next) next = position;
      }
      if (k == 0) return next == own_ ? -1 : next;
      previous = next;
    }
  }

 private:
  int count_;
  int own_;  // kMostEngineRanks: none
  bool all_;
  Peers named_;
};

/// What all protocols share: where the data of a turn lie, counting, recording, giving up.
template <class T, bool Sum, KernelShape Shape>
class TurnContext {
 public:
  static constexpr std::size_t kElement = sizeof(T);

  __device__ TurnContext(const KernelCall& call, const ChannelWork& work, Ends& ends, BlockTrouble& trouble,
                         int threads)
      : call_(call), work_(work), ends_(ends), wait_(call, trouble), threads_(threads) {}

  std::uint64_t LANECAST_DEV next_loop(std::uint64_t loop, std::uint64_t) const { return loop; }
  std::uint64_t LANECAST_DEV next_step(std::uint64_t, std::uint64_t step, std::uint64_t) const {
    return step;
  }

  /// Counters of a ring's two connections, for the next call; one thread saves both.
  __device__ void save_ring() {
    const int next = (work_.position + 1) % work_.ranks;
    const int previous = (work_.position + work_.ranks - 1) % work_.ranks;
    if (sent_.of(next).slices > 0) save_state(call_, work_, next, false, step_out(next));
    if (taken_.of(previous).slices > 0) save_state(call_, work_, previous, true, step_in(previous));
  }

  /// Counters of the connections with one peer, as this strand used them, for the next call. One thread a
  /// peer.
  __device__ void save(int peer) {
    if (sent_.of(peer).slices > 0) save_state(call_, work_, peer, false, step_out(peer));
    if (taken_.of(peer).slices > 0) save_state(call_, work_, peer, true, step_in(peer));
  }

 protected:
  __device__ const std::byte* own_share(const Turn& turn, const Slice& slice) const {
    if (turn.own == Own::output) return static_cast<const std::byte*>(call_.output) + output_offset(slice);
    const bool one_block = work_.collective == Collective::all_gather;
    return static_cast<const std::byte*>(call_.input) +
           (one_block ? slice.block_offset : slice.offset) * kElement;
  }
  __device__ std::byte* kept_share(const Slice& slice) const {
    return static_cast<std::byte*>(call_.output) + output_offset(slice);
  }
  __device__ std::uint64_t output_offset(const Slice& slice) const {
    const bool one_block = work_.collective == Collective::reduce_scatter;
    return (one_block ? slice.block_offset : slice.offset) * kElement;
  }

  __device__ std::uint64_t step_out(int peer) { return ends_.out[peer].first_step + sent_.of(peer).slices; }
  __device__ std::uint64_t step_in(int peer) { return ends_.in[peer].first_step + taken_.of(peer).slices; }
  __device__ std::byte* slot_out(int peer) { return slot(ends_.out[peer], sent_.of(peer)); }
  __device__ std::byte* slot_in(int peer) { return slot(ends_.in[peer], taken_.of(peer)); }
  __device__ std::byte* slot(const End& end, const SliceCount& count) const {
    std::uint32_t index = end.first_slot + count.slot;
    if (index >= slots()) index -= slots();
    return end.fifo + static_cast<std::uint64_t>(index) * call_.slot_bytes;
  }
  __device__ std::uint32_t slots() const { return static_cast<std::uint32_t>(call_.fifo_slices); }
  __device__ bool has_credit(std::uint64_t head, std::uint64_t step) const {
    return head + static_cast<std::uint64_t>(call_.fifo_slices) > step;
  }

  __device__ Place place(const Slice& slice) const {
    return {work_.channel, slice.step, slice.slice, slice.loop};
  }
  /// Sums (and avg, which divides at the end) have kernels of their own; the others share one, that looks.
  __device__ std::uint64_t combine(std::uint64_t a, std::uint64_t b) const {
    if constexpr (Sum) return combine_words<T, ReduceOp::sum>(a, b);
    switch (static_cast<ReduceOp>(call_.op)) {
      case ReduceOp::max:
        return combine_words<T, ReduceOp::max>(a, b);
      case ReduceOp::min:
        return combine_words<T, ReduceOp::min>(a, b);
      default:
        return combine_words<T, ReduceOp::prod>(a, b);
    }
  }
  __device__ std::uint64_t finished(const Turn& turn, std::uint64_t word) const {
    if constexpr (Sum) {
      if (turn.finishes && call_.op == static_cast<int>(ReduceOp::avg))
        return divide_word<T>(word, work_.ranks);
    }
    return word;
  }

  /// Calls `act(peer)` for each. A ring's turns have one peer a way at most, a one-shot's all others: no
  /// array to walk through.
  template <class Act>
  __device__ void each(const Peers& peers, Act act) const {
    if constexpr (Shape == KernelShape::ring) {
      if (peers.count > 0) act(peers.named[0]);
    } else if constexpr (Shape == KernelShape::one_shot) {
      int peer = work_.position;
      for (int i = 0; i < peers.count; ++i) {
        if (++peer == work_.ranks) peer = 0;
        act(peer);
      }
    } else {
      for (int i = 0; i < peers.count; ++i) act(peers.at(i));
    }
  }
  /// The first of them.
  __device__ int first_of(const Peers& peers) const {
    return Shape == KernelShape::ring ? peers.named[0] : peers.at(0);
  }

  /// One thread of the block calls these three for each slice, where something is recorded.
  __device__ bool records() const { return call_.recording.records != nullptr && threadIdx.x == 0; }
  __device__ void record_begin() {
    if (records()) begin_ns_ = ready_ns_ = device_time_ns();
  }
  __device__ void record_ready() {
    if (records()) ready_ns_ = device_time_ns();
  }
  __device__ void record_end(const Turn& turn, const Slice& slice) {
    if (!records()) return;
    const std::uint32_t index = recorded_++;
    call_.recording.counts[blockIdx.x] = recorded_;
    if (index >= call_.recording.most) return;
    SliceRecord& record =
        call_.recording.records[static_cast<std::uint64_t>(blockIdx.x) * call_.recording.most + index];
    record.begin_ns = begin_ns_;
    record.ready_ns = ready_ns_;
    record.end_ns = device_time_ns();
    record.loop = slice.loop;
    record.bytes = slice.count * kElement;
    record.channel = work_.channel;
    record.strand = work_.strand;
    record.step = slice.step;
    record.chunk = slice.chunk;
    record.slice = slice.slice;
    record.action = static_cast<std::int32_t>(action_of(turn));
  }

  const KernelCall& call_;
  const ChannelWork& work_;
  Ends& ends_;
  BoundedWait wait_;
  int threads_;
  SliceCounts<Shape> sent_;
  SliceCounts<Shape> taken_;
  std::uint64_t begin_ns_ = 0;
  std::uint64_t ready_ns_ = 0;
  std::uint32_t recorded_ = 0;
};

}  // namespace lanecast::device
