#include "hw/wake.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "hw/device_discovery.hpp"

namespace lanecast {
namespace {

TEST(AwakeGpus, AreNoneOnAMachineWithoutGpus) {
  const CudaDevices found = discover_cuda_devices();
  if (!found.devices.empty()) GTEST_SKIP() << "this machine has " << found.devices.size() << " GPUs";
  const AwakeGpus awake;
  awake.wait_until_busy(Seconds(1.0));
  EXPECT_TRUE(awake.busy().empty());
}

TEST(AwakeGpus, AllCopyUntilTheEnd) {
  const CudaDevices found = discover_cuda_devices();
  if (found.devices.empty()) GTEST_SKIP() << "no GPU: " << found.problem;
  const AwakeGpus awake;
  awake.wait_until_busy(Seconds(20.0));
  const std::vector<bool> busy = awake.busy();
  EXPECT_EQ(busy.size(), found.devices.size());
  EXPECT_TRUE(std::all_of(busy.begin(), busy.end(), [](bool each) { return each; }));
}

}  // namespace
}  // namespace lanecast
