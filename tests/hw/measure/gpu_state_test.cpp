#include "hw/measure/gpu_state.hpp"

#include <gtest/gtest.h>

namespace lanecast {
namespace {

TEST(GpuWatch, FindsGpusByTheAddressThatCudaOrNvmlWritesAndKeepsWhatItSaw) {
  GpuWatch watch({"0000:3C:00.0", "00000000:3B:00.0"}, FAKE_NVML);
  ASSERT_EQ(watch.states().size(), 2U);
  const GpuStates& busy = watch.states()[1];
  EXPECT_EQ(busy.bus_id, "0000:3b:00.0");
  EXPECT_EQ(busy.before.sm_clock_MHz, 1980);
  EXPECT_EQ(busy.before.memory_clock_MHz, 3201);
  EXPECT_EQ(busy.before.rate, PcieRate::gen5);
  EXPECT_EQ(busy.looks, 0);
  watch.look();
  EXPECT_EQ(busy.looks, 1);
  EXPECT_EQ(busy.sm_clock_MHz_min, 1980);
  EXPECT_EQ(busy.sm_clock_MHz_max, 1980);
  EXPECT_EQ(busy.loaded.width, 16);
}

TEST(GpuWatch, LeavesOutWhatADriverDoesNotSay) {
  const GpuWatch watch({"0000:3c:00.0"}, FAKE_NVML);
  EXPECT_FALSE(watch.states()[0].before.sm_clock_MHz);
  EXPECT_EQ(watch.states()[0].before.performance_state, 8);
}

TEST(GpuWatch, KnowsNothingWithoutTheLibraryOrTheGpu) {
  GpuWatch absent({"0000:3b:00.0"}, "libno-such-management-library.so");
  absent.look();
  EXPECT_EQ(absent.states()[0].looks, 0);
  GpuWatch elsewhere({"0000:77:00.0"}, FAKE_NVML);
  elsewhere.look();
  EXPECT_FALSE(elsewhere.states()[0].before.sm_clock_MHz);
}

}  // namespace
}  // namespace lanecast
