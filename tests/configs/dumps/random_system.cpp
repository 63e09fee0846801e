#include <random>

#include "tests/configs/dumps/fake_system.hpp"

namespace lanecast {
namespace {

/// Decides by a fixed sequence. Sum and remainder only: the standard's distributions differ between
/// libraries.
class Dice {
 public:
  explicit Dice(unsigned seed) : engine_(seed) {}
  unsigned below(unsigned sides) { return static_cast<unsigned>(engine_() % sides); }
  bool often() { return below(4) != 0; }
  bool rarely() { return below(6) == 0; }
  template <class... Texts>
  std::string one_of(Texts... texts) {
    const std::vector<std::string> all = {texts...};
    return all[below(static_cast<unsigned>(all.size()))];
  }

 private:
  std::mt19937 engine_;
};

std::string two_digits(unsigned value) {
  constexpr const char* digits = "0123456789abcdef";
  return {digits[value >> 4 & 15], digits[value & 15]};
}

class Writer {
 public:
  Writer(unsigned seed, const FakeSystem& system) : dice_(seed), system_(system) {}

  void host();
  void tree();

 private:
  void link_files(const std::string& folder);
  void error_files(const std::string& folder);
  std::string config_bytes(unsigned port);
  std::string bridge(const std::string& above, unsigned port);
  void endpoint(const std::string& above);
  void gpu(const std::string& folder, const std::string& address);
  void adapter(const std::string& folder, const std::string& address);
  std::string next_address();

  Dice dice_;
  const FakeSystem& system_;
  unsigned bus_ = 0;
  unsigned adapters_ = 0;
};

void Writer::link_files(const std::string& folder) {
  const auto speed = [&] {
    return dice_.one_of("2.5 GT/s PCIe\n", "8.0 GT/s PCIe\n", "8 GT/s\n", "16.0 GT/s PCIe\n",
                        "32.0 GT/s PCIe\n", "64.0 GT/s PCIe\n", "Unknown\n", "Unknown speed\n", "\n");
  };
  const auto width = [&] { return dice_.one_of("1\n", "4\n", "8\n", "16\n", "0\n", "63\n", "255\n", "16"); };
  if (dice_.often()) system_.write(folder + "/max_link_speed", speed());
  if (dice_.often()) system_.write(folder + "/max_link_width", width());
  if (dice_.often()) system_.write(folder + "/current_link_speed", speed());
  if (dice_.often()) system_.write(folder + "/current_link_width", width());
  if (dice_.often()) system_.write(folder + "/link/l1_aspm", dice_.one_of("0\n", "1\n"));
  if (dice_.rarely()) system_.write(folder + "/link/l0s_aspm", dice_.one_of("0\n", "1\n"));
  if (dice_.often()) system_.write(folder + "/power/runtime_status", dice_.one_of("active\n", "suspended\n"));
  if (dice_.rarely()) system_.write(folder + "/power_state", dice_.one_of("D0\n", "D3cold\n", "unknown\n"));
  if (dice_.often()) system_.write(folder + "/numa_node", dice_.one_of("0\n", "1\n", "-1\n"));
}

void Writer::error_files(const std::string& folder) {
  const std::string count = std::to_string(dice_.below(1000));
  if (dice_.often()) {
    system_.write(
        folder + "/aer_dev_correctable",
        dice_.one_of("RxErr 0\nBadTLP " + count + "\nTOTAL_ERR_COR " + count + "\n",
                     "Receiver Error " + count + "\nBad TLP 7\nReplay Timer Timeout 1\n", "garbage\n"));
  }
  if (dice_.often())
    system_.write(folder + "/aer_dev_nonfatal", "Undefined 0\nTOTAL_ERR_NONFATAL " + count + "\n");
  if (dice_.often()) system_.write(folder + "/aer_dev_fatal", "TOTAL_ERR_FATAL 1\n");
  if (dice_.rarely()) system_.write(folder + "/aer_rootport_total_err_cor", count + "\n");
  if (dice_.rarely()) system_.write(folder + "/aer_rootport_total_err_fatal", count + "\n");
}

std::string Writer::config_bytes(unsigned port) {
  const std::size_t sizes[] = {0, 63, 64, 256, 4096, 4096};
  FakeConfig config(sizes[dice_.below(6)]);
  if (dice_.rarely()) return std::string(config.bytes().size(), static_cast<char>(0xff));
  config.dword(0, 0x12345678).express(port);
  for (std::size_t at = 0x44; at < 0x80; at += 4) config.dword(at, dice_.below(~0U));
  if (dice_.often())
    config.dword(0x100, 0x14810001).dword(0x104, dice_.below(~0U)).dword(0x110, dice_.below(~0U));
  if (dice_.often()) config.dword(0x148, 0x0001000d).word(0x14e, dice_.below(128));
  return config.bytes();
}

std::string Writer::next_address() { return "0000:" + two_digits(++bus_) + ":00.0"; }

/// @return  what stands above the functions behind it
std::string Writer::bridge(const std::string& above, unsigned port) {
  const std::string address = next_address();
  const std::string folder = system_.function(above, address, "0x060400", "0x1000");
  link_files(folder);
  error_files(folder);
  if (dice_.often()) system_.write(folder + "/config", config_bytes(port));
  if (dice_.often()) system_.write(folder + "/secondary_bus_number", std::to_string(bus_ + 1) + "\n");
  if (dice_.often()) system_.write(folder + "/subordinate_bus_number", std::to_string(bus_ + 9) + "\n");
  return above + "/" + address;
}

void Writer::gpu(const std::string& folder, const std::string& address) {
  system_.write(folder + "/resource",
                dice_.one_of("0x00000000d0000000 0x00000000d0ffffff 0x0000000000040200\n"
                             "0x0000387000000000 0x0000387fffffffff 0x000000000014220c\n",
                             "0x0000000000000000 0x0000000fffffffff 0x000000002014220c\n",
                             "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"));
  const std::string group = "/sys/kernel/iommu_groups/" + std::to_string(bus_);
  if (dice_.often()) {
    system_.write(group + "/type", dice_.one_of("DMA\n", "DMA-FQ\n", "identity\n"));
    system_.link(folder + "/iommu_group", group);
  }
  system_.write("/proc/driver/nvidia/gpus/" + address + "/information",
                "Model: \t\t " + dice_.one_of("Example Accelerator 900", "Unknown") +
                    "\nIRQ:   \t\t 7\nGPU UUID: \t GPU-"
                    "11111111-2222\nBus Location: \t " +
                    address + "\n");
}

void Writer::adapter(const std::string& folder, const std::string& address) {
  const std::string number = std::to_string(adapters_++);
  system_.link("/sys/class/net/eth" + number + "/device", folder);
  system_.write("/sys/class/net/eth" + number + "/speed", dice_.one_of("-1\n", "25000\n", "400000\n"));
  if (dice_.often()) {
    const std::string infiniband = "/sys/class/infiniband/mlx5_" + number;
    system_.link(infiniband + "/device", folder);
    system_.write(infiniband + "/ports/1/rate",
                  dice_.one_of("400 Gb/sec (4X NDR)\n", "2.5 Gb/sec (1X SDR)\n"));
    system_.write(infiniband + "/ports/1/state", dice_.one_of("4: ACTIVE\n", "1: DOWN\n"));
  }
  if (!dice_.rarely()) return;
  const std::string above = folder.substr(std::string("/sys/devices/").size());
  const std::string virtual_function = address.substr(0, address.size() - 1) + "5";
  const std::string other =
      system_.function(above.substr(0, above.rfind('/')), virtual_function, "0x020000", "0x1000");
  system_.link(other + "/physfn", folder);
}

void Writer::endpoint(const std::string& above) {
  const std::string address = next_address();
  const std::string class_code =
      dice_.one_of("0x030200", "0x120000", "0x020700", "0x020000", "0x010802", "0x068000");
  const std::string vendor = dice_.one_of("0x10de", "0x1002", "0x1a03");
  const std::string folder = system_.function(above, address, class_code, vendor);
  link_files(folder);
  error_files(folder);
  if (dice_.often()) system_.write(folder + "/config", config_bytes(0));
  if (dice_.often()) system_.write(folder + "/device", "0x2335\n");
  if (class_code.compare(0, 4, "0x02") == 0) adapter(folder, address);
  if (class_code == "0x030200" || class_code == "0x120000") gpu(folder, address);
  if (dice_.rarely()) {
    system_.write("/sys/bus/pci/slots/" + std::to_string(bus_) + "/address",
                  address.substr(0, address.size() - 2) + "\n");
  }
}

void Writer::tree() {
  const unsigned roots = 1 + dice_.below(3);
  for (unsigned root = 0; root < roots; ++root) {
    const std::string bus = "pci0000:" + two_digits(0x40 * root);
    const unsigned ports = 1 + dice_.below(3);
    for (unsigned port = 0; port < ports; ++port) {
      const std::string below_root = bridge(bus, 4);
      if (dice_.below(2) == 0) {
        endpoint(below_root);
        continue;
      }
      const std::string upstream = bridge(below_root, 5);
      for (unsigned each = dice_.below(4); each > 0; --each) endpoint(bridge(upstream, 6));
    }
  }
}

void Writer::host() {
  system_.write("/proc/sys/kernel/hostname",
                dice_.one_of("box7\n", "@marked\n", "\\box\n", "# box\n", "bare"));
  system_.write(
      "/proc/cpuinfo",
      dice_.one_of("processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Example 9000\nflags\t\t: fpu "
                   "hypervisor sse\n\nprocessor\t: 1\nvendor_id\t: Other\n",
                   "vendor_id\t: AuthenticAMD\nmodel name\t: Example Epic\nflags\t\t: fpu\n\n",
                   "processor\t: 0\nCPU implementer\t: 0x41\n\n", "cpu\t\t: POWER9, altivec supported\n\n"));
  system_.write("/proc/cmdline",
                dice_.one_of("root=UUID=1-2 quiet iommu=pt\n", "ro intel_iommu=on\n", "quiet\n"));
  if (dice_.often()) {
    for (const char* node : {"0", "1"}) {
      const std::string folder = std::string("/sys/devices/system/node/node") + node;
      system_.write(folder + "/cpulist", dice_.one_of("0-15,32-47\n", "16\n", "\n"));
    }
    system_.write("/sys/devices/system/node/possible", "0-1\n");
  }
  system_.write("/sys/devices/system/cpu/online", "0-47\n");
  system_.write("/sys/devices/system/cpu/cpu0/topology/physical_package_id", "0\n");
  system_.write("/sys/devices/system/cpu/cpu16/topology/physical_package_id", dice_.one_of("1\n", "-1\n"));
  if (dice_.often()) system_.folder("/sys/kernel/iommu_groups");
  system_.folder("/sys/class/net/lo");
  if (dice_.often()) {
    system_.write(
        "/proc/driver/nvidia/version",
        dice_.one_of(
            "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  Mon Jan  1\nGCC version: 12\n",
            "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build\n"));
  }
}

}  // namespace

void write_random_system(unsigned seed, const FakeSystem& system) {
  Writer writer(seed, system);
  writer.host();
  writer.tree();
}

}  // namespace lanecast
