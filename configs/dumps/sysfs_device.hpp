#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "configs/dumps/facts.hpp"
#include "configs/dumps/sysfs_tree.hpp"

namespace lanecast {

/// Files of a system together with the name that statements give them.
struct SystemText {
  const SystemFiles& files;
  std::string from;  // "box.txt", "live"

  /// A file's text without blanks and line ends around it; nothing where it is absent or empty.
  std::optional<std::string> value(const std::string& path) const;

  /// "box.txt:41 (/sys/bus/pci/devices/0000:3b:00.0/numa_node)"
  std::string place(const std::string& path) const;
};

/// A GPU by its class and vendor, as `role_of` judges: no console of a management controller or emulator.
bool is_accelerator(std::uint32_t class_code, std::uint32_t vendor);

bool is_bridge(std::uint32_t class_code);   // PCI to PCI, both sides of PCIe switches too
bool is_network(std::uint32_t class_code);  // Ethernet, InfiniBand

/// Whether all is read of a function; of others only where it sits and what it is.
bool is_read_in_full(std::uint32_t class_code, std::uint32_t vendor);

/// What reading one PCI function brought beside the facts.
struct SysfsDevice {
  std::string address;
  std::optional<std::uint32_t> class_code;
  std::optional<std::uint32_t> vendor;
  std::optional<int> slot_below;     // of a port: number of the physical slot that it leads to
  bool capabilities_hidden = false;  // they need root
  bool window_unassigned = false;    // a GPU whose memory window got no address
};

/// Adds what sysfs says about one PCI function.
///
/// @param folder  of the function, among /sys/bus/pci/devices
/// @return        nothing, and nothing added, where the folder is no PCI function, or a virtual function
/// (SR-IOV): those have no link of their own
std::optional<SysfsDevice> read_sysfs_device(const SystemText& system, const std::string& folder,
                                             MachineFacts& facts);

/// The address of the PCI function that a path of sysfs lies in, "0000:3b:00.0".
std::optional<std::string> function_of(const std::string& resolved_path);

}  // namespace lanecast
