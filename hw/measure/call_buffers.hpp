#pragma once
#include <cstddef>
#include <cstdint>

#include "hw/measure/check.hpp"
#include "hw/measure/working_set.hpp"
#include "model/predict/call.hpp"
#include "model/units.hpp"

namespace lanecast {

/// Where one call's data lie. In place: within the same bytes, as NCCL has it (all-gather's input is the
/// rank's block of the output, reduce-scatter's output the rank's block of the input).
struct CallPlace {
  std::byte* input = nullptr;
  std::byte* output = nullptr;
};

/// A rank's two buffers on the current GPU, in which the calls of a sweep rotate; with room to see what
/// writes beyond the bytes of a call.
class CallBuffers {
 public:
  /// @param span    bytes that each of the two has, for rotation
  /// @param offset  bytes between an aligned address and the first call
  CallBuffers(Bytes span, Bytes offset);
  ~CallBuffers();
  CallBuffers(const CallBuffers&) = delete;
  CallBuffers& operator=(const CallBuffers&) = delete;

  Bytes span() const { return span_; }

  /// Bytes of the first call's place in a buffer, whichever use is made of them.
  std::byte* first_input() const { return input_ + kGuardBytes + offset_.value(); }
  std::byte* first_output() const { return output_ + kGuardBytes + offset_.value(); }

  /// @param call  with size and place
  CallPlace place(const Call& call, int rank, int ranks, std::uint64_t rotated) const;

 private:
  Bytes span_;
  Bytes offset_;
  std::byte* input_ = nullptr;
  std::byte* output_ = nullptr;
};

/// Bytes of a rank's input and output of one call; in place they are counted once.
Bytes touched_bytes(const Call& call, int ranks);

/// Fills a rank's input of the first place, poisons its output and the bytes around it.
void prepare_first(const CallBuffers& buffers, const Call& call, const ReferenceCall& reference, int rank,
                   ValueCheck& check);

/// Compares what a call has made of it: the output, the bytes around it, and out of place the input, too.
WrongElements check_first(const CallBuffers& buffers, const Call& call, const ReferenceCall& reference,
                          int rank, ValueCheck& check);

}  // namespace lanecast
