#include "model/measured/error_statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace lanecast {
namespace {

ErrorSample sample(double error, std::uint64_t size = 1024,
                   std::optional<Protocol> protocol = Protocol::simple,
                   const std::string& transport = "p2p") {
  return {protocol, transport, Bytes(size), error, std::nullopt};
}

TEST(ErrorStatistics, TheMedianOfAnEvenCountIsTheMeanOfTheMiddleTwo) {
  EXPECT_DOUBLE_EQ(median_of({4, 1, 3, 2}), 2.5);
  EXPECT_DOUBLE_EQ(median_of({5, 1, 3}), 3);
}

TEST(ErrorStatistics, AQuantileIsTheSmallestValueThatSoManyDoNotExceed) {
  std::vector<double> values;
  for (int i = 1; i <= 20; ++i) values.push_back(i);
  EXPECT_DOUBLE_EQ(quantile_of(values, 0.95), 19);  // 19 of 20 are 95 %
  values.push_back(21);
  EXPECT_DOUBLE_EQ(quantile_of(values, 0.95), 20);  // 19 of 21 are less than that
  EXPECT_DOUBLE_EQ(quantile_of({7}, 0.95), 7);
  EXPECT_DOUBLE_EQ(quantile_of(values, 1), 21);
}

TEST(ErrorStatistics, ErrorsOfBothSignsCountAlikeAndTheBiasKeepsTheSign) {
  const ErrorSummary summary = summarize({sample(-0.1), sample(-0.2), sample(0.3)});
  EXPECT_EQ(summary.n, 3U);
  EXPECT_DOUBLE_EQ(summary.median_abs_error, 0.2);
  EXPECT_DOUBLE_EQ(summary.max_abs_error, 0.3);
  EXPECT_DOUBLE_EQ(summary.median_error, -0.1);
  EXPECT_FALSE(summary.coverage.has_value());
}

TEST(ErrorStatistics, NothingHasNoErrorRatherThanAnErrorOfZero) {
  const ErrorSummary summary = summarize({});
  EXPECT_EQ(summary.n, 0U);
  EXPECT_TRUE(std::isnan(summary.median_abs_error));
  EXPECT_TRUE(std::isnan(summary.max_abs_error));
}

TEST(ErrorStatistics, CoverageIsTheShareOfThoseThatHaveABand) {
  std::vector<ErrorSample> samples{sample(0), sample(0), sample(0), sample(0)};
  samples[0].within = true;
  samples[1].within = true;
  samples[2].within = false;
  EXPECT_DOUBLE_EQ(*summarize(samples).coverage, 2.0 / 3);
}

TEST(ErrorStatistics, EverySizeLiesInExactlyOneBand) {
  for (const std::uint64_t size : {0ULL, 1ULL, 65535ULL, 65536ULL, 4194304ULL, 4194305ULL, 1ULL << 40U}) {
    int bands = 0;
    for (const SizeBand& band : size_bands())
      bands += Bytes(size) >= band.from && (!band.to || Bytes(size) <= *band.to) ? 1 : 0;
    EXPECT_EQ(bands, 1) << size;
  }
  EXPECT_STREQ(size_band_of(Bytes(65535)).name, "<64K");
  EXPECT_STREQ(size_band_of(Bytes(65536)).name, "64K-4M");
  EXPECT_STREQ(size_band_of(Bytes(4U << 20U)).name, "64K-4M");
  EXPECT_STREQ(size_band_of(Bytes((4U << 20U) + 1)).name, ">4M");
}

TEST(ErrorStatistics, GroupsAreOneAProtocolAndTransportAndTheirBandsAddUpToThem) {
  const std::vector<ErrorGroup> groups =
      error_groups({sample(0.1, 1024), sample(0.5, 8U << 20U), sample(0.2, 1024, Protocol::ll, "shm"),
                    sample(0.3, 1024, std::nullopt, "")});
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].protocol, Protocol::simple);
  EXPECT_EQ(groups[0].summary.n, 2U);
  ASSERT_EQ(groups[0].bands.size(), 2U);  // none of the middle band
  EXPECT_DOUBLE_EQ(groups[0].bands[0].summary.max_abs_error, 0.1);
  EXPECT_DOUBLE_EQ(groups[0].bands[1].summary.max_abs_error, 0.5);
  EXPECT_EQ(groups[1].protocol, Protocol::ll);
  EXPECT_FALSE(groups[2].protocol.has_value());  // what nobody says comes last
}

}  // namespace
}  // namespace lanecast
