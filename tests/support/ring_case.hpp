#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/thread_ring.hpp"

namespace lanecast::support {

/// A call in the words of a test; `make_call` turns it into works and data. Fixed seed, fixed data.
struct RingCase {
  Collective collective = Collective::all_reduce;
  int ranks = 4;
  Protocol protocol = Protocol::simple;
  Datatype type = Datatype::float32;
  ReduceOp op = ReduceOp::sum;
  std::uint64_t count = 1023;
  int root = 0;
  bool in_place = false;
  int channels = 1;
  bool shuffled = false;  // each channel has a ring order of its own
  RingGeometry geometry{};
  int fifo_depth = 4;
  std::uint64_t seed = 1;
};

/// What a failed test prints.
std::string describe(const RingCase& test_case);

/// Inputs: floats of [-1, 1), for products of 0.75 to 1.25 with either sign; integers of the whole range, for
/// averages so small that no sum overflows.
ThreadRingCall make_call(const RingCase& test_case);

/// What is wrong with the outputs, empty when nothing is.
///
/// The reference is computed from the inputs alone, in rank order: floats in long double, integers modulo
/// 2^64. Copies, max, min and integers must match bit for bit. Float sums and products of n ranks may differ
/// by gamma_n = n u / (1 - n u) times the sum of magnitudes, the standard bound for n roundings of unit
/// roundoff u in any order (Higham, Accuracy and Stability of Numerical Algorithms, section 4.2).
std::string mismatch(const ThreadRingCall& call, const ThreadRingResult& result);

}  // namespace lanecast::support
