#include "hw/measure/timing.hpp"

#include <gtest/gtest.h>

namespace lanecast {
namespace {

TEST(SamplesWithin, IsWhatTheBudgetHoldsFromThreeToTwenty) {
  PlannedTiming timing;
  timing.budget = Seconds(1);
  EXPECT_EQ(samples_within(timing, Seconds(1e-4)), 20);
  EXPECT_EQ(samples_within(timing, Seconds(0.1)), 10);
  EXPECT_EQ(samples_within(timing, Seconds(5)), 3);
  EXPECT_EQ(samples_within(timing, Seconds(0)), 20);
}

TEST(SamplesWithin, IsWhatWasAskedForWhateverItTakes) {
  PlannedTiming timing;
  timing.samples = 100;
  EXPECT_EQ(samples_within(timing, Seconds(60)), 100);
}

TEST(BatchWithin, EndsAfterFiveSecondsAndHasAtLeastOneTiming) {
  EXPECT_EQ(batch_within(Seconds(1)), 5);
  EXPECT_EQ(batch_within(Seconds(60)), 1);
  EXPECT_EQ(batch_within(Seconds(1e-6)), 1000);
  EXPECT_EQ(batch_within(Seconds(0)), 1000);
}

}  // namespace
}  // namespace lanecast
