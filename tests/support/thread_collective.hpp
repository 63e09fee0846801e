#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <vector>

#include "model/schedule/schedule.hpp"
#include "tests/support/channel_works.hpp"
#include "tests/support/element.hpp"
#include "tests/support/fifo_depth.hpp"
#include "tests/support/recorded_step.hpp"

namespace lanecast::support {

/// A collective over real data in host memory: one thread for each strand of each channel of each rank, one
/// FIFO for each connection that the schedule uses.
///
/// `count` is elements of one rank's part. Buffers, in elements (block r belongs to rank r, not position r):
/// - all-reduce, broadcast: input count, output count
/// - reduce: the same; only the root's output is written
/// - all-gather: input count, output ranks x count
/// - reduce-scatter: input ranks x count, output count
struct ThreadCall {
  Protocol protocol = Protocol::simple;
  Datatype type = Datatype::float32;
  ReduceOp op = ReduceOp::sum;
  std::uint64_t count = 0;
  int root = 0;       // rank
  ChannelWorks plan;  // says schedule, collective, ranks, channels, orders, in place or not
  std::vector<std::vector<std::byte>> inputs;  // [rank]
  int fifo_depth = 8;            // slices in flight on a connection; NCCL: 8 for LL and LL128, 4 for Simple
  std::uint64_t first_step = 0;  // step number of the first slice of each connection
  CreditReturn credit_return = CreditReturn::after_turn;
  std::byte poison{0xa5};  // what outputs hold before the call
  bool record = false;
  bool refuse_shallow = true;                 // false: a FIFO that is too shallow runs into its lock-up
  std::chrono::milliseconds deadline{20000};  // of one wait
  bool raise_abort = true;                    // a rank that fails tells the others; false: it just vanishes
  /// Called on the rank's threads; may throw. `work` says channel and strand.
  std::function<void(int rank, const ChannelWork& work, const Slice& slice)> before_slice;
};

struct ThreadResult {
  std::vector<std::vector<std::byte>> outputs;  // [rank]; at a reduce only the root's was written
  /// [rank][channel], strand after strand, each in the order of issue.
  std::vector<std::vector<std::vector<RecordedStep>>> steps;
  std::vector<std::vector<Bytes>> wire_bytes;  // [rank][channel], sent; see FifoPrimitives::wire_bytes
  /// [rank][channel], null where all went well; of two strands that failed the one with the lower number.
  std::vector<std::vector<std::exception_ptr>> errors;
  std::exception_ptr first_error;  // the one that came first in time
};

/// Runs the call and reports what each thread met. One rank alone copies its input and starts no thread: a
/// schedule has at least two.
///
/// @throws Error  kind usage: sizes or the plan do not fit, or the FIFO is too shallow (min_fifo_depth).
/// @throws Error  kind check_failed: bytes around an output, or an input out of place, changed.
ThreadResult try_threads(const ThreadCall& call);

/// The same, and throws `first_error` if there is one.
ThreadResult run_on_threads(const ThreadCall& call);

/// Elements of a rank's input and output.
std::uint64_t input_count(Collective collective, std::uint64_t count, int ranks);
std::uint64_t output_count(Collective collective, std::uint64_t count, int ranks);

}  // namespace lanecast::support
