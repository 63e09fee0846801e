#include "configs/dumps/pci_tree.hpp"

#include <algorithm>

#include "configs/dumps/bridge_paths.hpp"
#include "configs/dumps/pci_position.hpp"

namespace lanecast {
namespace {

const PciFacts no_facts{};

std::string port_name(PciePort port) {
  switch (port) {
    case PciePort::root_port:
      return "root port";
    case PciePort::upstream_port:
      return "upstream port";
    case PciePort::downstream_port:
      return "downstream port";
    default:
      return "no port of a switch";
  }
}

class TreeBuilder {
 public:
  TreeBuilder(const MachineFacts& facts, BridgePaths paths, OriginBook& book)
      : facts_(facts), paths_(std::move(paths)), book_(book) {
    find_heights();
    for (const std::string& bridge : paths_.bridges) is_port_[bridge] = takes_part_as_port(bridge);
  }

  PciTree build(const std::vector<std::string>& devices) {
    for (const std::string& bridge : paths_.bridges) {
      if (!is_port_.at(bridge)) add_switch(bridge);
    }
    for (const std::string& device : devices)
      tree_.leaves.push_back(device.empty() ? TreeLeaf{} : leaf(device));
    return std::move(tree_);
  }

 private:
  const PciFacts& facts_of(const std::string& address) const {
    const auto found = facts_.devices.find(address);
    return found == facts_.devices.end() ? no_facts : found->second;
  }

  /// Bridges on the longest way down, itself included.
  void find_heights() {
    for (auto bridge = paths_.bridges.rbegin(); bridge != paths_.bridges.rend(); ++bridge) {
      int deepest = 0;
      for (const std::string& below : paths_.below.at(*bridge)) {
        const auto height = heights_.find(below);
        if (height != heights_.end()) deepest = std::max(deepest, height->second);
      }
      heights_[*bridge] = deepest + 1;
    }
  }

  std::size_t cards_below(const std::string& bridge) const {
    std::set<std::string> cards;
    for (const std::string& below : paths_.below.at(bridge)) cards.insert(card_of(below));
    return cards.size();
  }

  /// The bridge above comes first in `bridges`, so that its part is known.
  bool takes_part_as_port(const std::string& bridge) {
    const auto& below = paths_.below.at(bridge);
    const bool skipped_to = std::any_of(below.begin(), below.end(), [&](const std::string& address) {
      return paths_.above.at(address).kind == AboveFunction::Kind::ancestor;
    });
    // A port's link leads to one card. More than one: an unseen switch, or a bus of old.
    if (skipped_to || cards_below(bridge) > 1) return false;
    const auto port =
        book_.judge("device " + bridge + ": kind of port", facts_of(bridge).port.all(), port_name);
    if (port && port->value == PciePort::upstream_port) return false;
    if (port && (port->value == PciePort::root_port || port->value == PciePort::downstream_port)) return true;
    const AboveFunction& above = paths_.above.at(bridge);
    switch (above.kind) {
      case AboveFunction::Kind::root_bus:
        return true;
      case AboveFunction::Kind::bridge:
        return !is_port_.at(above.bridge);
      case AboveFunction::Kind::ancestor:
        return false;
      case AboveFunction::Kind::unknown:
        break;
    }
    return heights_.at(bridge) % 2 == 1;  // the lowest bridge is a port, the one above it a switch, ...
  }

  /// Where something hangs: follows the ports above it to a switch or to the top of the piece.
  struct Hanging {
    int above = -1;
    std::string port, from;
    TreeTop top;
  };
  Hanging hanging(const std::string& address) {
    Hanging result;
    result.from = paths_.above.at(address).from;
    std::string at = address;
    while (paths_.above.at(at).leads_up()) {
      at = paths_.above.at(at).bridge;
      const auto chip = switch_of_.find(at);
      if (chip != switch_of_.end()) {
        result.above = chip->second;
        if (!result.port.empty())
          tree_.switches[static_cast<std::size_t>(chip->second)].ports.push_back(result.port);
        return result;
      }
      if (result.port.empty()) result.port = at;
    }
    const auto& port = facts_of(at).port.all();
    if (at != address && !port.empty() && port.front().value == PciePort::downstream_port) {
      result.above = unseen_switch(at);
      return result;
    }
    result.top = top_of(address, at);
    return result;
  }

  /// Downstream ports of one bus belong to one switch, also where an excerpt lacks its upstream port.
  int unseen_switch(const std::string& port) {
    const auto [known, is_new] = unseen_.emplace(bus_of(port), static_cast<int>(tree_.switches.size()));
    if (is_new) {
      TreeSwitch unseen;
      unseen.top.group = "above " + bus_of(port);
      tree_.switches.push_back(unseen);
      book_.note("the dumps show downstream ports on bus " + bus_of(port) +
                 " but not the upstream port of their switch; add the whole `lspci -vvv`, without `-s`");
    }
    tree_.switches[static_cast<std::size_t>(known->second)].ports.push_back(port);
    return known->second;
  }

  TreeTop top_of(const std::string& address, const std::string& topmost) {
    TreeTop top;
    const auto stated = book_.judge("device " + address + ": root bus", facts_of(address).root_bus.all(),
                                    [](const std::string& bus) { return bus; });
    const AboveFunction& above = paths_.above.at(topmost);
    if (stated) {
      top = {stated->value, "", stated->from};
    } else if (above.kind == AboveFunction::Kind::root_bus) {
      top = {bus_of(topmost), "", above.from};
    } else if (bus_of(topmost) == "0000:00" && facts_of(topmost).numa.empty()) {
      top.root_bus = "0000:00";  // bus 0 is a root bus by definition
    }
    top.group = top.root_bus;
    if (!top.group.empty()) return top;
    // Devices of one bus share their root, too, unless NUMA nodes tell them apart (clouds make up addresses).
    const auto& numa = facts_of(topmost).numa.all();
    top.group = bus_of(topmost) + " of node " + (numa.empty() ? "?" : std::to_string(numa.front().value));
    return top;
  }

  void add_switch(const std::string& bridge) {
    Hanging place = hanging(bridge);
    switch_of_[bridge] = static_cast<int>(tree_.switches.size());
    tree_.switches.push_back({bridge, place.above, place.port, {}, place.from, place.top});
  }

  TreeLeaf leaf(const std::string& device) {
    Hanging place = hanging(device);
    const bool placed =
        paths_.above.at(device).kind != AboveFunction::Kind::unknown || !place.top.root_bus.empty();
    return {place.above, place.port, place.from, placed, place.top};
  }

  const MachineFacts& facts_;
  BridgePaths paths_;
  OriginBook& book_;
  std::map<std::string, int> heights_;
  std::map<std::string, bool> is_port_;
  std::map<std::string, int> switch_of_;  // by the address of the upstream port
  std::map<std::string, int> unseen_;     // by the bus of its downstream ports
  PciTree tree_;
};

}  // namespace

PciTree pci_tree(const MachineFacts& facts, const std::vector<std::string>& devices, OriginBook& book) {
  std::set<std::string> known(devices.begin(), devices.end());
  known.erase("");
  return TreeBuilder(facts, bridge_paths(facts, known, book), book).build(devices);
}

}  // namespace lanecast
