#include "hw/measure/working_set.hpp"

#include <gtest/gtest.h>

namespace lanecast {
namespace {

TEST(Rotation, StaysAtOnePlaceWhereTheBufferIsFull) {
  const Rotation rotation = rotation_of(Bytes(4096), Bytes(4096), 20);
  EXPECT_EQ(rotation.places, 1);
  EXPECT_EQ(rotation.offset(7), 0U);
}

TEST(Rotation, HasOnePlaceWhereTheBufferIsTooSmallOrTheSizeIsZero) {
  EXPECT_EQ(rotation_of(Bytes(4096), Bytes(100), 20).places, 1);
  EXPECT_EQ(rotation_of(Bytes(0), Bytes(100), 20).places, 1);
}

TEST(Rotation, HasNoMorePlacesThanCallsAndComesRoundAgain) {
  const Rotation rotation = rotation_of(Bytes(512), Bytes(1 << 20), 20);
  EXPECT_EQ(rotation.places, 20);
  EXPECT_EQ(rotation.offset(3), 3U * 512);
  EXPECT_EQ(rotation.offset(23), 3U * 512);
}

TEST(Rotation, NeverLeavesTheBufferAndNeverOverlaps) {
  for (const std::uint64_t size : {1U, 8U, 511U, 512U, 513U, 4099U, 65536U}) {
    for (const std::uint64_t span : {65536U, 65537U, 100'000U, 1'000'000U}) {
      const Rotation rotation = rotation_of(Bytes(size), Bytes(span), 50);
      EXPECT_GE(rotation.stride, size);
      EXPECT_LE(rotation.offset(rotation.places - 1) + size, span) << size << " in " << span;
    }
  }
}

}  // namespace
}  // namespace lanecast
