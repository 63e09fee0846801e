#include "sim/fifo_times.hpp"

#include <gtest/gtest.h>

namespace lanecast {
namespace {

TEST(FifoTimes, TellWhenAnEventBecomesVisible) {
  FifoTimes fifo(2);
  EXPECT_FALSE(fifo.posted(FifoTimes::done, 0, 7));
  EXPECT_EQ(fifo.post(FifoTimes::done, 1.5), 7) << "strand 7 waits for it";
  EXPECT_TRUE(fifo.posted(FifoTimes::done, 0, 7));
  EXPECT_EQ(fifo.when(FifoTimes::done, 0), 1.5);
  EXPECT_EQ(fifo.post(FifoTimes::done, 2.5), FifoTimes::nobody);
}

TEST(FifoTimes, KeepTheKindsOfEventApart) {
  FifoTimes fifo(2);
  fifo.post(FifoTimes::begun, 1);
  EXPECT_TRUE(fifo.posted(FifoTimes::begun, 0, 0));
  EXPECT_FALSE(fifo.posted(FifoTimes::done, 0, 0));
  EXPECT_FALSE(fifo.posted(FifoTimes::credit, 0, 0));
}

TEST(FifoTimes, KeepWhatTheOtherEndHasNotAskedForHoweverFarOneRunsAhead) {
  FifoTimes fifo(2);
  for (int number = 0; number < 100; ++number) fifo.post(FifoTimes::credit, number + 0.5);
  for (std::uint64_t number = 0; number < 100; ++number) {
    ASSERT_TRUE(fifo.posted(FifoTimes::credit, number, 0));
    EXPECT_EQ(fifo.when(FifoTimes::credit, number), static_cast<double>(number) + 0.5);
  }
}

TEST(FifoTimes, GoOnWhereTheOtherEndPassedEventsOver) {  // empty slices of lines are not waited for
  FifoTimes fifo(2);
  EXPECT_FALSE(fifo.posted(FifoTimes::done, 5, 3));
  for (int number = 0; number < 5; ++number) fifo.post(FifoTimes::done, number);
  EXPECT_FALSE(fifo.posted(FifoTimes::done, 5, 3));
  EXPECT_EQ(fifo.post(FifoTimes::done, 5), 3);
  EXPECT_EQ(fifo.when(FifoTimes::done, 5), 5);
}

}  // namespace
}  // namespace lanecast
