#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/thread_collective.hpp"

namespace lanecast::support {

/// A call in the words of a test; `make_call` turns it into works and data. Fixed seed, fixed data.
struct CollectiveCase {
  Collective collective = Collective::all_reduce;
  ScheduleShape shape{};
  int ranks = 4;
  Protocol protocol = Protocol::simple;
  Datatype type = Datatype::float32;
  ReduceOp op = ReduceOp::sum;
  std::uint64_t count = 1023;
  int root = 0;
  bool in_place = false;
  int channels = 1;
  bool shuffled = false;  // each channel has an order of its own, within nodes where the shape has groups
  ShareGeometry geometry{};
  int fifo_depth = 4;
  std::uint64_t seed = 1;
};

/// The order of each channel. Binary trees (of ranks, of nodes, between groups) are double: every second
/// channel has the complement of the order of the one before it. Where a tree's root is position 0 and the
/// collective has a root, that rank has changed places with the one at position 0.
std::vector<RankOrder> orders_of(const CollectiveCase& test_case);

/// What a failed test prints.
std::string describe(const CollectiveCase& test_case);

/// Inputs: floats of [-1, 1), for products of 0.75 to 1.25 with either sign; integers of the whole range, for
/// averages so small that no sum overflows.
ThreadCall make_call(const CollectiveCase& test_case);

/// What is wrong with the outputs, empty when nothing is. All ranks must have the same bits after an
/// all-reduce.
///
/// The reference is computed from the inputs alone, in rank order: floats in long double, integers modulo
/// 2^64. Copies, max, min and integers must match bit for bit. Float sums and products of n ranks may differ
/// by gamma_n = n u / (1 - n u) times the sum of magnitudes, the standard bound for n roundings of unit
/// roundoff u in any order (Higham, Accuracy and Stability of Numerical Algorithms, section 4.2).
std::string mismatch(const ThreadCall& call, const ThreadResult& result);

}  // namespace lanecast::support
