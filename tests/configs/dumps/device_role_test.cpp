#include "configs/dumps/device_role.hpp"

#include <gtest/gtest.h>

namespace lanecast {
namespace {

PciFacts of_class(std::uint32_t class_code, std::uint32_t vendor) {
  PciFacts facts;
  facts.class_code.add(class_code, "dump");
  if (vendor != 0) facts.vendor.add(vendor, "dump");
  return facts;
}

PciFacts of_name(const std::string& name) {
  PciFacts facts;
  facts.name.add(name, "dump");
  return facts;
}

TEST(DeviceRole, DisplayAndAcceleratorFunctionsOfNvidiaAndAmdAreGpus) {
  EXPECT_EQ(role_of(of_class(0x030000, 0x10de)), DeviceRole::gpu);
  EXPECT_EQ(role_of(of_class(0x030200, 0x10de)), DeviceRole::gpu);
  EXPECT_EQ(role_of(of_class(0x038000, 0x1002)), DeviceRole::gpu);
  EXPECT_EQ(role_of(of_class(0x120000, 0x1002)), DeviceRole::gpu);
  EXPECT_EQ(role_of(of_class(0x038000, 0x8086)), DeviceRole::gpu);
}

TEST(DeviceRole, DisplaysOfManagementControllersAndEmulatorsAreNot) {
  for (const std::uint32_t vendor : {0x1a03U, 0x102bU, 0x1234U, 0x15adU, 0x1af4U, 0x8086U})
    EXPECT_EQ(role_of(of_class(0x030000, vendor)), DeviceRole::other) << vendor;
}

TEST(DeviceRole, ABareClassIsTakenAtItsWord) {
  // As clouds write topology files by hand.
  EXPECT_EQ(role_of(of_class(0x030200, 0)), DeviceRole::gpu);
  EXPECT_EQ(role_of(of_class(0x020700, 0)), DeviceRole::adapter);
  EXPECT_EQ(role_of(of_class(0x060400, 0)), DeviceRole::bridge);
  EXPECT_EQ(role_of(of_class(0x068000, 0)), DeviceRole::other);
}

TEST(DeviceRole, NvidiasOtherBridgesAreNvswitches) {
  EXPECT_EQ(role_of(of_class(0x068000, 0x10de)), DeviceRole::nvswitch);
  EXPECT_EQ(role_of(of_class(0x068001, 0x10de)), DeviceRole::other) << "POWER's bridge to the CPU";
}

TEST(DeviceRole, NamesTellWhereNoClassIsPrinted) {
  EXPECT_EQ(role_of(of_name("NVIDIA Corporation AD102GL [RTX 6000 Ada Generation]")), DeviceRole::gpu);
  EXPECT_EQ(role_of(of_name("NVIDIA Corporation Device 2bb5")), DeviceRole::gpu);
  EXPECT_EQ(role_of(of_name("NVIDIA Corporation AD102 High Definition Audio Controller")), DeviceRole::other);
  EXPECT_EQ(role_of(of_name("NVIDIA Corporation GA100 [A100 NVSwitch]")), DeviceRole::nvswitch);
  EXPECT_EQ(role_of(of_name("Advanced Micro Devices, Inc. [AMD/ATI] Aldebaran/MI200 [Instinct MI210]")),
            DeviceRole::gpu);
  EXPECT_EQ(role_of(of_name("Advanced Micro Devices, Inc. [AMD] Device 14a4")), DeviceRole::other);
  EXPECT_EQ(role_of(of_name("Mellanox Technologies MT2910 Family [ConnectX-7]")), DeviceRole::adapter);
  EXPECT_EQ(role_of(of_name("Intel Corporation Ethernet Controller X710 for 10GBASE-T")),
            DeviceRole::adapter);
  EXPECT_EQ(role_of(of_name("ASPEED Technology, Inc. ASPEED Graphics Family")), DeviceRole::other);
}

TEST(DeviceRole, WhatNvidiaSmiNumbersIsAGpuWhateverElseIsSaid) {
  PciFacts facts;
  EXPECT_EQ(role_of(facts), DeviceRole::unknown);
  facts.gpu_index.add(0, "q.txt:4 (nvidia-smi -q)");
  EXPECT_EQ(role_of(facts), DeviceRole::gpu);
}

TEST(DeviceRole, WhatHasABusBelowIsABridge) {
  PciFacts facts;
  facts.secondary_bus.add(4, "dump");
  EXPECT_EQ(role_of(facts), DeviceRole::bridge);
}

TEST(DeviceRole, AdaptersThatHypervisorsImitateCountNot) {
  EXPECT_EQ(role_of(of_class(0x020000, 0x1af4)), DeviceRole::other);
  EXPECT_EQ(role_of(of_class(0x020000, 0x15b3)), DeviceRole::adapter);
}

}  // namespace
}  // namespace lanecast
