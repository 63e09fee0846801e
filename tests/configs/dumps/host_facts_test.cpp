#include "configs/dumps/host_facts.hpp"

#include <gtest/gtest.h>

#include "configs/dumps/system_facts.hpp"
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

/// One GPU on a root port. @return  its folder
std::string write_gpu(const FakeSystem& system) {
  return system.function("pci0000:20/0000:20:01.0", "0000:21:00.0", "0x030200", "0x10de");
}

TEST(HostFacts, GiveEachNumaNodeItsSocketCoresAndProcessor) {
  const FakeSystem system;
  system.write("/proc/cpuinfo",
               "vendor_id\t: AuthenticAMD\nmodel name\t: Example Epic 9\nflags\t\t: fpu sse\n\n");
  system.write("/sys/devices/system/node/node0/cpulist", "0-15,32-47\n");
  system.write("/sys/devices/system/node/node1/cpulist", "16-31\n");
  system.write("/sys/devices/system/node/node2/cpulist", "\n");
  system.write("/sys/devices/system/cpu/cpu0/topology/physical_package_id", "0\n");
  system.write("/sys/devices/system/cpu/cpu16/topology/physical_package_id", "1\n");
  const MachineFacts facts = facts_of(system);
  ASSERT_EQ(facts.cpus.size(), 2U) << "a node without processors is memory only";
  EXPECT_EQ(only(facts.cpus.at(0).cores), "0-15,32-47");
  EXPECT_EQ(only(facts.cpus.at(1).socket), 1);
  EXPECT_EQ(only(facts.cpus.at(1).vendor), "amd");
  EXPECT_EQ(only(facts.cpus.at(1).model), "Example Epic 9");
  EXPECT_EQ(only(facts.virtualized), false);
}

TEST(HostFacts, AKernelWithoutNumaHasOneNode) {
  const FakeSystem system;
  system.write("/sys/devices/system/cpu/online", "0-7\n");
  const MachineFacts facts = facts_of(system);
  ASSERT_EQ(facts.cpus.size(), 1U);
  EXPECT_EQ(only(facts.cpus.at(0).cores), "0-7");
}

TEST(HostFacts, NameTheProcessorsVendorOnAllArchitectures) {
  const auto vendor = [](const std::string& cpuinfo) {
    const FakeSystem system;
    system.write("/proc/cpuinfo", cpuinfo);
    system.write("/sys/devices/system/cpu/online", "0\n");
    return only(facts_of(system).cpus.at(0).vendor);
  };
  EXPECT_EQ(vendor("vendor_id\t: GenuineIntel\n"), "intel");
  EXPECT_EQ(vendor("vendor_id\t: CentaurHauls\n"), "zhaoxin");
  EXPECT_EQ(vendor("vendor_id\t:   Shanghai  \n"), "zhaoxin");
  EXPECT_EQ(vendor("processor\t: 0\nCPU implementer\t: 0x41\n"), "arm");
  EXPECT_EQ(vendor("processor\t: 0\ncpu\t\t: POWER9, altivec supported\n"), "ibm");
  EXPECT_EQ(vendor("vendor_id\t: SomethingElse\n"), std::nullopt);
}

TEST(HostFacts, AHypervisorsFlagMeansAVirtualMachine) {
  const FakeSystem system;
  system.write("/proc/cpuinfo", "vendor_id\t: GenuineIntel\nflags\t\t: fpu hypervisor sse\n\n");
  EXPECT_EQ(only(facts_of(system).virtualized), true);
}

TEST(HostFacts, TheGpusGroupsSayWhetherTheIommuTranslates) {
  const auto translates = [](const std::string& type) {
    const FakeSystem system;
    system.link(write_gpu(system) + "/iommu_group", "/sys/kernel/iommu_groups/7");
    system.write("/sys/kernel/iommu_groups/7/type", type + "\n");
    system.write("/proc/cmdline", "iommu=pt\n");
    return only(facts_of(system).iommu_translation);
  };
  EXPECT_EQ(translates("DMA"), true) << "goes before what the command line asks for";
  EXPECT_EQ(translates("DMA-FQ"), true);
  EXPECT_EQ(translates("identity"), false);
}

TEST(HostFacts, TheConsolesAdapterDoesNotCountForTheIommu) {
  const FakeSystem system;
  const std::string console = system.function("pci0000:00", "0000:00:03.0", "0x030000", "0x1a03");
  system.link(console + "/iommu_group", "/sys/kernel/iommu_groups/1");
  system.write("/sys/kernel/iommu_groups/1/type", "DMA\n");
  system.link(write_gpu(system) + "/iommu_group", "/sys/kernel/iommu_groups/7");
  system.write("/sys/kernel/iommu_groups/7/type", "identity\n");
  EXPECT_EQ(only(facts_of(system).iommu_translation), false);
}

TEST(HostFacts, NoGroupsMeanNoIommu) {
  const FakeSystem system;
  write_gpu(system);
  system.folder("/sys/kernel/iommu_groups");
  system.write("/proc/cmdline", "quiet intel_iommu=on\n");
  EXPECT_EQ(only(facts_of(system).iommu_translation), false) << "asked for, but there is none";
}

TEST(HostFacts, WithoutKindsOfGroupsTheCommandLineTells) {
  const auto translates = [](const std::string& words) {
    const FakeSystem system;
    system.link(write_gpu(system) + "/iommu_group", "/sys/kernel/iommu_groups/7");
    system.folder("/sys/kernel/iommu_groups/7");
    system.write("/proc/cmdline", "quiet " + words + " ro\n");
    return only(facts_of(system).iommu_translation);
  };
  EXPECT_EQ(translates("intel_iommu=on"), true);
  EXPECT_EQ(translates("intel_iommu=on iommu=pt"), false);
  EXPECT_EQ(translates("iommu.passthrough=1"), false);
  EXPECT_EQ(translates("xiommu=pt"), std::nullopt);
}

TEST(HostFacts, ReadTheDriversVersionOfBothKernelModules) {
  const auto driver = [](const std::string& line) {
    const FakeSystem system;
    system.write("/proc/driver/nvidia/version",
                 "NVRM version: NVIDIA UNIX " + line + "\nGCC version:  gcc 12.2.0\n");
    return only(facts_of(system).driver);
  };
  EXPECT_EQ(driver("x86_64 Kernel Module  580.159.04  Mon Jan  1 00:00:00 UTC 2026"), "580.159.04");
  EXPECT_EQ(driver("Open Kernel Module for x86_64  570.86.15  Release Build  (nobody)"), "570.86.15");
  EXPECT_EQ(driver("Kernel Module"), std::nullopt) << "not the compiler's";
}

TEST(HostFacts, ReadTheDriversNamesOfGpus) {
  const FakeSystem system;
  system.write("/proc/driver/nvidia/gpus/0000:21:00.0/information",
               "Model: \t\t Example Accelerator 900\nIRQ:   \t\t 7\nBus Location: \t 0000:21:00.0\n");
  system.write("/proc/driver/nvidia/gpus/0000:22:00.0/information",
               "Model: \t\t Unknown\nBus Location: \t 0000:22:00.0\n");
  const MachineFacts facts = facts_of(system);
  EXPECT_EQ(only(facts.devices.at("0000:21:00.0").gpu_model), "Example Accelerator 900");
  EXPECT_EQ(facts.devices.count("0000:22:00.0"), 0U) << "no driver has talked to it";
}

TEST(HostFacts, NameAdaptersAfterInfinibandPortsOrElseInterfaces) {
  const FakeSystem system;
  const std::string adapter = system.function("pci0000:20", "0000:20:02.0", "0x020700", "0x15b3");
  const std::string other = system.function("pci0000:20", "0000:20:03.0", "0x020000", "0x8086");
  for (const char* name : {"eth4", "eth5"})
    system.link(std::string("/sys/class/net/") + name + "/device", adapter);
  system.write("/sys/class/net/eth4/speed", "100000\n");
  system.link("/sys/class/infiniband/mlx5_3/device", adapter);
  system.write("/sys/class/infiniband/mlx5_3/ports/1/rate", "400 Gb/sec (4X NDR)\n");
  system.write("/sys/class/infiniband/mlx5_3/ports/1/state", "4: ACTIVE\n");
  system.folder(other + "/virtio2");
  system.link("/sys/class/net/eth0/device", other + "/virtio2");
  system.write("/sys/class/net/eth0/speed", "25000\n");
  const MachineFacts facts = facts_of(system);
  EXPECT_EQ(only(facts.devices.at("0000:20:02.0").nic_name), "mlx5_3");
  EXPECT_EQ(only(facts.devices.at("0000:20:02.0").nic_rate), BytesPerSecond(50e9));
  EXPECT_EQ(only(facts.devices.at("0000:20:03.0").nic_name), "eth0");
  EXPECT_EQ(only(facts.devices.at("0000:20:03.0").nic_rate), BytesPerSecond(3.125e9));
}

TEST(HostFacts, APortThatIsDownHasNoRate) {
  const FakeSystem system;
  const std::string adapter = system.function("pci0000:20", "0000:20:02.0", "0x020700", "0x15b3");
  system.link("/sys/class/infiniband/mlx5_0/device", adapter);
  system.write("/sys/class/infiniband/mlx5_0/ports/1/rate", "2.5 Gb/sec (1X SDR)\n");
  system.write("/sys/class/infiniband/mlx5_0/ports/1/state", "1: DOWN\n");
  EXPECT_TRUE(facts_of(system).devices.at("0000:20:02.0").nic_rate.empty());
  const std::string other = system.function("pci0000:20", "0000:20:03.0", "0x020000", "0x8086");
  system.link("/sys/class/net/eth0/device", other);
  system.write("/sys/class/net/eth0/speed", "-1\n");
  EXPECT_TRUE(facts_of(system).devices.at("0000:20:03.0").nic_rate.empty());
}

TEST(HostFacts, TakeTheHostName) {
  const FakeSystem system;
  system.write("/proc/sys/kernel/hostname", "box7\n");
  EXPECT_EQ(only(facts_of(system).host), "box7");
}

}  // namespace
}  // namespace lanecast
