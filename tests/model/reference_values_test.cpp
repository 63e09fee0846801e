#include "model/measured/reference_values.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace lanecast {
namespace {

constexpr Datatype kFloats[] = {Datatype::float32, Datatype::float16, Datatype::bfloat16, Datatype::float64};
constexpr Datatype kIntegers[] = {Datatype::int32, Datatype::int64, Datatype::uint8};
constexpr ReduceOp kOps[] = {ReduceOp::sum, ReduceOp::prod, ReduceOp::max, ReduceOp::min, ReduceOp::avg};

ReferenceCall all_reduce(Datatype type, ReduceOp op, int ranks) {
  ReferenceCall call;
  call.type = type;
  call.op = op;
  call.ranks = ranks;
  call.count = 1000;
  return call;
}

/// Rounded to as many bits behind the leading one, ties to even: what a type's arithmetic does.
double rounded(double value, int bits) {
  if (value == 0) return 0;
  int exponent = 0;
  std::frexp(value, &exponent);
  const double unit = std::ldexp(1.0, exponent - 1 - bits);
  return std::nearbyint(value / unit) * unit;
}

TEST(ReferenceValues, AreHeldExactlyByTheirTypeAndStayInRangeForSixteenRanks) {
  for (const Datatype type : kFloats) {
    for (std::uint64_t i = 0; i < 4000; ++i) {
      const double term = input_value(all_reduce(type, ReduceOp::sum, 16), 3, i).value;
      const double factor = input_value(all_reduce(type, ReduceOp::prod, 16), 3, i).value;
      EXPECT_EQ(term, rounded(term, fraction_bits(type)));
      EXPECT_EQ(factor, rounded(factor, fraction_bits(type)));
      EXPECT_GE(std::abs(term), 0.125);
      EXPECT_LT(std::abs(term), 1.0);
      EXPECT_GE(std::abs(factor), 0.75);
      EXPECT_LT(std::abs(factor), 1.25);
    }
  }
}

TEST(ReferenceValues, DifferFromRankToRankElementToElementAndSeedToSeed) {
  ReferenceCall call = all_reduce(Datatype::int64, ReduceOp::sum, 2);
  const std::uint64_t one = input_value(call, 0, 0).integer;
  EXPECT_NE(one, input_value(call, 1, 0).integer);
  EXPECT_NE(one, input_value(call, 0, 1).integer);
  call.seed = 2;
  EXPECT_NE(one, input_value(call, 0, 0).integer);
}

TEST(ReferenceValues, OfIntegersAreWhatTheirTypeCanHold) {
  for (const ReduceOp op : kOps) {
    for (std::uint64_t i = 0; i < 2000; ++i) {
      for (const Datatype type : kIntegers) {
        const std::uint64_t value = input_value(all_reduce(type, op, 16), 5, i).integer;
        EXPECT_EQ(value, wrapped(type, value));
      }
    }
  }
}

/// What an engine may do: any order of ranks, each partial result rounded to the type; an average divides
/// the sum, or scales each value before.
double reduced_as_type(const ReferenceCall& call, std::uint64_t element, int first, bool scale_before) {
  const int bits = fraction_bits(call.type);
  const bool average = call.op == ReduceOp::avg;
  const double share = rounded(1.0 / call.ranks, bits);
  double result = 0;
  for (int k = 0; k < call.ranks; ++k) {
    double value = input_value(call, (first + k) % call.ranks, element).value;
    if (average && scale_before) value = rounded(value * share, bits);
    if (k == 0) {
      result = value;
    } else if (call.op == ReduceOp::prod) {
      result = rounded(result * value, bits);
    } else if (call.op == ReduceOp::max || call.op == ReduceOp::min) {
      result = call.op == ReduceOp::max ? std::max(result, value) : std::min(result, value);
    } else {
      result = rounded(result + value, bits);
    }
  }
  return average && !scale_before ? rounded(result / call.ranks, bits) : result;
}

TEST(OutputValue, AcceptsEveryOrderOfSumsThatAreRoundedToTheType) {
  for (const Datatype type : kFloats) {
    if (type == Datatype::float64) continue;  // `rounded` itself would have to be wider
    for (const ReduceOp op : kOps) {
      for (const int ranks : {1, 2, 3, 8, 16}) {
        const ReferenceCall call = all_reduce(type, op, ranks);
        for (std::uint64_t i = 0; i < 300; ++i) {
          for (const bool scale_before : {false, true}) {
            const double got = reduced_as_type(call, i, static_cast<int>(i) % ranks, scale_before);
            EXPECT_TRUE(is_right(call, output_value(call, 0, i), got, 0))
                << to_string(type) << " " << to_string(op) << " of " << ranks << " ranks, element " << i;
          }
        }
      }
    }
  }
}

TEST(OutputValue, RefusesTheSumThatLacksARankOrHasOneTwice) {
  for (const Datatype type : kFloats) {
    const ReferenceCall call = all_reduce(type, ReduceOp::sum, 16);
    const double tolerance = output_value(call, 0, 0).tolerance;
    EXPECT_LT(tolerance, type == Datatype::bfloat16 ? 1.0 : 0.125)
        << "one rank's value is at least 1/8; bfloat16 loses that among 16 ranks";
    const double missing = output_value(call, 0, 0).value - 1.0001 * std::max(tolerance, 0.125);
    EXPECT_FALSE(is_right(call, output_value(call, 0, 0), missing, 0));
  }
}

TEST(OutputValue, IsExactWhereNothingIsRounded) {
  for (const ReduceOp op : {ReduceOp::max, ReduceOp::min})
    EXPECT_EQ(output_value(all_reduce(Datatype::float16, op, 8), 0, 7).tolerance, 0);
  ReferenceCall gather = all_reduce(Datatype::float32, ReduceOp::sum, 4);
  gather.collective = Collective::all_gather;
  EXPECT_EQ(output_value(gather, 0, 2500).tolerance, 0);
  EXPECT_EQ(output_value(gather, 0, 2500).value, input_value(gather, 2, 500).value);
}

TEST(OutputValue, NeverTakesANaNForRight) {
  const ReferenceCall call = all_reduce(Datatype::float32, ReduceOp::sum, 2);
  EXPECT_FALSE(is_right(call, output_value(call, 0, 0), std::numeric_limits<double>::quiet_NaN(), 0));
}

TEST(OutputValue, OfIntegersWrapsAsTheirTypeDoes) {
  for (std::uint64_t i = 0; i < 500; ++i) {
    const ReferenceCall bytes = all_reduce(Datatype::uint8, ReduceOp::prod, 3);
    std::uint8_t product = 1;
    for (int rank = 0; rank < 3; ++rank)
      product =
          static_cast<std::uint8_t>(product * static_cast<std::uint8_t>(input_value(bytes, rank, i).integer));
    EXPECT_EQ(output_value(bytes, 0, i).integer, product);
    const ReferenceCall words = all_reduce(Datatype::int32, ReduceOp::sum, 5);
    std::uint32_t sum = 0;
    for (int rank = 0; rank < 5; ++rank)
      sum += static_cast<std::uint32_t>(input_value(words, rank, i).integer);
    EXPECT_EQ(static_cast<std::int64_t>(output_value(words, 0, i).integer), static_cast<std::int32_t>(sum));
  }
}

TEST(OutputValue, OfIntegerAveragesIsTheSumDividedTowardZero) {
  for (std::uint64_t i = 0; i < 500; ++i) {
    const ReferenceCall call = all_reduce(Datatype::int32, ReduceOp::avg, 16);
    std::int64_t sum = 0;
    for (int rank = 0; rank < 16; ++rank)
      sum += static_cast<std::int64_t>(input_value(call, rank, i).integer);
    EXPECT_LT(std::abs(sum), std::int64_t{1} << 31) << "no sum wraps";
    EXPECT_EQ(static_cast<std::int64_t>(output_value(call, 0, i).integer), sum / 16);
  }
}

TEST(OutputValue, FollowsTheBlocksAndTheRootOfEachCollective) {
  ReferenceCall call = all_reduce(Datatype::int64, ReduceOp::max, 3);
  const std::uint64_t third_block = reduced_integer(call, 2 * call.count + 9);
  call.collective = Collective::reduce_scatter;
  EXPECT_EQ(output_value(call, 2, 9).integer, third_block);
  EXPECT_EQ(input_elements(call, 0), 3000U);
  EXPECT_EQ(output_elements(call, 0), 1000U);
  call.collective = Collective::broadcast;
  call.root = 1;
  EXPECT_EQ(output_value(call, 2, 9).integer, input_value(call, 1, 9).integer);
  EXPECT_EQ(input_elements(call, 2), 0U);
  call.collective = Collective::reduce;
  EXPECT_EQ(output_elements(call, 1), 1000U);
  EXPECT_EQ(output_elements(call, 0), 0U);
}

}  // namespace
}  // namespace lanecast
