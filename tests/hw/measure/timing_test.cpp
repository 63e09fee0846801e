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

}  // namespace
}  // namespace lanecast
