#include <gtest/gtest.h>
#include <hwloc.h>

#include <cmath>
#include <cstdio>

#include "configs/dumps/hwloc_facts.hpp"
#include "configs/dumps/readers.hpp"
#include "tests/configs/dumps/stated.hpp"
#include "tests/configs/refusal.hpp"

namespace lanecast {
namespace {

MachineFacts facts_of(const std::string& text) {
  MachineFacts facts;
  read_hwloc_xml(text, "box.xml", facts);
  return facts;
}

std::string node(int number, const std::string& cpuset, const std::string& devices) {
  const std::string os_index = "os_index=\"" + std::to_string(number) + "\" ";
  const std::string sets =
      "cpuset=\"" + cpuset + "\" nodeset=\"0x0000000" + std::to_string(1 << number) + "\"";
  return "<object type=\"Package\" " + os_index + sets + R"(>
    <info name="CPUVendor" value="AuthenticAMD"/>
    <info name="CPUModel" value="AMD EPYC 9354 32-Core Processor                "/>
    <object type="NUMANode" )" +
         os_index + sets + "/>\n" + devices + "</object>\n";
}

/// Two A40 below a switch of package 0, named by NVML and CUDA in different orders; an adapter on package 1.
const std::string small_box = R"(<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
  <object type="Machine" os_index="0" cpuset="0x0000000f,0x0000000f" nodeset="0x00000003">
    <info name="HostName" value="box9"/>
    )" + node(0, "0x00000003,0x00000003", R"(
      <object type="Bridge" gp_index="40" bridge_type="0-1" depth="0" bridge_pci="0000:[40-46]">
        <object type="Bridge" gp_index="41" bridge_type="1-1" depth="1" bridge_pci="0000:[41-45]" pci_busid="0000:40:01.1" pci_type="0604 [1022:14ab] [1022:1453] 01" pci_link_speed="31.507692">
          <object type="Bridge" gp_index="42" bridge_type="1-1" depth="2" bridge_pci="0000:[42-45]" pci_busid="0000:41:00.0" pci_type="0604 [1000:c030] [1000:0144] b0" pci_link_speed="31.507692">
            <object type="Bridge" gp_index="43" bridge_type="1-1" depth="3" bridge_pci="0000:[43-43]" pci_busid="0000:42:00.0" pci_type="0604 [1000:c030] [1000:0144] b0" pci_link_speed="63.015385">
              <object type="PCIDev" gp_index="44" pci_busid="0000:43:00.0" pci_type="0302 [10de:2235] [10de:145a] a1" pci_link_speed="63.015385">
                <info name="PCIVendor" value="NVIDIA Corporation"/>
                <info name="PCIDevice" value="GA102GL [A40]"/>
                <info name="PCISlot" value="5"/>
                <object type="OSDev" gp_index="45" name="cuda1" subtype="CUDA" osdev_type="5"/>
                <object type="OSDev" gp_index="46" name="nvml0" subtype="NVML" osdev_type="1"><info name="GPUModel" value="NVIDIA A40"/></object>
              </object>
            </object>
            <object type="Bridge" gp_index="47" bridge_type="1-1" depth="3" bridge_pci="0000:[44-44]" pci_busid="0000:42:01.0" pci_type="0604 [1000:c030] [1000:0144] b0" pci_link_speed="15.753846">
              <object type="PCIDev" gp_index="48" pci_busid="0000:44:00.0" pci_type="0302 [10de:2235] [10de:145a] a1" pci_link_speed="15.753846">
                <object type="OSDev" gp_index="49" name="cuda0" subtype="CUDA" osdev_type="5"/>
                <object type="OSDev" gp_index="50" name="nvml1" subtype="NVML" osdev_type="1"/>
              </object>
            </object>
          </object>
        </object>
      </object>
)") + node(1, "0x0000000c,,0x0000000c", R"(
      <object type="Bridge" gp_index="60" bridge_type="0-1" depth="0" bridge_pci="0000:[c0-c1]">
        <object type="PCIDev" gp_index="62" pci_busid="0000:c0:05.0" pci_type="0207 [15b3:1021] [15b3:0041] 00" pci_link_speed="0.000000">
          <object type="OSDev" gp_index="63" name="ib0" osdev_type="2"><info name="Address" value="00:00:00:00:00:01"/></object>
          <object type="OSDev" gp_index="64" name="mlx5_2" osdev_type="3"><info name="NodeGUID" value="0000:0000:0000:0001"/></object>
        </object>
        <object type="PCIDev" gp_index="65" pci_busid="0000:c0:06.0" pci_type="0108 [144d:a80a] [144d:a801] 00"/>
      </object>
)") + R"(  </object>
  <distances2 type="OSDev" nbobjs="2" kind="9" name="NVLinkBandwidth" indexing="gp">
    <indexes length="5">46 50</indexes>
    <u64values length="29">1000000 100000 100000 1000000 </u64values>
  </distances2>
</topology>
)";

TEST(HwlocXml, NestingIsTheTree) {
  const MachineFacts facts = facts_of(small_box);
  ASSERT_EQ(facts.devices.size(), 8u);
  EXPECT_EQ(only(facts.devices.at("0000:43:00.0").parent), "0000:42:00.0");
  EXPECT_EQ(only(facts.devices.at("0000:42:00.0").parent), "0000:41:00.0");
  EXPECT_EQ(only(facts.devices.at("0000:40:01.1").parent), "");
  EXPECT_EQ(only(facts.devices.at("0000:40:01.1").root_bus), "0000:40");
  EXPECT_EQ(only(facts.devices.at("0000:41:00.0").secondary_bus), 0x42);
  EXPECT_EQ(only(facts.devices.at("0000:41:00.0").subordinate_bus), 0x45);
  EXPECT_TRUE(facts.devices.at("0000:41:00.0").root_bus.empty());
  EXPECT_TRUE(facts.notes.empty());
}

TEST(HwlocXml, FunctionsSayWhatTheyAre) {
  const MachineFacts facts = facts_of(small_box);
  const PciFacts& gpu = facts.devices.at("0000:43:00.0");
  EXPECT_EQ(only(gpu.class_code), 0x030200u);
  EXPECT_EQ(only(gpu.vendor), 0x10deu);
  EXPECT_EQ(only(gpu.device), 0x2235u);
  EXPECT_EQ(only(gpu.name), "NVIDIA Corporation GA102GL [A40]");
  EXPECT_EQ(only(gpu.slot), "5");
  EXPECT_EQ(only(gpu.gpu_model), "NVIDIA A40");
  EXPECT_EQ(only(facts.devices.at("0000:44:00.0").gpu_model), "NVIDIA A40") << "by its id";
  EXPECT_EQ(only(gpu.sm), 86);
  EXPECT_EQ(only(facts.devices.at("0000:c0:06.0").class_code), 0x010802u) << "hwloc leaves out the last byte";
  EXPECT_NE(gpu.class_code.all().front().from.find(" (pci_type)"), std::string::npos);
}

TEST(HwlocXml, NvidiaSmisNumbersGoBeforeCudas) {
  const MachineFacts facts = facts_of(small_box);
  EXPECT_EQ(only(facts.devices.at("0000:43:00.0").gpu_index), 0);
  EXPECT_EQ(only(facts.devices.at("0000:44:00.0").gpu_index), 1);
  std::string without = small_box;
  for (const char* name : {"nvml0", "nvml1"}) without.replace(without.find(name), 5, "card7");
  EXPECT_EQ(only(facts_of(without).devices.at("0000:43:00.0").gpu_index), 1) << "cuda1";
}

TEST(HwlocXml, AdaptersHaveTheirRdmaName) {
  const MachineFacts facts = facts_of(small_box);
  EXPECT_EQ(only(facts.devices.at("0000:c0:05.0").nic_name), "mlx5_2");
  EXPECT_EQ(only(facts.devices.at("0000:c0:05.0").numa), 1);
  EXPECT_EQ(only(facts.devices.at("0000:c0:05.0").parent), "");
}

TEST(HwlocXml, NumaNodesHaveCoresAndPackages) {
  const MachineFacts facts = facts_of(small_box);
  ASSERT_EQ(facts.cpus.size(), 2u);
  EXPECT_EQ(only(facts.cpus.at(0).cores), "0-1,32-33");
  EXPECT_EQ(only(facts.cpus.at(1).cores), "2-3,66-67") << "words of zeros are empty";
  EXPECT_EQ(only(facts.cpus.at(1).socket), 1);
  EXPECT_EQ(only(facts.cpus.at(1).vendor), "amd");
  EXPECT_EQ(only(facts.cpus.at(0).model), "AMD EPYC 9354 32-Core Processor");
  EXPECT_EQ(only(facts.devices.at("0000:42:01.0").numa), 0);
  EXPECT_EQ(only(facts.host), "box9");
}

TEST(HwlocXml, MemoryWithoutCoresIsNoCpu) {
  const MachineFacts facts = facts_of(R"(<topology version="2.0"><object type="Machine">
    <object type="NUMANode" os_index="2" cpuset="0x0" nodeset="0x00000004"/></object></topology>)");
  EXPECT_TRUE(facts.cpus.empty());
}

TEST(HwlocXml, NvlinkBandwidthsAreLinks) {
  const MachineFacts facts = facts_of(small_box);
  ASSERT_EQ(facts.nvlinks.size(), 2u) << "the diagonal is no link";
  EXPECT_EQ(facts.nvlinks[0].from, "0000:43:00.0");
  EXPECT_EQ(facts.nvlinks[0].to, "0000:44:00.0");
  EXPECT_EQ(facts.nvlinks[0].count, 4) << "100 GB/s are four of 25";
  EXPECT_EQ(facts.nvlinks[0].rate, BytesPerSecond(25e9));
}

TEST(HwlocXml, NvswitchesAreOneTarget) {
  const MachineFacts facts = facts_of(R"(<topology version="2.0"><object type="Machine">
    <object type="PCIDev" gp_index="1" pci_busid="0000:07:00.0" pci_type="0302 [10de:20b2] [10de:1463] a1"/>
    <object type="PCIDev" gp_index="2" pci_busid="0000:08:00.0" pci_type="0680 [10de:1af1] [10de:1463] a1"/>
    <object type="PCIDev" gp_index="3" pci_busid="0000:09:00.0" pci_type="0680 [10de:1af1] [10de:1463] a1"/></object>
    <distances2hetero nbobjs="3" kind="25" name="NVLinkBandwidth"><indexes length="1">PCIDev:1 PCIDev:2 PCIDev:3</indexes>
    <u64values length="1">0 50000 50000</u64values><u64values length="1">50000 0 0 50000 0 0</u64values></distances2hetero>
    </topology>)");
  ASSERT_EQ(facts.nvlinks.size(), 1u);
  EXPECT_EQ(facts.nvlinks[0].from, "0000:07:00.0");
  EXPECT_EQ(facts.nvlinks[0].to, "");
  EXPECT_EQ(facts.nvlinks[0].count, 4);
}

TEST(HwlocXml, LinkSpeedsAreKeptWhereOneLinkMakesThem) {
  using Link = std::optional<std::pair<PcieRate, int>>;
  EXPECT_EQ(link_of_hwloc_speed(63.015385), Link(std::pair(PcieRate::gen5, 16)));
  EXPECT_EQ(link_of_hwloc_speed(8.0), Link(std::pair(PcieRate::gen2, 16)));
  EXPECT_EQ(link_of_hwloc_speed(0.25), Link(std::pair(PcieRate::gen1, 1)));
  EXPECT_EQ(link_of_hwloc_speed(121.0), Link(std::pair(PcieRate::gen6, 16)));
  EXPECT_EQ(link_of_hwloc_speed(15.753846), std::nullopt) << "Gen3 x16, Gen4 x8, Gen5 x4";
  EXPECT_EQ(link_of_hwloc_speed(0), std::nullopt);
  EXPECT_EQ(link_of_hwloc_speed(std::nan("")), std::nullopt);
  const MachineFacts facts = facts_of(small_box);
  EXPECT_EQ(only(facts.devices.at("0000:43:00.0").rate), PcieRate::gen5);
  EXPECT_EQ(only(facts.devices.at("0000:43:00.0").width), 16);
  EXPECT_TRUE(facts.devices.at("0000:44:00.0").rate.empty());
}

TEST(HwlocXml, WhatIsMissingIsNotedWithTheCommand) {
  const std::string bare = R"(<topology version="2.0"><object type="Machine"/></topology>)";
  EXPECT_TRUE(noted(facts_of(bare), "lstopo --whole-io"));
  EXPECT_TRUE(noted(facts_of(R"(<topology version="3.0"><object type="Machine"/></topology>)"),
                    "lstopo --export-xml-flags v2"));
  EXPECT_NE(refusal([] { facts_of("<system version=\"1\"/>"); }).find("<topology>"), std::string::npos);
}

TEST(HwlocXml, WithoutBridgesNothingIsAbove) {
  const MachineFacts facts = facts_of(R"(<topology version="2.0"><object type="Machine" nodeset="0x3">
    <object type="PCIDev" pci_busid="0000:07:00.0" pci_type="0302 [10de:20b2] [10de:1463] a1"/></object></topology>)");
  EXPECT_TRUE(facts.devices.at("0000:07:00.0").parent.empty());
  EXPECT_TRUE(facts.devices.at("0000:07:00.0").numa.empty()) << "local to two nodes";
}

TEST(HwlocXml, CutAnywhereItStatesNothingFalse) {
  const MachineFacts whole = facts_of(small_box);
  for (std::size_t length = 0; length < small_box.size(); ++length) {
    MachineFacts part;
    if (!refusal([&] { read_hwloc_xml(small_box.substr(0, length), "box.xml", part); }).empty()) continue;
    for (const auto& [address, device] : part.devices) {
      ASSERT_EQ(whole.devices.count(address), 1u) << length;
      const PciFacts& full = whole.devices.at(address);
      EXPECT_TRUE(within(device.parent, full.parent) && within(device.class_code, full.class_code) &&
                  within(device.rate, full.rate) && within(device.numa, full.numa) &&
                  within(device.slot, full.slot) && within(device.secondary_bus, full.secondary_bus))
          << length << " " << address;
    }
    for (const auto& [numa, cpu] : part.cpus)
      EXPECT_TRUE(within(cpu.cores, whole.cpus.at(numa).cores)) << length;
  }
}

/// A live topology, as libhwloc sees this machine, whatever it is.
TEST(HwlocFacts, OfThisMachineAreWhatLibhwlocSays) {
  hwloc_topology_t topology = nullptr;
  ASSERT_EQ(hwloc_topology_init(&topology), 0);
  hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL);
  ASSERT_EQ(hwloc_topology_load(topology), 0);
  MachineFacts facts;
  add_hwloc_facts(topology, "hwloc", facts);
  int functions = 0;
  for (hwloc_obj_t at = nullptr; (at = hwloc_get_next_pcidev(topology, at)) != nullptr; ++functions) {
    char address[32];
    const auto& pci = at->attr->pcidev;
    std::snprintf(address, sizeof address, "%04x:%02x:%02x.%x", static_cast<unsigned>(pci.domain), pci.bus,
                  pci.dev, pci.func);
    ASSERT_EQ(facts.devices.count(address), 1u) << address;
    EXPECT_EQ(only(facts.devices.at(address).vendor), pci.vendor_id);
    EXPECT_EQ(only(facts.devices.at(address).device), pci.device_id);
    EXPECT_EQ(facts.devices.at(address).vendor.all().front().from, "hwloc (pci_type)");
  }
  EXPECT_GE(static_cast<int>(facts.devices.size()), functions);
  EXPECT_FALSE(facts.cpus.empty());
  hwloc_topology_destroy(topology);
}

}  // namespace
}  // namespace lanecast
