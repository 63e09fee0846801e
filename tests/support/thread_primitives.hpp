#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "model/schedule/ring.hpp"
#include "tests/support/bounded_wait.hpp"
#include "tests/support/element.hpp"
#include "tests/support/recorded_step.hpp"
#include "tests/support/thread_fifo.hpp"

namespace lanecast::support {

/// When a turn that receives gives the slot back. The GPU reduces from FIFO to FIFO and gives the slot back
/// when the whole turn is done, so a ring needs more slots than a chunk has slices (min_fifo_depth).
/// `after_read` copies the slot first and gets along with one slot less.
enum class CreditReturn : std::uint8_t { after_turn, after_read };

/// Everything that the primitives of one channel of one rank work on. Pointers and references outlive them.
struct ThreadSide {
  std::byte* input = nullptr;  // in place: within the same buffer as `output`
  std::byte* output = nullptr;
  ElementKernel kernel{};
  std::uint64_t first_step = 0;
  CreditReturn credit_return = CreditReturn::after_turn;
  std::vector<RecordedStep>* recording = nullptr;  // null: do not record
  std::function<void(const Slice&)> before_slice;  // may throw; empty: not called
};

/// Runs the ring on one thread over real data. What differs between protocols is the FIFO.
template <Fifo F>
class FifoPrimitives {
 public:
  FifoPrimitives(const RingWork& work, F& from_previous, F& to_next, std::size_t slot_bytes,
                 const BoundedWait& wait, ThreadSide side)
      : work_(work),
        from_previous_(from_previous),
        to_next_(to_next),
        wait_(wait),
        side_(std::move(side)),
        value_(slot_bytes),
        receive_step_(side_.first_step),
        send_step_(side_.first_step) {}

  void send(const Slice& slice) { run(RingAction::send, slice); }
  void keep_send(const Slice& slice) { run(RingAction::keep_send, slice); }
  void reduce_send(const Slice& slice) { run(RingAction::reduce_send, slice); }
  void reduce_keep_send(const Slice& slice) { run(RingAction::reduce_keep_send, slice); }
  void reduce_keep(const Slice& slice) { run(RingAction::reduce_keep, slice); }
  void copy_send(const Slice& slice) { run(RingAction::copy_send, slice); }
  void copy(const Slice& slice) { run(RingAction::copy, slice); }

  std::uint64_t next_loop(std::uint64_t loop, std::uint64_t) const { return loop; }
  std::uint64_t next_step(std::uint64_t, std::uint64_t step, std::uint64_t) const { return step; }

  /// What this side has put on the wire so far: payload and the lines' flags, without head and tail counters.
  Bytes wire_bytes() const { return wire_bytes_; }

 private:
  static constexpr bool reads_input(RingAction a) {
    return a != RingAction::copy_send && a != RingAction::copy;
  }
  static constexpr bool keeps(RingAction a) { return a != RingAction::send && a != RingAction::reduce_send; }
  static constexpr bool finishes(RingAction a) {
    return a == RingAction::reduce_keep_send || a == RingAction::reduce_keep;
  }

  void run(RingAction action, const Slice& slice) {
    wait_.enter(slice);
    if (side_.before_slice) side_.before_slice(slice);
    const std::size_t bytes = slice.count * static_cast<std::size_t>(work_.element_bytes);
    record(action, slice, bytes);
    if (receives(action)) receive(bytes);
    if (reads_input(action)) take_input(receives(action), slice);
    if (finishes(action)) side_.kernel.finish(value_.data(), slice.count, work_.ranks);
    if (keeps(action) && bytes > 0) std::memcpy(side_.output + output_offset(slice), value_.data(), bytes);
    if (sends(action)) pass_on(bytes);
    if (receives(action)) finish_receive();
  }

  void record(RingAction action, const Slice& slice, std::size_t bytes) {
    if (side_.recording == nullptr) return;
    side_.recording->push_back(
        {work_.channel, slice.loop, slice.step, slice.chunk, slice.slice, action, std::uint64_t{bytes}});
  }

  void receive(std::size_t bytes) {
    from_previous_.read(receive_step_, value_.data(), bytes, wait_);
    if (side_.credit_return == CreditReturn::after_read) from_previous_.credit().give_back(receive_step_);
  }

  void finish_receive() {
    if (side_.credit_return == CreditReturn::after_turn) from_previous_.credit().give_back(receive_step_);
    ++receive_step_;
  }

  void take_input(bool reduce, const Slice& slice) {
    const std::size_t bytes = slice.count * static_cast<std::size_t>(work_.element_bytes);
    if (bytes == 0) return;
    const std::byte* own = side_.input + input_offset(slice);
    if (reduce) {
      side_.kernel.combine(value_.data(), own, slice.count);
    } else {
      std::memcpy(value_.data(), own, bytes);
    }
  }

  void pass_on(std::size_t bytes) {
    wait_.until("credit from the next rank", [&] { return to_next_.credit().available(send_step_); });
    wire_bytes_ += Bytes(to_next_.write(send_step_, value_.data(), bytes));
    ++send_step_;
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

  const RingWork& work_;
  F& from_previous_;
  F& to_next_;
  BoundedWait wait_;
  ThreadSide side_;
  std::vector<std::byte> value_;  // the slice in hand
  std::uint64_t receive_step_;
  std::uint64_t send_step_;
  Bytes wire_bytes_;
};

using SimplePrimitives = FifoPrimitives<SimpleFifo>;
using LlPrimitives = FifoPrimitives<LlFifo>;
using Ll128Primitives = FifoPrimitives<Ll128Fifo>;

static_assert(RingPrimitives<SimplePrimitives>);
static_assert(RingPrimitives<LlPrimitives>);
static_assert(RingPrimitives<Ll128Primitives>);

}  // namespace lanecast::support
