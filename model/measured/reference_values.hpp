#pragma once
#include <cstdint>

#include "model/predict/call.hpp"
#include "model/schedule/geometry.hpp"
#include "model/units.hpp"

namespace lanecast {

/// A collective call on data that everyone can compute: each element of each rank's input follows from the
/// seed, the rank and its index, and so does what each element of each output must be. Used by the device for
/// all elements, and by tests on the host.
struct ReferenceCall {
  Collective collective = Collective::all_reduce;
  Datatype type = Datatype::float32;
  ReduceOp op = ReduceOp::sum;
  int ranks = 1;
  int root = 0;
  std::uint64_t count = 0;  // elements as nccl-tests counts them: of one block where each rank has a block
  std::uint64_t seed = 1;
};

/// What an element must be. Integers are exact, by their low bits; others may be off by the tolerance.
struct Expectation {
  double value = 0;
  double tolerance = 0;
  std::uint64_t integer = 0;  // two's complement, 64 bits
};

LANECAST_HD constexpr bool is_integer(Datatype type) {
  return type == Datatype::int32 || type == Datatype::int64 || type == Datatype::uint8;
}

/// Bits behind the leading one of a float type.
LANECAST_HD constexpr int fraction_bits(Datatype type) {
  switch (type) {
    case Datatype::float16:
      return 10;
    case Datatype::bfloat16:
      return 7;
    case Datatype::float64:
      return 52;
    default:
      return 23;
  }
}

LANECAST_HD constexpr bool is_reduction(Collective collective) {
  return collective == Collective::all_reduce || collective == Collective::reduce_scatter ||
         collective == Collective::reduce;
}

/// Elements of a rank's input, and of its output; 0 where it has none.
LANECAST_HD constexpr std::uint64_t input_elements(const ReferenceCall& call, int rank) {
  if (call.collective == Collective::broadcast && rank != call.root) return 0;
  const bool blocks = call.collective == Collective::reduce_scatter;
  return call.count * static_cast<std::uint64_t>(blocks ? call.ranks : 1);
}
LANECAST_HD constexpr std::uint64_t output_elements(const ReferenceCall& call, int rank) {
  if (call.collective == Collective::reduce && rank != call.root) return 0;
  const bool blocks = call.collective == Collective::all_gather;
  return call.count * static_cast<std::uint64_t>(blocks ? call.ranks : 1);
}

/// 64 bits that look random. Source: the output function of splitmix64 (Steele, Lea, Flood: Fast splittable
/// pseudorandom number generators, OOPSLA 2014).
LANECAST_HD constexpr std::uint64_t mixed_bits(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}
LANECAST_HD constexpr std::uint64_t element_bits(std::uint64_t seed, int rank, std::uint64_t element) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15ULL;
  return mixed_bits(mixed_bits(seed + kOdd * static_cast<std::uint64_t>(rank + 1)) + kOdd * (element + 1));
}

/// A value that the type holds exactly. Its magnitude is within [1/8, 1): no sum of 16 overflows, and none of
/// its parts is subnormal. For products it is within [3/4, 5/4): 16 of them stay within [0.01, 36].
LANECAST_HD constexpr double float_value(Datatype type, ReduceOp op, std::uint64_t bits) {
  const int width = fraction_bits(type);
  const double unit = 1.0 / static_cast<double>(std::uint64_t{1} << width);
  const std::uint64_t fraction = bits >> (64 - width);
  const bool low = (bits >> 1 & 1) != 0;
  double magnitude = 0;
  if (op == ReduceOp::prod) {
    magnitude = low ? (1.5 + static_cast<double>(fraction >> 1) * unit) / 2
                    : 1 + static_cast<double>(fraction >> 2) * unit;
  } else {
    magnitude = (1 + static_cast<double>(fraction) * unit) / (low ? 2 : (bits >> 2 & 1) != 0 ? 4 : 8);
  }
  return (bits & 1) != 0 ? -magnitude : magnitude;
}

/// Any value of the type; sums and products wrap around. Products take odd ones (even ones would soon make
/// them 0), averages small ones, since what an average of a sum that wraps should be is nobody's rule.
LANECAST_HD constexpr std::uint64_t integer_value(Datatype type, ReduceOp op, std::uint64_t bits) {
  const std::uint64_t odd = op == ReduceOp::prod ? 1 : 0;
  if (type == Datatype::uint8) return op == ReduceOp::avg ? bits & 15 : (bits & 255) | odd;
  const int width = type == Datatype::int32 ? 32 : 64;
  const int used = op == ReduceOp::avg ? width - 5 : width;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(bits) >> (64 - used)) | odd;
}

/// The value as the type keeps it: what a reduction in 64 bits is cut to.
LANECAST_HD constexpr std::uint64_t wrapped(Datatype type, std::uint64_t value) {
  if (type == Datatype::uint8) return value & 255;
  if (type != Datatype::int32) return value;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value << 32) >> 32);
}

/// `input` of a rank at an index.
LANECAST_HD constexpr Expectation input_value(const ReferenceCall& call, int rank, std::uint64_t element) {
  const std::uint64_t bits = element_bits(call.seed, rank, element);
  Expectation value;
  if (is_integer(call.type)) {
    value.integer = integer_value(call.type, call.op, bits);
  } else {
    value.value = float_value(call.type, call.op, bits);
  }
  return value;
}

/// Integers over all ranks: in 64 bits that wrap; an average is the sum divided by the ranks, toward zero.
LANECAST_HD constexpr std::uint64_t reduced_integer(const ReferenceCall& call, std::uint64_t element) {
  std::uint64_t result = input_value(call, 0, element).integer;
  for (int rank = 1; rank < call.ranks; ++rank) {
    const std::uint64_t other = input_value(call, rank, element).integer;
    const bool larger = static_cast<std::int64_t>(other) > static_cast<std::int64_t>(result);
    switch (call.op) {
      case ReduceOp::sum:
      case ReduceOp::avg:
        result += other;
        break;
      case ReduceOp::prod:
        result *= other;
        break;
      case ReduceOp::max:
        result = larger ? other : result;
        break;
      case ReduceOp::min:
        result = larger ? result : other;
        break;
    }
  }
  if (call.op == ReduceOp::avg) {
    result = static_cast<std::uint64_t>(static_cast<std::int64_t>(result) / call.ranks);
  }
  return wrapped(call.type, result);
}

/// Roundings that may lie between a float result of n ranks and the exact one, in units of u (the type's unit
/// roundoff, 2^-(fraction bits + 1)) times the sum of magnitudes (for a product: its magnitude): n - 1 for
/// adding or multiplying in any order, one for their higher orders, two more for an average (1/n is rounded,
/// and so is the product with it), and for float64 as many again for this reference itself.
LANECAST_HD constexpr double roundings(Datatype type, ReduceOp op, int ranks) {
  if (op == ReduceOp::max || op == ReduceOp::min || ranks == 1) return 0;
  const int own = ranks + (op == ReduceOp::avg ? 2 : 0);
  return type == Datatype::float64 ? 2.0 * own : own;
}

LANECAST_HD constexpr Expectation reduced_float(const ReferenceCall& call, std::uint64_t element) {
  double result = input_value(call, 0, element).value;
  double magnitudes = result < 0 ? -result : result;
  for (int rank = 1; rank < call.ranks; ++rank) {
    const double other = input_value(call, rank, element).value;
    const double magnitude = other < 0 ? -other : other;
    const bool product = call.op == ReduceOp::prod;
    magnitudes = product ? magnitudes * magnitude : magnitudes + magnitude;
    if (product) {
      result *= other;
    } else if (call.op == ReduceOp::max || call.op == ReduceOp::min) {
      result = (other > result) == (call.op == ReduceOp::max) ? other : result;
    } else {
      result += other;
    }
  }
  const double divisor = call.op == ReduceOp::avg ? call.ranks : 1;
  const double unit = 0.5 / static_cast<double>(std::uint64_t{1} << fraction_bits(call.type));
  return {result / divisor, roundings(call.type, call.op, call.ranks) * unit * magnitudes / divisor, 0};
}

/// `output` of a rank at an index below output_elements.
LANECAST_HD constexpr Expectation output_value(const ReferenceCall& call, int rank, std::uint64_t element) {
  if (call.collective == Collective::broadcast) return input_value(call, call.root, element);
  if (call.collective == Collective::all_gather) {
    return input_value(call, static_cast<int>(element / call.count), element % call.count);
  }
  const std::uint64_t first =
      call.collective == Collective::reduce_scatter ? call.count * static_cast<std::uint64_t>(rank) : 0;
  if (!is_integer(call.type)) return reduced_float(call, first + element);
  Expectation expected;
  expected.integer = reduced_integer(call, first + element);
  return expected;
}

/// Whether an element is as expected. NaN never is.
LANECAST_HD constexpr bool is_right(const ReferenceCall& call, const Expectation& expected, double got,
                                    std::uint64_t got_integer) {
  if (is_integer(call.type)) return got_integer == expected.integer;
  const double off = got < expected.value ? expected.value - got : got - expected.value;
  return off <= expected.tolerance;
}

}  // namespace lanecast
