#include "calibrate/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace lanecast {
namespace {

TEST(ParallelFor, CallsEachTaskOnceOnAnyNumberOfThreads) {
  for (const int threads : {0, 1, 2, 8}) {
    for (const std::size_t count : {0u, 1u, 3u, 1000u}) {
      std::vector<std::atomic<int>> calls(count);
      parallel_for(count, threads, [&](std::size_t i) { ++calls[i]; });
      for (const std::atomic<int>& of_one : calls) EXPECT_EQ(of_one, 1);
    }
  }
}

TEST(ParallelFor, ThrowsWhatATaskThrewOnceAllHaveEnded) {
  for (const int threads : {1, 4}) {
    std::atomic<int> running{0};
    EXPECT_THROW(parallel_for(100, threads,
                              [&](std::size_t i) {
                                ++running;
                                --running;
                                if (i == 17) throw std::runtime_error("17");
                              }),
                 std::runtime_error);
    EXPECT_EQ(running, 0);
  }
}

}  // namespace
}  // namespace lanecast
