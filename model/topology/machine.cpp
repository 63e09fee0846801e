#include "model/topology/machine.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace lanecast {

const std::string& node_name(const Machine& machine, NodeId id) {
  const auto index = static_cast<std::size_t>(id.index);
  switch (id.kind) {
    case NodeKind::gpu:
      return machine.gpus.at(index).name;
    case NodeKind::pcie_switch:
      return machine.switches.at(index).name;
    case NodeKind::root:
      return machine.roots.at(index).name;
    case NodeKind::cpu:
      return machine.cpus.at(index).name;
    case NodeKind::nvswitch:
      return machine.nvswitches.at(index).name;
    case NodeKind::nic:
      break;
  }
  return machine.nics.at(index).name;
}

bool is_assumed(const Machine& machine, const std::string& path) {
  return std::find(machine.assumed.begin(), machine.assumed.end(), path) != machine.assumed.end();
}

const char* to_string(NodeKind kind) {
  switch (kind) {
    case NodeKind::gpu:
      return "gpu";
    case NodeKind::pcie_switch:
      return "switch";
    case NodeKind::root:
      return "root";
    case NodeKind::cpu:
      return "cpu";
    case NodeKind::nvswitch:
      return "nvswitch";
    case NodeKind::nic:
      break;
  }
  return "nic";
}

const char* to_string(LinkKind kind) {
  switch (kind) {
    case LinkKind::pcie:
      return "pcie";
    case LinkKind::nvlink:
      return "nvlink";
    case LinkKind::socket:
      break;
  }
  return "socket";
}

const char* to_string(Distance value) {
  switch (value) {
    case Distance::loc:
      return "LOC";
    case Distance::nvl:
      return "NVL";
    case Distance::pix:
      return "PIX";
    case Distance::pxb:
      return "PXB";
    case Distance::phb:
      return "PHB";
    case Distance::node:
      return "NODE";
    case Distance::sys:
      break;
  }
  return "SYS";
}

const char* to_string(Aspm value) {
  switch (value) {
    case Aspm::off:
      return "off";
    case Aspm::l0s:
      return "L0s";
    case Aspm::l1:
      break;
  }
  return "L1";
}

std::optional<Distance> distance_from_string(const std::string& text) {
  constexpr std::array<Distance, 7> distances{Distance::loc, Distance::nvl,  Distance::pix, Distance::pxb,
                                              Distance::phb, Distance::node, Distance::sys};
  std::string upper = text;
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  const auto* found = std::find_if(distances.begin(), distances.end(),
                                   [&](Distance distance) { return upper == to_string(distance); });
  return found == distances.end() ? std::nullopt : std::optional<Distance>(*found);
}

}  // namespace lanecast
