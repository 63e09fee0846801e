#include "hw/device_discovery.hpp"

#include <gtest/gtest.h>

namespace lanecast {
namespace {

TEST(DeviceDiscovery, SaysWhyThereAreNoGpusOrDescribesThem) {
  const CudaDevices found = discover_cuda_devices();
  EXPECT_EQ(found.devices.empty(), !found.problem.empty()) << found.problem;
  EXPECT_EQ(found.pairs.size(), found.devices.size());
}

TEST(DeviceDiscovery, AnswersTheSameASecondTime) {
  EXPECT_EQ(discover_cuda_devices().problem, discover_cuda_devices().problem);
}

TEST(DeviceDiscovery, KnowsAddressMemoryAndCapabilityOfEachGpu) {
  const CudaDevices found = discover_cuda_devices();
  if (found.devices.empty()) GTEST_SKIP() << "no GPU: " << found.problem;
  for (const CudaDevice& device : found.devices) {
    EXPECT_GE(device.bus_id.size(), 12U) << device.bus_id;
    EXPECT_FALSE(device.name.empty());
    EXPECT_GE(device.sm, 50);
    EXPECT_GT(device.memory, Bytes(std::uint64_t{1} << 30));
    EXPECT_GT(device.l2, Bytes(0));
  }
}

}  // namespace
}  // namespace lanecast
