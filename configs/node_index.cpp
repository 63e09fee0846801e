#include "configs/node_index.hpp"

#include <algorithm>
#include <array>

#include "configs/problem_list.hpp"

namespace lanecast {
namespace {

constexpr std::array<NodeKind, 6> kinds{NodeKind::cpu, NodeKind::root,     NodeKind::pcie_switch,
                                        NodeKind::gpu, NodeKind::nvswitch, NodeKind::nic};

template <class T>
std::vector<std::string> names_of(const std::vector<T>& items) {
  std::vector<std::string> names;
  names.reserve(items.size());
  for (const T& item : items) names.push_back(item.name);
  return names;
}

}  // namespace

const char* section_of(NodeKind kind) {
  switch (kind) {
    case NodeKind::gpu:
      return "gpus";
    case NodeKind::pcie_switch:
      return "switches";
    case NodeKind::root:
      return "roots";
    case NodeKind::cpu:
      return "cpus";
    case NodeKind::nvswitch:
      return "nvswitches";
    case NodeKind::nic:
      break;
  }
  return "nics";
}

NodeIndex::NodeIndex(const Machine& machine) : machine_(machine) {
  for (const NodeKind kind : kinds) {
    const std::vector<std::string> all = names(kind);
    for (std::size_t i = 0; i < all.size(); ++i) by_name_[all[i]].push_back({kind, static_cast<int>(i)});
  }
}

std::vector<std::string> NodeIndex::names(NodeKind kind) const {
  switch (kind) {
    case NodeKind::gpu:
      return names_of(machine_.gpus);
    case NodeKind::pcie_switch:
      return names_of(machine_.switches);
    case NodeKind::root:
      return names_of(machine_.roots);
    case NodeKind::cpu:
      return names_of(machine_.cpus);
    case NodeKind::nvswitch:
      return names_of(machine_.nvswitches);
    case NodeKind::nic:
      break;
  }
  return names_of(machine_.nics);
}

std::optional<NodeId> NodeIndex::find(NodeKind kind, const std::string& name) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return std::nullopt;
  for (const NodeId id : found->second) {
    if (id.kind == kind) return id;
  }
  return std::nullopt;
}

Reading<NodeId> NodeIndex::find(const std::string& reference) const {
  const std::size_t dot = reference.find('.');
  for (const NodeKind kind : kinds) {
    if (dot == std::string::npos || reference.compare(0, dot, section_of(kind)) != 0) continue;
    if (const auto id = find(kind, reference.substr(dot + 1))) return *id;
  }
  const auto found = by_name_.find(reference);
  if (found == by_name_.end()) {
    std::vector<std::string> all;
    for (const NodeKind kind : kinds) {
      for (std::string& name : names(kind)) all.push_back(std::move(name));
    }
    const std::string near = nearest(reference, all);
    if (!near.empty()) return Complaint{"there is no such node", "did you mean `" + near + "`?"};
    return Complaint{"there is no such node",
                     all.empty() ? "list it in its section first" : "the nodes are " + listed(all)};
  }
  const std::vector<NodeId>& ids = found->second;
  const auto other_kind = [&](NodeId id) { return id.kind != ids.front().kind; };
  const auto other = std::find_if(ids.begin(), ids.end(), other_kind);
  if (other == ids.end()) return ids.front();
  const std::string first = section_of(ids.front().kind), second = section_of(other->kind);
  return Complaint{std::string("both a ") + to_string(ids.front().kind) + " and a " + to_string(other->kind) +
                       " have this name",
                   "write `" + first + "." + reference + "` or `" + second + "." + reference + "`"};
}

std::string NodeIndex::name(NodeId id) const {
  const auto index = static_cast<std::size_t>(id.index);
  const auto in = [&](const auto& items) { return id.index >= 0 && index < items.size(); };
  const bool exists = (id.kind == NodeKind::gpu && in(machine_.gpus)) ||
                      (id.kind == NodeKind::pcie_switch && in(machine_.switches)) ||
                      (id.kind == NodeKind::root && in(machine_.roots)) ||
                      (id.kind == NodeKind::cpu && in(machine_.cpus)) ||
                      (id.kind == NodeKind::nvswitch && in(machine_.nvswitches)) ||
                      (id.kind == NodeKind::nic && in(machine_.nics));
  return exists ? node_name(machine_, id) : "";
}

std::string NodeIndex::reference(NodeId id) const {
  const std::string plain = name(id);
  if (plain.empty()) return "";
  const Reading<NodeId> found = find(plain);
  return found && *found.value == id ? plain : section_of(id.kind) + ("." + plain);
}

}  // namespace lanecast
