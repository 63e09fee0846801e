#include "configs/dumps/config_space.hpp"

#include <gtest/gtest.h>

#include <random>

#include "tests/configs/dumps/fake_system.hpp"

namespace lanecast {
namespace {

// Offsets and bits: PCI Express Base Specification 5.0, 7.5 and 7.7; Linux's pci_regs.h names them.

TEST(ConfigSpace, ReadsLinkAndDeviceRegistersOfTheExpressCapability) {
  FakeConfig config(256);
  config.express(4);  // root port
  config
      .word(0x42, 4 << 4 | 2 | 0x100)                // and it has a slot
      .dword(0x44, 2)                                // DevCap: 512 B
      .word(0x48, 1 << 5 | 5 << 12)                  // DevCtl: 256 B payload, 4096 B read requests
      .dword(0x4c, 4 << 15 | 2 << 10 | 16 << 4 | 4)  // LnkCap: L1 exit below 16 us, L1, x16, 16 GT/s
      .word(0x50, 2)                                 // LnkCtl: L1
      .word(0x52, 8 << 4 | 3)                        // LnkSta: x8, 8 GT/s
      .dword(0x54, 37U << 19);                       // SltCap: slot 37
  const ConfigSpace read = decode_config_space(config.bytes());
  EXPECT_EQ(read.port, PciePort::root_port);
  EXPECT_EQ(read.max_payload_capability, Bytes(512));
  EXPECT_EQ(read.max_payload, Bytes(256));
  EXPECT_EQ(read.max_read_request, Bytes(4096));
  EXPECT_EQ(read.max_rate, PcieRate::gen4);
  EXPECT_EQ(read.max_width, 16);
  EXPECT_EQ(read.rate, PcieRate::gen3);
  EXPECT_EQ(read.width, 8);
  EXPECT_EQ(read.aspm, Aspm::l1);
  EXPECT_NEAR(read.l1_exit.value().value(), 16e-6, 1e-12);
  EXPECT_EQ(read.slot, 37);
  EXPECT_FALSE(read.capabilities_hidden);
  EXPECT_FALSE(read.acs_redirect) << "256 bytes end before the extended capabilities";
}

TEST(ConfigSpace, NamesThePortsOfTheExpressCapability) {
  const auto port = [](unsigned type) {
    return decode_config_space(FakeConfig(256).express(type).bytes()).port;
  };
  EXPECT_EQ(port(0), PciePort::endpoint);
  EXPECT_EQ(port(1), PciePort::endpoint) << "legacy endpoint";
  EXPECT_EQ(port(4), PciePort::root_port);
  EXPECT_EQ(port(5), PciePort::upstream_port);
  EXPECT_EQ(port(6), PciePort::downstream_port);
  EXPECT_EQ(port(7), PciePort::other) << "bridge to PCI";
  EXPECT_EQ(port(9), PciePort::integrated_endpoint);
}

TEST(ConfigSpace, FollowsTheChainOfCapabilities) {
  FakeConfig config(256);
  config.word(0x06, 0x10)
      .word(0x34, 0xc0)
      .word(0xc0, 0x60 << 8 | 0x05)
      .word(0x60, 0x10)
      .word(0x62, 6 << 4 | 2);
  EXPECT_EQ(decode_config_space(config.bytes()).port, PciePort::downstream_port);
}

TEST(ConfigSpace, EndsChainsThatBiteTheirTail) {
  FakeConfig config(4096);
  config.word(0x06, 0x10).word(0x34, 0x40).word(0x40, 0x80 << 8 | 0x05).word(0x80, 0x40 << 8 | 0x05);
  config.dword(0x100, 0x2000'0003).dword(0x200, 0x1000'0003);
  const ConfigSpace read = decode_config_space(config.bytes());
  EXPECT_FALSE(read.port);
  EXPECT_FALSE(read.acs_redirect);
}

TEST(ConfigSpace, SaysThatCapabilitiesNeedRootWhereTheBytesEndAtTheHeader) {
  EXPECT_TRUE(decode_config_space(FakeConfig(64).express(0).word(0x34, 0x40).bytes()).capabilities_hidden);
  EXPECT_FALSE(decode_config_space(FakeConfig(64).bytes()).capabilities_hidden) << "a function without any";
}

TEST(ConfigSpace, ReadsTheBusesOfABridgeFromItsHeader) {
  FakeConfig config(64);
  config.word(0x0e, 0x81).dword(0x18, 0x00'83'81'80);
  const ConfigSpace read = decode_config_space(config.bytes());
  EXPECT_EQ(read.secondary_bus, 0x81);
  EXPECT_EQ(read.subordinate_bus, 0x83);
  EXPECT_FALSE(decode_config_space(FakeConfig(64).dword(0x18, 0x838180).bytes()).secondary_bus)
      << "no bridge";
}

TEST(ConfigSpace, TellsWhetherAPortRedirectsPeerTraffic) {
  const auto redirects = [](unsigned control) {
    FakeConfig config(4096);
    config.express(6).dword(0x100, 0x1481'0001).dword(0x148, 0x0001'000d).word(0x14e, control);
    return decode_config_space(config.bytes()).acs_redirect;
  };
  EXPECT_EQ(redirects(0x1d), true) << "the control word of facts.md E7";
  EXPECT_EQ(redirects(0x04), true) << "requests";
  EXPECT_EQ(redirects(0x08), true) << "completions";
  EXPECT_EQ(redirects(0x11), false) << "source validation and forwarding redirect nothing";
}

TEST(ConfigSpace, APortWithoutAccessControlRedirectsNothing) {
  EXPECT_EQ(decode_config_space(FakeConfig(4096).express(4).bytes()).acs_redirect, false);
  EXPECT_EQ(decode_config_space(FakeConfig(4096).express(6).bytes()).acs_redirect, false);
  EXPECT_FALSE(decode_config_space(FakeConfig(4096).express(0).bytes()).acs_redirect)
      << "endpoints turn nothing";
  EXPECT_FALSE(decode_config_space(FakeConfig(4000).express(6).bytes()).acs_redirect)
      << "it may stand in the rest";
}

TEST(ConfigSpace, ReadsErrorStatus) {
  FakeConfig config(4096);
  config.express(0).dword(0x100, 0x0001'0001).dword(0x104, 0x0000'4000).dword(0x110, 0x0000'00c0);
  const ConfigSpace read = decode_config_space(config.bytes());
  EXPECT_EQ(read.uncorrected_status, 0x4000U);
  EXPECT_EQ(read.corrected_status, 0xc0U);
}

TEST(ConfigSpace, LeavesOutWhatIsReservedOrUnknown) {
  FakeConfig config(256);
  config.express(0)
      .dword(0x44, 6)
      .word(0x48, 7 << 5 | 6 << 12)
      .dword(0x4c, 7 << 15 | 2 << 10 | 63 << 4 | 7)
      .word(0x52, 0);
  const ConfigSpace read = decode_config_space(config.bytes());
  EXPECT_FALSE(read.max_payload_capability);
  EXPECT_FALSE(read.max_payload);
  EXPECT_FALSE(read.max_read_request);
  EXPECT_FALSE(read.max_rate);
  EXPECT_FALSE(read.max_width);
  EXPECT_FALSE(read.l1_exit) << "no bound";
  EXPECT_FALSE(read.rate);
  EXPECT_FALSE(read.width);
}

TEST(ConfigSpace, ACardThatIsGoneReadsAsAllOnes) {
  EXPECT_TRUE(decode_config_space(std::string(64, static_cast<char>(0xff))).gone);
  EXPECT_FALSE(decode_config_space(FakeConfig(256).express(0).bytes()).gone);
  EXPECT_FALSE(decode_config_space("").gone);
}

TEST(ConfigSpace, TakesAnyBytesOfAnyLength) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    std::mt19937 random(seed);
    std::string bytes(random() % 4200, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    const ConfigSpace read = decode_config_space(bytes);
    EXPECT_TRUE(!read.width || is_pcie_width(*read.width)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace lanecast
