#include "configs/dumps/facts.hpp"

#include <gtest/gtest.h>

namespace lanecast {
namespace {

TEST(PciAddress, IsWrittenInOneWay) {
  EXPECT_EQ(pci_address("3b:00.0"), "0000:3b:00.0");
  EXPECT_EQ(pci_address("0000:3b:00.0"), "0000:3b:00.0");
  EXPECT_EQ(pci_address("00000000:3B:1F.7"), "0000:3b:1f.7");
  EXPECT_EQ(pci_address("0004:01:00.0"), "0004:01:00.0");
  EXPECT_EQ(pci_address("1:01:00.0"), "0001:01:00.0");
}

TEST(PciAddress, KeepsDomainsBeyondFourDigits) {
  EXPECT_EQ(pci_address("10000:01:00.0"), "10000:01:00.0");
  EXPECT_EQ(pci_address("00010000:E1:00.0"), "10000:e1:00.0");
  EXPECT_EQ(pci_address("ffffffff:01:00.0"), "ffffffff:01:00.0");
}

TEST(PciAddress, OtherTextsAreNone) {
  for (const char* const text :
       {"", "3b:00", "0000:3b:00", "3b:20.0", "3b:00.8", "3b:00.0 ", " 3b:00.0", ":3b:00.0",
        "000000000:3b:00.0", "0000-3b:00.0", "g0:00.0", "0000:3b:00.00", "12:34:56.7"}) {
    EXPECT_EQ(pci_address(text), std::nullopt) << text;
  }
}

TEST(PciAddress, HasABus) {
  EXPECT_EQ(bus_of("0000:3b:00.0"), "0000:3b");
  EXPECT_EQ(bus_of("10000:e1:00.0"), "10000:e1");
}

}  // namespace
}  // namespace lanecast
