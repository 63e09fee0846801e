#include "model/measured/measured_run.hpp"

#include <gtest/gtest.h>

namespace lanecast {
namespace {

std::vector<Seconds> seconds(const std::vector<double>& values) {
  std::vector<Seconds> times;
  for (const double value : values) times.emplace_back(value);
  return times;
}

TEST(SpreadOf, TakesTheMiddleOfAnOddNumberAndTheMeanOfTheTwoMiddlesOfAnEvenOne) {
  EXPECT_EQ(spread_of(seconds({3, 1, 2})).median, Seconds(2));
  EXPECT_EQ(spread_of(seconds({4, 1, 2, 3})).median, Seconds(2.5));
  EXPECT_EQ(spread_of(seconds({7})).median, Seconds(7));
}

TEST(SpreadOf, HasTheSmallestSampleAndThe99thPercentileByNearestRank) {
  std::vector<Seconds> samples;
  for (int i = 200; i >= 1; --i) samples.emplace_back(i);
  EXPECT_EQ(spread_of(samples).min, Seconds(1));
  EXPECT_EQ(spread_of(samples).p99, Seconds(198));  // ceil(0.99 x 200) = 198
  EXPECT_EQ(spread_of(seconds({5, 6})).p99, Seconds(6));
}

TEST(SlowestOf, IsTheSlowestRankOfEachSampleNotTheSlowestSamplesOfEachRank) {
  EXPECT_EQ(slowest_of({seconds({1, 9, 3}), seconds({2, 4, 8})}), seconds({2, 9, 8}));
}

TEST(CountedElements, IsTheBlockWhereEachRankHasOneAndTheBufferElsewhere) {
  Call call;
  call.size = Bytes(96);
  EXPECT_EQ(counted_elements(call, 4), 24U);
  call.collective = Collective::all_gather;
  EXPECT_EQ(counted_elements(call, 4), 6U);
  call.datatype = Datatype::float64;
  EXPECT_EQ(counted_elements(call, 4), 3U);
}

TEST(MeasuredRun, HasTheBandwidthsOfNcclTests) {
  MeasuredRun run;
  run.call.size = Bytes(1'000'000);
  run.ranks = 4;
  run.time.median = Seconds(1e-3);
  EXPECT_DOUBLE_EQ(run.algbw().value(), 1e9);
  EXPECT_DOUBLE_EQ(run.busbw().value(), 1e9 * 2 * 3 / 4);
}

}  // namespace
}  // namespace lanecast
