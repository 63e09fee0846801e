// Arithmetic of the element types that the thread executor moves.
#include "tests/support/element.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace lanecast::support {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

TEST(Element, EveryTypeIsHeldByACppTypeOfItsSize) {
  for (const Datatype type : all_datatypes) {
    const std::size_t held_bytes = visit_datatype(type, [](auto zero) { return sizeof(zero); });
    EXPECT_EQ(held_bytes, static_cast<std::size_t>(element_bytes(type))) << to_string(type);
  }
}

TEST(Element, EveryHalfSurvivesTheWayThroughFloat) {
  for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const Half half{static_cast<std::uint16_t>(bits)};
    if (std::isnan(to_float(half))) {
      EXPECT_TRUE(std::isnan(to_float(half_from_float(to_float(half))))) << bits;
    } else {
      EXPECT_EQ(half_from_float(to_float(half)).bits, half.bits);
    }
  }
}

TEST(Element, EveryBfloat16SurvivesTheWayThroughFloat) {
  for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const Bfloat16 value{static_cast<std::uint16_t>(bits)};
    if (std::isnan(to_float(value))) {
      EXPECT_TRUE(std::isnan(to_float(bfloat16_from_float(to_float(value))))) << bits;
    } else {
      EXPECT_EQ(bfloat16_from_float(to_float(value)).bits, value.bits);
    }
  }
}

/// Between two neighbours of a 16-bit type, everything below the middle goes down, above it up, the middle to
/// even.
template <class T, class Convert>
void expect_nearest_even(std::uint16_t largest_finite, Convert convert) {
  for (std::uint32_t bits = 0; bits < largest_finite; ++bits) {
    const float low = to_float(T{static_cast<std::uint16_t>(bits)});
    const float high = to_float(T{static_cast<std::uint16_t>(bits + 1)});
    const float middle = low + (high - low) / 2;
    ASSERT_EQ(convert(std::nextafterf(middle, low)).bits, bits);
    ASSERT_EQ(convert(std::nextafterf(middle, high)).bits, bits + 1);
    ASSERT_EQ(convert(middle).bits, bits + (bits & 1U));
    ASSERT_EQ(convert(-middle).bits, 0x8000U | (bits + (bits & 1U)));
  }
}

TEST(Element, HalfRoundsToTheNearestTiesToEven) { expect_nearest_even<Half>(0x7bff, half_from_float); }
TEST(Element, Bfloat16RoundsToTheNearestTiesToEven) {
  expect_nearest_even<Bfloat16>(0x7f7f, bfloat16_from_float);
}

TEST(Element, HalfKnowsItsFamousValues) {
  EXPECT_EQ(to_float(Half{0x3c00}), 1.0F);
  EXPECT_EQ(to_float(Half{0xc000}), -2.0F);
  EXPECT_EQ(to_float(Half{0x7bff}), 65504.0F);
  EXPECT_EQ(to_float(Half{0x0001}), 0x1p-24F);
  EXPECT_EQ(half_from_float(65519.0F).bits, 0x7bff);
  EXPECT_EQ(half_from_float(65520.0F).bits, 0x7c00);
  EXPECT_EQ(half_from_float(-infinity).bits, 0xfc00);
  EXPECT_EQ(half_from_float(-0.0F).bits, 0x8000);
}

TEST(Element, Bfloat16KnowsItsFamousValues) {
  EXPECT_EQ(to_float(Bfloat16{0x3f80}), 1.0F);
  EXPECT_EQ(to_float(Bfloat16{0xc000}), -2.0F);
  EXPECT_EQ(bfloat16_from_float(std::numeric_limits<float>::max()).bits, 0x7f80);
  EXPECT_EQ(bfloat16_from_float(-infinity).bits, 0xff80);
}

template <class T>
T combined(Datatype type, ReduceOp op, T a, T b) {
  element_kernel(type, op).combine(reinterpret_cast<std::byte*>(&a), reinterpret_cast<const std::byte*>(&b),
                                   1);
  return a;
}

template <class T>
T finished(Datatype type, ReduceOp op, T value, int ranks) {
  element_kernel(type, op).finish(reinterpret_cast<std::byte*>(&value), 1, ranks);
  return value;
}

TEST(Element, OperationsDoWhatTheirNamesSay) {
  EXPECT_EQ(combined(Datatype::float32, ReduceOp::sum, 1.5F, 2.0F), 3.5F);
  EXPECT_EQ(combined(Datatype::float64, ReduceOp::prod, 1.5, -2.0), -3.0);
  EXPECT_EQ(combined<std::int64_t>(Datatype::int64, ReduceOp::max, -5, -7), -5);
  EXPECT_EQ(combined<std::int32_t>(Datatype::int32, ReduceOp::min, -5, -7), -7);
  EXPECT_EQ(combined(Datatype::float32, ReduceOp::avg, 1.0F, 2.0F), 3.0F);
}

TEST(Element, IntegersWrap) {
  EXPECT_EQ(combined<std::uint8_t>(Datatype::uint8, ReduceOp::sum, 200, 100), 44);
  EXPECT_EQ(
      combined<std::int32_t>(Datatype::int32, ReduceOp::sum, std::numeric_limits<std::int32_t>::max(), 1),
      std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(
      combined<std::int64_t>(Datatype::int64, ReduceOp::prod, std::numeric_limits<std::int64_t>::min(), 3),
      std::numeric_limits<std::int64_t>::min());
}

TEST(Element, OnlyAnAverageIsDividedAtTheEndIntegersTowardsZero) {
  EXPECT_EQ(finished(Datatype::float32, ReduceOp::avg, 10.0F, 4), 2.5F);
  EXPECT_EQ(finished<std::int32_t>(Datatype::int32, ReduceOp::avg, -7, 2), -3);
  EXPECT_EQ(finished<std::uint8_t>(Datatype::uint8, ReduceOp::avg, 255, 16), 15);
  EXPECT_EQ(finished(Datatype::float32, ReduceOp::sum, 10.0F, 4), 10.0F);
}

}  // namespace
}  // namespace lanecast::support
