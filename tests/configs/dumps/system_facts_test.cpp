#include "configs/dumps/system_facts.hpp"

#include <gtest/gtest.h>

#include "tests/configs/dumps/fake_system.hpp"

namespace lanecast {
namespace {

MachineFacts facts_of(const FakeSystem& system) {
  MachineFacts facts;
  add_system_facts(LiveFiles(system.root()), "box", facts);
  return facts;
}

template <class T>
std::optional<T> only(const Statements<T>& statements) {
  if (statements.all().size() != 1) return std::nullopt;
  return statements.all().front().value;
}

constexpr const char* kGpu = "0000:23:00.0";

/// A root port, a switch and a GPU behind it. @return  the GPU's folder
std::string write_gpu(const FakeSystem& system) {
  system.function("pci0000:20", "0000:20:01.0", "0x060400", "0x1022");
  system.function("pci0000:20/0000:20:01.0", "0000:21:00.0", "0x060400", "0x1000");
  system.function("pci0000:20/0000:20:01.0/0000:21:00.0", "0000:22:04.0", "0x060400", "0x1000");
  return system.function("pci0000:20/0000:20:01.0/0000:21:00.0/0000:22:04.0", kGpu, "0x030200", "0x10de");
}

TEST(SystemFacts, TakeTheTreeFromTheCanonicalPathsOfFunctions) {
  const FakeSystem system;
  write_gpu(system);
  MachineFacts facts;
  EXPECT_EQ(add_system_facts(LiveFiles(system.root()), "box", facts), 4);
  EXPECT_EQ(only(facts.devices[kGpu].parent), "0000:22:04.0");
  EXPECT_EQ(only(facts.devices["0000:22:04.0"].parent), "0000:21:00.0");
  EXPECT_EQ(only(facts.devices["0000:21:00.0"].parent), "0000:20:01.0");
  EXPECT_EQ(only(facts.devices["0000:20:01.0"].parent), "") << "on the root bus";
  for (const auto& [address, device] : facts.devices) EXPECT_EQ(only(device.root_bus), "0000:20") << address;
  EXPECT_EQ(only(facts.devices[kGpu].class_code), 0x030200U);
  EXPECT_EQ(only(facts.devices[kGpu].vendor), 0x10deU);
}

TEST(SystemFacts, TakeTheRootBusOfAControllerWithinTheTree) {
  const FakeSystem system;
  system.function("pci0000:5d/0000:5d:05.5/pci10000:00/10000:00:02.0", "10000:01:00.0", "0x010802", "0x8086");
  const MachineFacts facts = facts_of(system);
  ASSERT_EQ(facts.devices.count("10000:01:00.0"), 1U);
  EXPECT_EQ(only(facts.devices.at("10000:01:00.0").root_bus), "10000:00");
  EXPECT_EQ(only(facts.devices.at("10000:01:00.0").parent), "10000:00:02.0");
}

TEST(SystemFacts, ReadLinkStatusInTheSpellingsOfOldAndNewKernels) {
  const FakeSystem system;
  const std::string gpu = write_gpu(system);
  system.write(gpu + "/max_link_speed", "16.0 GT/s PCIe\n");
  system.write(gpu + "/max_link_width", "16\n");
  system.write(gpu + "/current_link_speed", "8 GT/s\n");
  system.write(gpu + "/current_link_width", "8\n");
  const PciFacts device = facts_of(system).devices.at(kGpu);
  EXPECT_EQ(only(device.max_rate), PcieRate::gen4);
  EXPECT_EQ(only(device.max_width), 16);
  EXPECT_EQ(only(device.rate), PcieRate::gen3);
  EXPECT_EQ(only(device.width), 8);
}

TEST(SystemFacts, SayNothingWhereTheKernelKnowsNoLink) {
  for (const char* width : {"0", "63", "255", "", "x16"}) {
    const FakeSystem system;
    const std::string gpu = write_gpu(system);
    system.write(gpu + "/current_link_speed", "Unknown\n");
    system.write(gpu + "/current_link_width", width);
    system.write(gpu + "/numa_node", "-1\n");
    const PciFacts device = facts_of(system).devices.at(kGpu);
    EXPECT_TRUE(device.rate.empty());
    EXPECT_TRUE(device.width.empty()) << width;
    EXPECT_TRUE(device.numa.empty());
  }
}

// facts.md F3: two spellings, counts after the last blank, a TOTAL line or none.
TEST(SystemFacts, CountErrorsInBothSpellingsOfTheList) {
  const auto corrected = [](const std::string& list) {
    const FakeSystem system;
    system.write(write_gpu(system) + "/aer_dev_correctable", list);
    return only(facts_of(system).devices.at(kGpu).corrected_errors);
  };
  EXPECT_EQ(corrected("RxErr 0\nBadTLP 12\nRollover 0\nTimeout 3\nTOTAL_ERR_COR 15\n"), 15U);
  EXPECT_EQ(corrected("Receiver Error 1\nBad TLP 2\nRELAY_NUM Rollover 3\nReplay Timer Timeout 4\n"), 10U);
  EXPECT_EQ(corrected("RxErr 18446744073709551615\nBadTLP 2\n"), ~std::uint64_t{0});
  EXPECT_EQ(corrected("nothing to count\n"), std::nullopt);
}

TEST(SystemFacts, AddFatalAndNonFatalErrors) {
  const FakeSystem system;
  const std::string gpu = write_gpu(system);
  system.write(gpu + "/aer_dev_nonfatal", "Undefined 0\nDLP 2\nTOTAL_ERR_NONFATAL 2\n");
  system.write(gpu + "/aer_dev_fatal", "DLP 3\nTOTAL_ERR_FATAL 3\n");
  EXPECT_EQ(only(facts_of(system).devices.at(kGpu).uncorrected_errors), 5U);
}

TEST(SystemFacts, TakeARootPortsTotalsOnlyWhereItHasNoCountersOfItsOwn) {
  const FakeSystem system;
  write_gpu(system);
  const std::string port = "/sys/devices/pci0000:20/0000:20:01.0";
  system.write(port + "/aer_rootport_total_err_cor", "9\n");
  EXPECT_EQ(only(facts_of(system).devices.at("0000:20:01.0").corrected_errors), 9U);
  system.write(port + "/aer_dev_correctable", "TOTAL_ERR_COR 4\n");
  EXPECT_EQ(only(facts_of(system).devices.at("0000:20:01.0").corrected_errors), 4U);
}

TEST(SystemFacts, TakeTheLargestPrefetchable64BitWindowAsBar1) {
  const FakeSystem system;
  const std::string gpu = write_gpu(system);
  system.write(gpu + "/resource",
               "0x00000000d0000000 0x00000000d0ffffff 0x0000000000040200\n"
               "0x0000387000000000 0x0000387fffffffff 0x000000000014220c\n"
               "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
               "0x0000388000000000 0x0000388001ffffff 0x000000000014220c\n");
  EXPECT_EQ(only(facts_of(system).devices.at(kGpu).bar1), Bytes(std::uint64_t{64} << 30));
}

TEST(SystemFacts, TellThatAWindowHasNoAddress) {
  const FakeSystem system;
  system.write(write_gpu(system) + "/resource", "0x0000000000000000 0x0000000fffffffff 0x000000002014220c\n");
  const MachineFacts facts = facts_of(system);
  EXPECT_TRUE(facts.devices.at(kGpu).bar1.empty());
  ASSERT_EQ(facts.notes.size(), 1U);
  EXPECT_NE(facts.notes[0].find("above 4 GiB"), std::string::npos);
}

TEST(SystemFacts, TellPowerSavingAndSleep) {
  const FakeSystem system;
  const std::string gpu = write_gpu(system);
  system.write(gpu + "/link/l0s_aspm", "0\n");
  system.write(gpu + "/link/l1_aspm", "1\n");
  system.write(gpu + "/power/runtime_status", "suspended\n");
  system.write("/sys/devices/pci0000:20/0000:20:01.0/link/l1_aspm", "0\n");
  system.write("/sys/devices/pci0000:20/0000:20:01.0/power/runtime_status", "active\n");
  const MachineFacts facts = facts_of(system);
  EXPECT_EQ(only(facts.devices.at(kGpu).aspm), Aspm::l1);
  EXPECT_EQ(only(facts.devices.at(kGpu).asleep), true);
  EXPECT_EQ(only(facts.devices.at("0000:20:01.0").aspm), Aspm::off);
  EXPECT_TRUE(facts.devices.at("0000:20:01.0").asleep.empty());
}

TEST(SystemFacts, PreferFilesOfTheirOwnToTheConfigurationSpace) {
  const FakeSystem system;
  const std::string gpu = write_gpu(system);
  system.write(gpu + "/current_link_speed", "16.0 GT/s PCIe\n");
  FakeConfig config(256);
  config.dword(0, 0x233510de).express(0).word(0x48, 1 << 5 | 2 << 12).word(0x52, 16 << 4 | 1);
  system.write(gpu + "/config", config.bytes());
  const PciFacts device = facts_of(system).devices.at(kGpu);
  EXPECT_EQ(only(device.rate), PcieRate::gen4) << "the two are read at different moments";
  EXPECT_EQ(only(device.width), 16) << "from LnkSta";
  EXPECT_EQ(only(device.port), PciePort::endpoint);
  EXPECT_EQ(only(device.max_payload), Bytes(256));
  EXPECT_EQ(only(device.max_read_request), Bytes(512));
}

TEST(SystemFacts, NamePortsThatNeedRootInOneNote) {
  const FakeSystem system;
  const std::string gpu = write_gpu(system);
  system.write(gpu + "/config", FakeConfig(64).express(0).bytes());
  system.write("/sys/devices/pci0000:20/0000:20:01.0/config", FakeConfig(64).express(4).bytes());
  const MachineFacts facts = facts_of(system);
  ASSERT_EQ(facts.notes.size(), 1U);
  EXPECT_NE(facts.notes[0].find("0000:20:01.0, 0000:23:00.0"), std::string::npos) << facts.notes[0];
  EXPECT_NE(facts.notes[0].find("run again as root"), std::string::npos);
}

TEST(SystemFacts, ACardThatAnswersWithAllOnesIsGoneUnlessItSleeps) {
  const FakeSystem system;
  const std::string gpu = write_gpu(system);
  system.write(gpu + "/config", std::string(64, static_cast<char>(0xff)));
  EXPECT_EQ(only(facts_of(system).devices.at(kGpu).present), false);
  system.write(gpu + "/power/runtime_status", "suspended\n");
  EXPECT_TRUE(facts_of(system).devices.at(kGpu).present.empty());
}

TEST(SystemFacts, NumberSlotsByNameOrElseByThePortAbove) {
  const FakeSystem system;
  const std::string gpu = write_gpu(system);
  FakeConfig config(256);
  config.express(6).word(0x42, 6 << 4 | 2 | 0x100).dword(0x54, 37U << 19);
  system.write(gpu.substr(0, gpu.rfind('/')) + "/config", config.bytes());
  EXPECT_EQ(only(facts_of(system).devices.at(kGpu).slot), "37");
  system.write("/sys/bus/pci/slots/5-1/address", "0000:23:00\n");
  EXPECT_EQ(only(facts_of(system).devices.at(kGpu).slot), "5-1");
}

TEST(SystemFacts, LeaveVirtualFunctionsOut) {
  const FakeSystem system;
  const std::string gpu = write_gpu(system);
  system.link(system.function("pci0000:20", "0000:20:02.1", "0x030200", "0x10de") + "/physfn", gpu);
  EXPECT_EQ(facts_of(system).devices.count("0000:20:02.1"), 0U);
}

TEST(SystemFacts, ReadNoMoreThanPlaceAndKindOfOtherFunctions) {
  const FakeSystem system;
  const std::string disk = system.function("pci0000:20", "0000:20:03.0", "0x010802", "0x144d");
  system.write(disk + "/current_link_width", "4\n");
  const PciFacts device = facts_of(system).devices.at("0000:20:03.0");
  EXPECT_EQ(only(device.class_code), 0x010802U);
  EXPECT_EQ(only(device.parent), "");
  EXPECT_TRUE(device.width.empty());
}

TEST(SystemFacts, NamePlacesByPathAndByLineWhereThereAreLines) {
  const FakeSystem system;
  system.write(write_gpu(system) + "/numa_node", "1\n");
  EXPECT_EQ(facts_of(system).devices.at(kGpu).numa.all().at(0).from,
            "box (/sys/bus/pci/devices/0000:23:00.0/numa_node)");
}

TEST(SystemFacts, AMachineWithoutPciIsNothing) {
  const FakeSystem system;
  MachineFacts facts;
  EXPECT_EQ(add_system_facts(LiveFiles(system.root()), "box", facts), 0);
  EXPECT_TRUE(facts.devices.empty());
}

}  // namespace
}  // namespace lanecast
