#include "configs/quantity.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "tests/configs/refusal.hpp"

namespace lanecast {
namespace {

std::uint64_t bytes_of(const std::string& text) {
  return parse_bytes(text).value.value_or(Bytes(~0ULL)).value();
}
std::uint64_t size_of(const std::string& text) {
  return parse_size(text).value.value_or(Bytes(~0ULL)).value();
}
double rate_of(const std::string& text) {
  return parse_rate(text).value.value_or(BytesPerSecond(-1)).value();
}
double time_of(const std::string& text) { return parse_time(text).value.value_or(Seconds(-1)).value(); }

TEST(Quantity, BytesCarryABinaryUnit) {
  EXPECT_EQ(bytes_of("0 B"), 0U);
  EXPECT_EQ(bytes_of("256 B"), 256U);
  EXPECT_EQ(bytes_of("256KiB"), 256U << 10);
  EXPECT_EQ(bytes_of("1.5 MiB"), 3U << 19);
  EXPECT_EQ(bytes_of("3 GiB"), std::uint64_t{3} << 30);
  EXPECT_EQ(bytes_of("2 TiB"), std::uint64_t{2} << 40);
  EXPECT_EQ(bytes_of("18446744073709551615 B"), std::numeric_limits<std::uint64_t>::max());
}

TEST(Quantity, RatesAreDecimalAndExact) {
  EXPECT_EQ(rate_of("25.6 GB/s"), 25.6e9);
  EXPECT_EQ(rate_of("26.562 GB/s"), 26.562e9);
  EXPECT_EQ(rate_of("1.5e-3 TB/s"), 1.5e9);
  EXPECT_EQ(rate_of("5 kB/s"), 5e3);
  EXPECT_EQ(rate_of("7 MB/s"), 7e6);
  EXPECT_EQ(rate_of("9 B/s"), 9.0);
  EXPECT_EQ(rate_of("400 Gbit/s"), 50e9);
}

TEST(Quantity, TimesAreDecimalAndExact) {
  EXPECT_EQ(time_of("150 ns"), 150e-9);
  EXPECT_EQ(time_of("1.2us"), 1.2e-6);
  EXPECT_EQ(time_of("3 ms"), 3e-3);
  EXPECT_EQ(time_of(".5 s"), 0.5);
}

TEST(Quantity, SizesOfTheCommandLineTakeKMGAsPowersOf1024) {
  EXPECT_EQ(size_of("8"), 8U);
  EXPECT_EQ(size_of("128M"), 128U << 20);
  EXPECT_EQ(size_of("4k"), 4096U);
  EXPECT_EQ(size_of("64KiB"), 64U << 10);
  EXPECT_EQ(size_of("1G"), 1U << 30);
  EXPECT_EQ(size_of("0.5G"), 1U << 29);
}

TEST(Quantity, ABareNumberIsRefusedWithTheUnits) {
  EXPECT_EQ(parse_bytes("256").complaint.text, "a size needs a unit");
  EXPECT_EQ(parse_bytes("256").complaint.mend,
            "write it like `256 KiB`; the units are B, KiB, MiB, GiB and TiB");
  EXPECT_EQ(parse_rate("25.6").complaint.text, "a rate needs a unit");
  EXPECT_EQ(parse_time("10").complaint.text, "a time needs a unit");
  EXPECT_EQ(parse_time("10").complaint.mend, "write it like `1.2 us`; the units are ns, us, ms and s");
}

TEST(Quantity, UnitsThatMeanOneThousandOrMoreThanOneThingAreRefused) {
  EXPECT_EQ(parse_bytes("6 MB").complaint.text, "`MB` is no unit of a size");
  EXPECT_EQ(parse_size("6MB").complaint.text, "`MB` is no unit of a size");
  EXPECT_EQ(parse_rate("6 Gb/s").complaint.text, "`Gb/s` is no unit of a rate");
  EXPECT_EQ(parse_time("6 min").complaint.text, "`min` is no unit of a time");
}

TEST(Quantity, WhatIsNoNumberIsRefused) {
  for (const char* text : {"", " ", "B", "-1 B", "+1 B", "inf B", "nan B", "0x10 B", ".", ". B", "1e B",
                           "1.2.3 B", "\xff\xff", "1 B 2"}) {
    EXPECT_FALSE(parse_bytes(text)) << text;
    EXPECT_FALSE(parse_size(text)) << text;
    EXPECT_FALSE(parse_rate(text)) << text;
    EXPECT_FALSE(parse_time(text)) << text;
    EXPECT_FALSE(parse_number(text)) << text;
    EXPECT_FALSE(parse_integer(text)) << text;
  }
}

TEST(Quantity, OverflowAndBrokenBytesAreRefused) {
  EXPECT_FALSE(parse_bytes("18446744073709551616 B"));
  EXPECT_FALSE(parse_bytes("16777216 TiB"));
  EXPECT_FALSE(parse_bytes("1.3 B"));
  EXPECT_FALSE(parse_bytes("1e300 B"));
  EXPECT_FALSE(parse_size("99999999999G"));
  EXPECT_FALSE(parse_rate("1e400 GB/s"));
  EXPECT_FALSE(parse_rate("1e999999999999 GB/s"));
  EXPECT_FALSE(parse_time("1e-399 ns"));
  EXPECT_FALSE(parse_integer("2147483648"));
  EXPECT_FALSE(parse_rate(std::string(100000, '9') + " GB/s"));
}

TEST(Quantity, ReadSizeNamesTheOptionAndTheUnits) {
  EXPECT_EQ(refusal([] { read_size("12Q", "-b 12Q"); }),
            "`12Q` is not a size: `Q` is no unit of a size\n  at -b 12Q\n"
            "  mend: write it like `8`, `128M` or `64KiB`; K, M, G and T are powers of 1024");
  EXPECT_EQ(read_size("1G", "-e 1G"), Bytes(1U << 30));
}

TEST(Quantity, FormattedTextPicksAHandyUnit) {
  EXPECT_EQ(format_bytes(Bytes(0)), "0 B");
  EXPECT_EQ(format_bytes(Bytes(256)), "256 B");
  EXPECT_EQ(format_bytes(Bytes(6U << 20)), "6 MiB");
  EXPECT_EQ(format_rate(BytesPerSecond(26.562e9)), "26.562 GB/s");
  EXPECT_EQ(format_rate(BytesPerSecond(1e3)), "0.000001 GB/s");
  EXPECT_EQ(format_time(Seconds(0)), "0 ns");
  EXPECT_EQ(format_time(Seconds(275e-9)), "275 ns");
  EXPECT_EQ(format_time(Seconds(1.2e-6)), "1.2 us");
  EXPECT_EQ(format_number(1e-4), "0.0001");
}

TEST(Quantity, FormattedTextReadsBackToTheVerySameValue) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> exponent(-12, 17);
  for (int i = 0; i < 20000; ++i) {
    const double value = std::pow(10.0, exponent(random));
    const std::uint64_t bytes = random() >> (random() % 64);
    ASSERT_EQ(rate_of(format_rate(BytesPerSecond(value))), value);
    ASSERT_EQ(time_of(format_time(Seconds(value))), value);
    ASSERT_EQ(parse_number(format_number(value)).value, value);
    ASSERT_EQ(bytes_of(format_bytes(Bytes(bytes))), bytes);
  }
}

}  // namespace
}  // namespace lanecast
