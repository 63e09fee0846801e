#include "configs/dumps/bridge_paths.hpp"

#include <algorithm>
#include <deque>

#include "configs/dumps/pci_position.hpp"
#include "configs/reading.hpp"

namespace lanecast {
namespace {

const PciFacts no_facts{};

std::string same(const std::string& text) {
  return text.empty() ? "none: it is on a root bus" : printable(text);
}

class PathReader {
 public:
  PathReader(const MachineFacts& facts, const std::set<std::string>& devices, OriginBook& book)
      : facts_(facts), devices_(devices), book_(book) {
    find_secondary_buses();
  }

  BridgePaths read() {
    for (const std::string& device : devices_) climb(device);
    for (const auto& [address, above] : paths_.above) {
      if (above.leads_up()) paths_.below[above.bridge].push_back(address);
    }
    for (auto& [bridge, below] : paths_.below) std::sort(below.begin(), below.end(), is_before);
    order_bridges();
    return std::move(paths_);
  }

 private:
  void find_secondary_buses() {
    for (const auto& [address, device] : facts_.devices) {
      if (device.secondary_bus.empty() || devices_.count(address) != 0) continue;
      const auto& stated = device.secondary_bus.all().front();
      if (stated.value < 1 || stated.value > 255) continue;
      const std::string bus = bus_in_domain_of(address, stated.value);
      if (bus == bus_of(address)) continue;
      const auto [known, is_new] = by_bus_.emplace(bus, Statement<std::string>{address, stated.from});
      if (!is_new)
        book_.contradict(
            {"bridge to bus " + bus, known->second.value, known->second.from, address, stated.from});
    }
  }

  AboveFunction find_above(const std::string& address) {
    const auto found = facts_.devices.find(address);
    const PciFacts& device = found == facts_.devices.end() ? no_facts : found->second;
    if (const auto parent = book_.judge("device " + address + ": bridge above", device.parent.all(), same)) {
      if (parent->value.empty()) return {AboveFunction::Kind::root_bus, "", parent->from};
      return {AboveFunction::Kind::bridge, parent->value, parent->from};
    }
    const auto by_bus = by_bus_.find(bus_of(address));
    if (by_bus != by_bus_.end() && by_bus->second.value != address)
      return {AboveFunction::Kind::bridge, by_bus->second.value, by_bus->second.from};
    if (const auto ancestor =
            book_.judge("device " + address + ": switch above", device.ancestor.all(), same))
      return {AboveFunction::Kind::ancestor, ancestor->value, ancestor->from};
    return {};
  }

  /// Upwards from a device, to where the way is known already or ends.
  void climb(const std::string& device) {
    std::set<std::string> walk;
    for (std::string at = device; paths_.above.count(at) == 0;) {
      walk.insert(at);
      AboveFunction above = find_above(at);
      if (above.leads_up() && (walk.count(above.bridge) != 0 || devices_.count(above.bridge) != 0)) {
        book_.note("the bridge above " + at + " cannot be " + above.bridge + " (" + above.from +
                   "), which is no bridge or hangs below it: what is above " + at + " is taken as unknown");
        above = {};
      }
      paths_.above[at] = above;
      if (!above.leads_up()) return;
      at = above.bridge;
    }
  }

  void order_bridges() {
    std::deque<std::string> open;
    for (const auto& [bridge, below] : paths_.below) {
      if (!paths_.above.at(bridge).leads_up()) open.push_back(bridge);
    }
    while (!open.empty()) {
      const std::string bridge = open.front();
      open.pop_front();
      paths_.bridges.push_back(bridge);
      for (const std::string& below : paths_.below.at(bridge)) {
        if (paths_.below.count(below) != 0) open.push_back(below);
      }
    }
  }

  const MachineFacts& facts_;
  const std::set<std::string>& devices_;
  OriginBook& book_;
  std::map<std::string, Statement<std::string>> by_bus_;  // the bridge whose secondary bus it is
  BridgePaths paths_;
};

}  // namespace

BridgePaths bridge_paths(const MachineFacts& facts, const std::set<std::string>& devices, OriginBook& book) {
  return PathReader(facts, devices, book).read();
}

}  // namespace lanecast
