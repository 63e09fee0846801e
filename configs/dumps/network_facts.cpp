#include "configs/dumps/network_facts.hpp"

#include <algorithm>
#include <set>

#include "configs/dumps/sysfs_values.hpp"

namespace lanecast {
namespace {

std::vector<std::string> names_in(const SystemText& system, const std::string& folder) {
  return system.files.list(folder).value_or(std::vector<std::string>());
}

/// The function that a port's `device` leads to, if it is a network adapter among the facts.
PciFacts* adapter_of(const SystemText& system, const std::string& port, MachineFacts& facts) {
  const std::optional<std::string> path = system.files.resolve(port + "/device");
  const std::optional<std::string> address = path ? function_of(*path) : std::nullopt;
  const auto device = address ? facts.devices.find(*address) : facts.devices.end();
  if (device == facts.devices.end() || device->second.class_code.empty()) return nullptr;
  return is_network(device->second.class_code.all().front().value) ? &device->second : nullptr;
}

/// The rate of the fastest port that is up: a port that is down shows the slowest rate of its kind.
void add_infiniband_rate(const SystemText& system, const std::string& adapter, PciFacts& device) {
  BytesPerSecond fastest{0};
  std::string from;
  for (const std::string& port : names_in(system, adapter + "/ports")) {
    const std::string folder = adapter + "/ports/" + port;
    const std::string state = system.value(folder + "/state").value_or("ACTIVE");
    const auto rate = port_rate(system.value(folder + "/rate").value_or(""));
    if (state.find("ACTIVE") == std::string::npos || !rate || *rate <= fastest) continue;
    fastest = *rate;
    from = system.place(folder + "/rate");
  }
  if (fastest > BytesPerSecond(0)) device.nic_rate.add(fastest, from);
}

}  // namespace

void add_network_facts(const SystemText& system, MachineFacts& facts) {
  std::set<const PciFacts*> named;
  const std::string infiniband = "/sys/class/infiniband";
  for (const std::string& name : names_in(system, infiniband)) {
    const std::string adapter = infiniband + "/" + name;
    PciFacts* device = adapter_of(system, adapter, facts);
    if (device == nullptr || !named.insert(device).second) continue;
    device->nic_name.add(name, system.place(adapter));
    add_infiniband_rate(system, adapter, *device);
  }
  const std::string net = "/sys/class/net";
  for (const std::string& name : names_in(system, net)) {
    PciFacts* device = adapter_of(system, net + "/" + name, facts);
    if (device == nullptr || !named.insert(device).second) continue;
    device->nic_name.add(name, system.place(net + "/" + name));
    const std::string file = net + "/" + name + "/speed";
    const std::optional<int> megabits = whole_number(system.value(file).value_or(""));
    if (megabits && *megabits > 0)
      device->nic_rate.add(BytesPerSecond(*megabits * 1e6 / 8), system.place(file));
  }
}

}  // namespace lanecast
