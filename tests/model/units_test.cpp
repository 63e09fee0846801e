#include "model/units.hpp"

#include <gtest/gtest.h>

#include <type_traits>

#include "model/error.hpp"

namespace lanecast {
namespace {

using namespace literals;

template <class A, class B>
concept CanAdd = requires(A a, B b) {
  a + b;
};
template <class A, class B>
concept CanMultiply = requires(A a, B b) {
  a* b;
};
template <class A, class B>
concept CanDivide = requires(A a, B b) {
  a / b;
};
template <class A, class B>
concept CanCompare = requires(A a, B b) {
  a < b;
};

TEST(Units, LiteralsCountBytesInPowersOf1024AndRatesInPowersOfTen) {
  EXPECT_EQ(1_KiB, Bytes(1024));
  EXPECT_EQ(3_MiB, Bytes(3 * 1024 * 1024));
  EXPECT_EQ(1_GiB, Bytes(1024ull * 1024 * 1024));
  EXPECT_EQ(7_B, Bytes(7));
  EXPECT_DOUBLE_EQ((25.6_GBps).value(), 25.6e9);
  EXPECT_DOUBLE_EQ((1.2_us).value(), 1.2e-6);
  EXPECT_DOUBLE_EQ((115.0_ns).value(), 115e-9);
}

TEST(Units, SizeOverRateIsATimeAndSizeOverTimeIsARate) {
  EXPECT_DOUBLE_EQ((Bytes(64'000'000) / 32.0_GBps).value(), 0.002);
  EXPECT_DOUBLE_EQ((Bytes(64'000'000) / Seconds(0.002)).value(), 32e9);
  static_assert(std::is_same_v<decltype(Bytes(1) / BytesPerSecond(1)), Seconds>);
  static_assert(std::is_same_v<decltype(Bytes(1) / Seconds(1)), BytesPerSecond>);
}

TEST(Units, RatiosOfEqualUnitsAreNumbers) {
  EXPECT_DOUBLE_EQ(30.0_us / 10.0_us, 3.0);
  EXPECT_DOUBLE_EQ(16.0_GBps / 64.0_GBps, 0.25);
}

TEST(Units, SumsAndScalesKeepTheUnit) {
  Seconds time = 1.0_us + 2.0_us;
  time += 0.5_us;
  EXPECT_DOUBLE_EQ(time.value(), 3.5e-6);
  EXPECT_DOUBLE_EQ((2.0 * time).value(), 7e-6);
  EXPECT_DOUBLE_EQ((time * 2.0).value(), 7e-6);
  EXPECT_DOUBLE_EQ((0.5 * 10.0_GBps).value(), 5e9);
  EXPECT_EQ(5_KiB - 1_KiB, 4_KiB);
}

TEST(Units, OrderIsThatOfTheNumbers) {
  EXPECT_LT(1_KiB, 1025_B);
  EXPECT_GT(1.0_us, 999.0_ns);
  EXPECT_NE(1.0_GBps, 2.0_GBps);
}

TEST(Units, WhatMakesNoSenseDoesNotCompile) {
  static_assert(!CanAdd<Bytes, Seconds>);
  static_assert(!CanAdd<Bytes, BytesPerSecond>);
  static_assert(!CanAdd<Seconds, double>);
  static_assert(!CanMultiply<Seconds, Seconds>);
  static_assert(!CanMultiply<Bytes, Bytes>);
  static_assert(!CanDivide<Seconds, Bytes>);
  static_assert(!CanCompare<Seconds, BytesPerSecond>);
  static_assert(!std::is_convertible_v<double, Seconds>);
  static_assert(!std::is_convertible_v<std::uint64_t, Bytes>);
  static_assert(!std::is_convertible_v<Seconds, double>);
}

TEST(Units, ADefaultIsZero) {
  EXPECT_EQ(Bytes().value(), 0u);
  EXPECT_EQ(Seconds().value(), 0.0);
}

TEST(ErrorMessage, SaysWhatWhereAndHowToMend) {
  const Error error(ErrorKind::usage, "link `gpu2` has width x3", "box.yaml:14:12", "take LnkSta's width");
  EXPECT_STREQ(error.what(), "link `gpu2` has width x3\n  at box.yaml:14:12\n  mend: take LnkSta's width");
  EXPECT_EQ(error.kind(), ErrorKind::usage);
}

TEST(ErrorMessage, LeavesOutLinesThatWouldBeEmpty) {
  EXPECT_STREQ(Error(ErrorKind::runtime, "the child died", "", "").what(), "the child died");
}

TEST(ErrorKind, IsTheExitCode) {  // design.md section 4
  EXPECT_EQ(static_cast<int>(ErrorKind::runtime), 1);
  EXPECT_EQ(static_cast<int>(ErrorKind::usage), 2);
  EXPECT_EQ(static_cast<int>(ErrorKind::check_failed), 3);
  EXPECT_EQ(static_cast<int>(ErrorKind::no_hardware), 4);
}

}  // namespace
}  // namespace lanecast
