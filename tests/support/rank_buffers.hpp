#pragma once
#include <cstddef>
#include <vector>

#include "model/schedule/geometry.hpp"

namespace lanecast::support {

/// Input and output of one rank, with guard bytes on both sides of what the call may write.
class RankBuffers {
 public:
  /// @param input         what the rank brings, bytes
  /// @param output_bytes  size of its output
  /// @param block         which block of the larger buffer is this rank's (all-gather, reduce-scatter)
  RankBuffers(Collective collective, bool in_place, const std::vector<std::byte>& input,
              std::size_t output_bytes, int block, std::byte poison);

  std::byte* input() { return in_place_ ? memory_.data() + input_begin_ : input_copy_.data(); }
  std::byte* output() { return memory_.data() + output_begin_; }
  std::vector<std::byte> take_output() const;

  /// Nothing but the output has changed since the constructor.
  bool only_output_changed() const;

 private:
  static constexpr std::size_t guard_bytes = 256;

  bool in_place_;
  std::vector<std::byte> input_copy_;  // out of place
  std::vector<std::byte> input_before_;
  std::vector<std::byte> memory_;  // guard, buffer, guard; in place the buffer holds input and output
  std::vector<std::byte> memory_before_;
  std::size_t input_begin_ = guard_bytes;
  std::size_t output_begin_ = guard_bytes;
  std::size_t output_bytes_;
};

}  // namespace lanecast::support
