#include "configs/dumps/system_facts.hpp"

#include <algorithm>
#include <utility>

#include "configs/dumps/host_facts.hpp"
#include "configs/dumps/network_facts.hpp"
#include "configs/dumps/sysfs_device.hpp"
#include "configs/dumps/sysfs_values.hpp"

namespace lanecast {
namespace {

constexpr const char* kDevices = "/sys/bus/pci/devices";
constexpr const char* kSlots = "/sys/bus/pci/slots";
constexpr std::size_t kMostNamed = 4;  // addresses in one note

/// "0000:01:00.0, 0000:02:00.0 and 6 more"
std::string listed_addresses(const std::vector<std::string>& addresses) {
  std::string text;
  for (std::size_t i = 0; i < std::min(addresses.size(), kMostNamed); ++i) {
    text += (i == 0 ? "" : ", ") + addresses[i];
  }
  const std::size_t left = addresses.size() - std::min(addresses.size(), kMostNamed);
  return left == 0 ? text : text + " and " + std::to_string(left) + " more";
}

/// Slots that the firmware or a hotplug driver names: `address` is "0000:3b:00", without a function.
void add_named_slots(const SystemText& system, MachineFacts& facts) {
  for (const std::string& name : system.files.list(kSlots).value_or(std::vector<std::string>())) {
    const std::string file = std::string(kSlots) + "/" + name + "/address";
    const std::optional<std::string> text = system.value(file);
    const auto address = text ? pci_address(*text + ".0") : std::nullopt;
    const auto device = address ? facts.devices.find(*address) : facts.devices.end();
    if (device != facts.devices.end()) device->second.slot.add(name, system.place(file));
  }
}

/// Slot numbers of ports count where nobody names the slots.
void add_port_slots(const SystemText& system, const std::map<std::string, int>& slots, MachineFacts& facts) {
  for (auto& [address, device] : facts.devices) {
    if (device.parent.empty() || !device.slot.empty()) continue;
    const std::string& port = device.parent.all().front().value;
    const auto slot = slots.find(port);
    if (slot == slots.end()) continue;
    device.slot.add(std::to_string(slot->second),
                    system.place(kDevices + ("/" + port) + "/config") + " (SltCap)");
  }
}

void add_note(const std::vector<std::string>& addresses, const std::string& text, const std::string& from,
              MachineFacts& facts) {
  if (!addresses.empty()) facts.notes.push_back(from + ": " + listed_addresses(addresses) + ": " + text);
}

}  // namespace

int add_system_facts(const SystemFiles& files, const std::string& from, MachineFacts& facts) {
  const SystemText system{files, from};
  int taken = 0;
  std::map<std::string, int> slots;
  std::vector<std::string> hidden;
  std::vector<std::string> unassigned;
  std::vector<std::string> accelerators;
  for (const std::string& name : files.list(kDevices).value_or(std::vector<std::string>())) {
    const auto device = read_sysfs_device(system, std::string(kDevices) + "/" + name, facts);
    if (!device) continue;
    ++taken;
    if (device->slot_below) slots[device->address] = *device->slot_below;
    if (device->capabilities_hidden) hidden.push_back(device->address);
    if (device->window_unassigned) unassigned.push_back(device->address);
    if (is_accelerator(device->class_code.value_or(0), device->vendor.value_or(0))) {
      accelerators.push_back(std::string(kDevices) + "/" + name);
    }
  }
  add_named_slots(system, facts);
  add_port_slots(system, slots, facts);
  add_network_facts(system, facts);
  add_host_facts(system, accelerators, facts);
  add_note(hidden, "port types, payload sizes, ASPM and ACS need root; run again as root", from, facts);
  add_note(unassigned,
           "the window to the card's memory has no address; turn on decoding above 4 GiB in the firmware's "
           "setup",
           from, facts);
  return taken;
}

}  // namespace lanecast
