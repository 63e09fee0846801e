#pragma once
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "tests/support/bounded_wait.hpp"
#include "tests/support/wire_lines.hpp"

namespace lanecast::support {

/// Size of a connection's FIFO, which the receiver owns: `depth` slots, each for one slice of at most
/// `slot_bytes`. `first_step` is the step number of the first slice, as if earlier calls had used the steps
/// before it.
struct FifoShape {
  std::uint64_t depth = 8;
  std::size_t slot_bytes = 0;
  std::uint64_t first_step = 0;
};

/// The credit half of every FIFO: `head` counts the steps that the receiver has given back.
/// Source: facts.md A4.
class Credit {
 public:
  explicit Credit(const FifoShape& shape) : depth_(shape.depth), head_(shape.first_step) {}

  /// Sender: may the slot of `step` be written?
  bool available(std::uint64_t step) const { return head_.load(std::memory_order_acquire) + depth_ > step; }
  /// Receiver: every step up to and with `step` has been read.
  void give_back(std::uint64_t step) { head_.store(step + 1, std::memory_order_release); }

 private:
  std::uint64_t depth_;
  alignas(128) std::atomic<std::uint64_t> head_;
};

/// What the primitives need from a FIFO. `write` must only be called with credit; it returns the bytes that
/// it put on the wire, flags within lines included, counters not. `read` waits for the data.
template <class F>
concept Fifo = std::constructible_from<F, const FifoShape&> &&
    requires(F f, std::uint64_t step, const std::byte* from, std::byte* to, std::size_t bytes,
             const BoundedWait& wait) {
  { f.credit() } -> std::same_as<Credit&>;
  { f.write(step, from, bytes) } -> std::same_as<std::size_t>;
  f.read(step, to, bytes, wait);
};

/// Simple: plain data in the slots, one `tail` counter as the flag of a whole slice. The tail is released and
/// acquired where the GPU has a fence and a relaxed store: the form that TSan understands.
class SimpleFifo {
 public:
  explicit SimpleFifo(const FifoShape& shape)
      : shape_(shape), credit_(shape), slots_(shape.depth * shape.slot_bytes), tail_(shape.first_step) {}

  Credit& credit() { return credit_; }

  std::size_t write(std::uint64_t step, const std::byte* data, std::size_t bytes) {
    if (bytes > 0) std::memcpy(slot(step), data, bytes);
    tail_.store(step + 1, std::memory_order_release);
    return bytes;
  }

  void read(std::uint64_t step, std::byte* data, std::size_t bytes, const BoundedWait& wait) {
    wait.until("data", [&] { return tail_.load(std::memory_order_acquire) >= step + 1; });
    if (bytes > 0) std::memcpy(data, slot(step), bytes);
  }

 private:
  std::byte* slot(std::uint64_t step) { return slots_.data() + (step % shape_.depth) * shape_.slot_bytes; }

  FifoShape shape_;
  Credit credit_;
  std::vector<std::byte> slots_;
  alignas(128) std::atomic<std::uint64_t> tail_;
};

/// LL and LL128: the flag travels in each line, the receiver polls the lines. An empty slice has no line and
/// so no flag: the receiver does not wait for it, as in NCCL.
template <class Line>
class LineFifo {
 public:
  explicit LineFifo(const FifoShape& shape)
      : shape_(shape),
        lines_per_slot_((shape.slot_bytes + Line::payload_bytes - 1) / Line::payload_bytes),
        credit_(shape),
        lines_(shape.depth * lines_per_slot_) {
    for (Line& line : lines_)
      line.store(nullptr, 0, Line::flag_of(shape.first_step - 1));  // no later step's flag
  }

  Credit& credit() { return credit_; }

  std::size_t write(std::uint64_t step, const std::byte* data, std::size_t bytes) {
    std::size_t line = 0;
    for (std::size_t begin = 0; begin < bytes; begin += Line::payload_bytes) {
      slot(step)[line++].store(data + begin, part(bytes - begin), Line::flag_of(step));
    }
    if (scrubs(step)) {
      for (; line < lines_per_slot_; ++line) slot(step)[line].store(nullptr, 0, Line::flag_of(step));
    }
    return line * Line::wire_bytes;
  }

  void read(std::uint64_t step, std::byte* data, std::size_t bytes, const BoundedWait& wait) {
    const Line* line = slot(step);
    for (std::size_t begin = 0; begin < bytes; begin += Line::payload_bytes, ++line) {
      wait.until("a line",
                 [&] { return line->try_load(data + begin, part(bytes - begin), Line::flag_of(step)); });
    }
  }

  const std::vector<Line>& lines() const { return lines_; }

 private:
  /// A line that short slices leave alone would show its old flag again when flags wrap. Twice a round every
  /// slot is therefore written to its end. NCCL does the same for its depth of 8: NCCL_LL_CLEAN_MASK,
  /// 0x7ffffff8.
  bool scrubs(std::uint64_t step) const {
    if constexpr (sizeof(typename Line::Flag) == 4) {
      constexpr std::uint64_t half_round = std::uint64_t{1} << 31;
      return step % half_round >= half_round - shape_.depth;
    } else {
      return false;
    }
  }

  static std::size_t part(std::size_t rest) {
    return rest < Line::payload_bytes ? rest : Line::payload_bytes;
  }
  Line* slot(std::uint64_t step) { return lines_.data() + (step % shape_.depth) * lines_per_slot_; }

  FifoShape shape_;
  std::size_t lines_per_slot_;
  Credit credit_;
  std::vector<Line> lines_;
};

using LlFifo = LineFifo<LlLine>;
using Ll128Fifo = LineFifo<Ll128Line>;

static_assert(Fifo<SimpleFifo> && Fifo<LlFifo> && Fifo<Ll128Fifo>);

}  // namespace lanecast::support
