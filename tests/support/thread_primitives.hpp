#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "model/schedule/schedule.hpp"
#include "tests/support/bounded_wait.hpp"
#include "tests/support/element.hpp"
#include "tests/support/fifo_depth.hpp"
#include "tests/support/recorded_step.hpp"
#include "tests/support/thread_fifo.hpp"

namespace lanecast::support {

/// Everything that the primitives of one strand work on. Pointers and references outlive them.
struct ThreadSide {
  std::byte* input = nullptr;  // in place: within the same buffer as `output`
  std::byte* output = nullptr;
  ElementKernel kernel{};
  std::uint64_t first_step = 0;
  CreditReturn credit_return = CreditReturn::after_turn;
  std::vector<RecordedStep>* recording = nullptr;  // null: do not record
  std::function<void(const Slice&)> before_slice;  // may throw; empty: not called
};

/// The FIFO of every connection of one channel, by (sender, receiver), positions.
template <Fifo F>
using ConnectionFifos = std::map<std::pair<int, int>, F>;

/// Runs one strand's schedule on one thread over real data. What differs between protocols is the FIFO.
template <Fifo F>
class FifoPrimitives {
 public:
  FifoPrimitives(const ChannelWork& work, ConnectionFifos<F>& fifos, std::size_t slot_bytes,
                 const BoundedWait& wait, ThreadSide side)
      : work_(work),
        wait_(wait),
        side_(std::move(side)),
        sources_(static_cast<std::size_t>(work.ranks)),
        targets_(static_cast<std::size_t>(work.ranks)),
        value_(slot_bytes),
        came_(slot_bytes) {
    for (auto& [ends, fifo] : fifos) {
      if (ends.second == work.position) source(ends.first) = {&fifo, side_.first_step};
      if (ends.first == work.position) target(ends.second) = {&fifo, side_.first_step};
    }
  }

  void run(const Turn& turn, const Slice& slice) {
    wait_.enter(slice);
    if (side_.before_slice) side_.before_slice(slice);
    const std::size_t bytes = slice.count * static_cast<std::size_t>(work_.element_bytes);
    record(turn, slice, bytes);
    combine(turn, slice, bytes);
    if (turn.finishes) side_.kernel.finish(value_.data(), slice.count, work_.ranks);
    if (turn.keeps && bytes > 0) std::memcpy(side_.output + output_offset(slice), value_.data(), bytes);
    for (int i = 0; i < turn.to.count; ++i) pass_on(turn.to.at(i), bytes);
    for (const int position : takes_from_) finish_receive(source(position));
  }

  std::uint64_t next_loop(std::uint64_t loop, std::uint64_t) const { return loop; }
  std::uint64_t next_step(std::uint64_t, std::uint64_t step, std::uint64_t) const { return step; }

  /// What this strand has put on the wire so far: payload and the lines' flags, without head and tail
  /// counters.
  Bytes wire_bytes() const { return wire_bytes_; }

 private:
  /// One side of a connection. The strands of a rank never share one (connections.hpp).
  struct End {
    F* fifo = nullptr;
    std::uint64_t step = 0;  // of the next slice
  };

  End& source(int position) { return sources_[static_cast<std::size_t>(position)]; }
  End& target(int position) { return targets_[static_cast<std::size_t>(position)]; }

  void record(const Turn& turn, const Slice& slice, std::size_t bytes) {
    if (side_.recording == nullptr) return;
    side_.recording->push_back({work_.channel, work_.strand, slice.loop, slice.step, slice.chunk, slice.slice,
                                action_of(turn), std::uint64_t{bytes}});
  }

  /// value_ = what came from each source and the own, in the order of positions.
  void combine(const Turn& turn, const Slice& slice, std::size_t bytes) {
    takes_from_.clear();
    for (int i = 0; i < turn.from.count; ++i) takes_from_.push_back(turn.from.at(i));
    std::sort(takes_from_.begin(), takes_from_.end());
    bool first = true;
    bool own_due = turn.own != Own::nothing;
    for (const int position : takes_from_) {
      if (own_due && work_.position < position) {
        add(own(turn, slice), slice.count, bytes, std::exchange(first, false));
        own_due = false;
      }
      receive(position, bytes);
      add(came_.data(), slice.count, bytes, std::exchange(first, false));
    }
    if (own_due) add(own(turn, slice), slice.count, bytes, first);
  }

  void add(const std::byte* part, std::uint64_t count, std::size_t bytes, bool first) {
    if (bytes == 0) return;
    if (first) {
      std::memcpy(value_.data(), part, bytes);
    } else {
      side_.kernel.combine(value_.data(), part, count);
    }
  }

  const std::byte* own(const Turn& turn, const Slice& slice) const {
    if (slice.count == 0) return nullptr;
    return turn.own == Own::input ? side_.input + input_offset(slice) : side_.output + output_offset(slice);
  }

  void receive(int position, std::size_t bytes) {
    const End& from = source(position);
    wait_.face(position);
    from.fifo->read(from.step, came_.data(), bytes, wait_);
    if (side_.credit_return == CreditReturn::after_read) from.fifo->credit().give_back(from.step);
  }

  void finish_receive(End& from) {
    if (side_.credit_return == CreditReturn::after_turn) from.fifo->credit().give_back(from.step);
    ++from.step;
  }

  void pass_on(int position, std::size_t bytes) {
    End& to = target(position);
    wait_.face(position);
    wait_.until("credit", [&] { return to.fifo->credit().available(to.step); });
    wire_bytes_ += Bytes(to.fifo->write(to.step, value_.data(), bytes));
    ++to.step;
  }

  /// All-gather's input and reduce-scatter's output are one rank's block.
  std::size_t input_offset(const Slice& slice) const {
    const bool one_block = work_.collective == Collective::all_gather;
    return (one_block ? slice.block_offset : slice.offset) * static_cast<std::size_t>(work_.element_bytes);
  }
  std::size_t output_offset(const Slice& slice) const {
    const bool one_block = work_.collective == Collective::reduce_scatter;
    return (one_block ? slice.block_offset : slice.offset) * static_cast<std::size_t>(work_.element_bytes);
  }

  const ChannelWork& work_;
  BoundedWait wait_;
  ThreadSide side_;
  std::vector<End> sources_;      // by the sender's position
  std::vector<End> targets_;      // by the receiver's position
  std::vector<int> takes_from_;   // sources of the turn in hand, in order
  std::vector<std::byte> value_;  // the slice in hand
  std::vector<std::byte> came_;   // what one source sent
  Bytes wire_bytes_;
};

using SimplePrimitives = FifoPrimitives<SimpleFifo>;
using LlPrimitives = FifoPrimitives<LlFifo>;
using Ll128Primitives = FifoPrimitives<Ll128Fifo>;

static_assert(SchedulePrimitives<SimplePrimitives>);
static_assert(SchedulePrimitives<LlPrimitives>);
static_assert(SchedulePrimitives<Ll128Primitives>);

}  // namespace lanecast::support
