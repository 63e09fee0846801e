#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <vector>

#include "model/schedule/ring.hpp"
#include "tests/support/element.hpp"
#include "tests/support/recorded_step.hpp"
#include "tests/support/ring_works.hpp"
#include "tests/support/thread_primitives.hpp"

namespace lanecast::support {

/// A collective over real data in host memory: one thread for each channel of each rank.
///
/// `count` is elements of one rank's part. Buffers, in elements (block r belongs to rank r, not ring position
/// r):
/// - all-reduce, broadcast: input count, output count
/// - reduce: the same; only the root's output is written
/// - all-gather: input count, output ranks x count
/// - reduce-scatter: input ranks x count, output count
struct ThreadRingCall {
  Protocol protocol = Protocol::simple;
  Datatype type = Datatype::float32;
  ReduceOp op = ReduceOp::sum;
  std::uint64_t count = 0;
  int root = 0;    // rank
  RingWorks plan;  // says collective, ranks, channels, ring orders, in place or not
  std::vector<std::vector<std::byte>> inputs;  // [rank]
  int fifo_depth = 8;            // slices in flight on a connection; NCCL: 8 for LL and LL128, 4 for Simple
  std::uint64_t first_step = 0;  // step number of the first slice of each connection
  CreditReturn credit_return = CreditReturn::after_turn;
  std::byte poison{0xa5};  // what outputs hold before the call
  bool record = false;
  std::chrono::milliseconds deadline{20000};  // of one wait
  bool raise_abort = true;                    // a rank that fails tells the others; false: it just vanishes
  /// Called on the rank's threads; may throw.
  std::function<void(int rank, int channel, const Slice& slice)> before_slice;
};

struct ThreadRingResult {
  std::vector<std::vector<std::byte>> outputs;  // [rank]; at a reduce only the root's was written
  std::vector<std::vector<std::vector<RecordedStep>>> steps;  // [rank][channel], in the order of issue
  std::vector<std::vector<Bytes>> wire_bytes;  // [rank][channel], sent; see FifoPrimitives::wire_bytes
  std::vector<std::vector<std::exception_ptr>> errors;  // [rank][channel], null where all went well
  std::exception_ptr first_error;                       // the one that came first in time
};

/// Runs the call and reports what each thread met. One rank alone copies its input and starts no thread: a
/// ring has at least two.
///
/// @throws Error  kind usage: sizes or the plan do not fit, or the FIFO is too shallow (min_fifo_depth).
/// @throws Error  kind check_failed: bytes around an output, or an input out of place, changed.
ThreadRingResult try_thread_ring(const ThreadRingCall& call);

/// The same, and throws `first_error` if there is one.
ThreadRingResult run_thread_ring(const ThreadRingCall& call);

/// The fewest slots with which the call cannot lock up. A ring in which everyone first sends a whole chunk
/// needs a slot for each of its slices, and one more when a turn holds the slot that it reads while it waits
/// for the next rank's credit. A chain (broadcast, reduce) needs one.
int min_fifo_depth(const RingWork& work, CreditReturn credit_return);

/// Elements of a rank's input and output.
std::uint64_t input_count(Collective collective, std::uint64_t count, int ranks);
std::uint64_t output_count(Collective collective, std::uint64_t count, int ranks);

}  // namespace lanecast::support
