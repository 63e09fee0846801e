#include "configs/dumps/device_role.hpp"

#include <algorithm>
#include <initializer_list>

namespace lanecast {
namespace {

constexpr std::uint32_t nvidia = 0x10de, ati = 0x1002, intel = 0x8086, mellanox = 0x15b3;

template <class T>
T first_or(const Statements<T>& statements, T otherwise) {
  return statements.empty() ? otherwise : statements.all().front().value;
}

bool has_any(const std::string& text, std::initializer_list<const char*> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const char* part) { return text.find(part) != std::string::npos; });
}

/// By the vendor's part of the name as `lspci` prints it (pci.ids).
std::uint32_t vendor_by_name(const std::string& name) {
  if (has_any(name, {"NVIDIA", "nVidia"})) return nvidia;
  if (has_any(name, {"[AMD/ATI]", "Radeon", "Instinct"})) return ati;
  if (has_any(name, {"Mellanox"})) return mellanox;
  if (has_any(name, {"Intel Corporation"})) return intel;
  return 0;
}

std::uint32_t vendor_of(const PciFacts& facts) {
  return first_or(facts.vendor, vendor_by_name(first_or<std::string>(facts.name, "")));
}

/// Adapters that a hypervisor imitates carry no traffic of interest.
bool is_imitated(std::uint32_t vendor) {
  return vendor == 0x1af4 || vendor == 0x15ad || vendor == 0x1414 || vendor == 0x80ee || vendor == 0x5853;
}

DeviceRole display_role(const PciFacts& facts, std::uint32_t class_code) {
  const std::uint32_t vendor = vendor_of(facts);
  if (vendor == nvidia || vendor == ati) return DeviceRole::gpu;
  constexpr std::uint32_t display_other = 0x0380;
  if (vendor == intel) return class_code >> 8 == display_other ? DeviceRole::gpu : DeviceRole::other;
  // Hand-written topology files of clouds give nothing but the class.
  return vendor == 0 && facts.name.empty() ? DeviceRole::gpu : DeviceRole::other;
}

DeviceRole role_by_class(const PciFacts& facts, std::uint32_t class_code) {
  switch (class_code >> 16) {
    case 0x03:
    case 0x12:
      return display_role(facts, class_code);
    case 0x02:
      return is_imitated(vendor_of(facts)) ? DeviceRole::other : DeviceRole::adapter;
    default:
      break;
  }
  constexpr std::uint32_t infiniband = 0x0c06, pci_bridge = 0x0604, other_bridge = 0x0680;
  if (class_code >> 8 == infiniband) return DeviceRole::adapter;
  if (class_code >> 8 == pci_bridge) return DeviceRole::bridge;
  // 0680 with 01 behind are bridges on the CPU's side (facts.md A9).
  if (class_code == other_bridge << 8 && vendor_of(facts) == nvidia) return DeviceRole::nvswitch;
  return DeviceRole::other;
}

bool is_bridge_by_position(const PciFacts& facts) {
  const PciePort port = first_or(facts.port, PciePort::other);
  return !facts.secondary_bus.empty() || port == PciePort::root_port || port == PciePort::upstream_port ||
         port == PciePort::downstream_port;
}

/// `lspci -tv` prints names alone. A card's sound, USB and bridge functions have names of their own.
DeviceRole role_by_name(const std::string& name, std::uint32_t vendor) {
  const bool side_function =
      has_any(name, {"Audio", "USB", "UCSI", "Bridge", "bridge", "Port of", "SMBus", "Serial", "SATA", "IDE",
                     "Memory", "Host", "ISA", "LPC", "nForce", "MCP"});
  if (has_any(name, {"NVSwitch"})) return DeviceRole::nvswitch;
  if (vendor == nvidia || vendor == ati) return side_function ? DeviceRole::other : DeviceRole::gpu;
  if (vendor == mellanox) return side_function ? DeviceRole::other : DeviceRole::adapter;
  const bool network =
      has_any(name, {"Ethernet", "Infiniband", "InfiniBand", "Network", "ConnectX", "BlueField", "Omni-Path",
                     "Elastic Fabric Adapter", "BASE-T", "NetXtreme"});
  return network && !side_function ? DeviceRole::adapter : DeviceRole::other;
}

}  // namespace

bool is_stated_gpu(const PciFacts& facts) {
  return !facts.gpu_model.empty() || !facts.gpu_index.empty() || !facts.sm.empty();
}

DeviceRole role_of(const PciFacts& facts) {
  if (is_stated_gpu(facts)) return DeviceRole::gpu;
  if (!facts.class_code.empty()) return role_by_class(facts, facts.class_code.all().front().value);
  if (!facts.nic_name.empty() || !facts.nic_rate.empty()) return DeviceRole::adapter;
  if (is_bridge_by_position(facts)) return DeviceRole::bridge;
  if (!facts.name.empty()) return role_by_name(facts.name.all().front().value, vendor_of(facts));
  return facts.vendor.empty() ? DeviceRole::unknown : DeviceRole::other;
}

std::string gpu_vendor(const PciFacts& facts) {
  switch (vendor_of(facts)) {
    case nvidia:
      return "nvidia";
    case ati:
      return "amd";
    case intel:
      return "intel";
    default:
      break;
  }
  const std::string model = first_or<std::string>(facts.gpu_model, "");
  if (has_any(model, {"NVIDIA", "Tesla", "GeForce", "Quadro"})) return "nvidia";
  return has_any(model, {"AMD", "Instinct", "Radeon"}) ? "amd" : "";
}

}  // namespace lanecast
