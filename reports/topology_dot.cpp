#include "reports/topology_dot.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>

#include "model/topology/routes.hpp"
#include "reports/safe_text.hpp"
#include "reports/topology_tree.hpp"

namespace lanecast {
namespace {

std::size_t at_index(int index) { return static_cast<std::size_t>(index); }

/// Text within a quoted string of DOT, where `\` begins an escape such as `\n`.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : safe_text(text)) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

/// Names are unique within a kind only, so that a node's identifier is its kind and index.
std::string identifier(NodeId id) { return fmt::format("{}{}", to_string(id.kind), id.index); }

/// A line of a label; nothing for an empty text.
std::string line(const std::string& text) { return text.empty() ? "" : "\\n" + escaped(text); }

std::string details(const Machine& machine, NodeId id) {
  const std::size_t index = at_index(id.index);
  switch (id.kind) {
    case NodeKind::gpu: {
      const Gpu& gpu = machine.gpus[index];
      return line(gpu.model) + line(gpu.bdf) + (gpu.present ? "" : "\\ngone");
    }
    case NodeKind::pcie_switch: {
      const PcieSwitch& bridge = machine.switches[index];
      return line(bridge.model) + line(bridge.bdf) + (bridge.acs ? "\\nACS redirect on" : "");
    }
    case NodeKind::root:
      return line(machine.roots[index].bus);
    case NodeKind::cpu:
      return line(machine.cpus[index].model);
    case NodeKind::nic:
      return line(machine.nics[index].model) + line(machine.nics[index].bdf) +
             fmt::format("\\n{:.5g} Gbit/s", machine.nics[index].rate.value() * 8e-9);
    case NodeKind::nvswitch:
      break;
  }
  return "";
}

std::string shape_of(const Machine& machine, NodeId id) {
  switch (id.kind) {
    case NodeKind::gpu:
      return machine.gpus[at_index(id.index)].present ? "shape=box, style=filled, fillcolor=\"#d8ecc8\""
                                                      : "shape=box, style=dashed, color=red, fontcolor=red";
    case NodeKind::pcie_switch:
      return "shape=trapezium, style=filled, fillcolor=\"#dce6f2\"";
    case NodeKind::root:
      return "shape=house";
    case NodeKind::cpu:
      return "shape=box, style=rounded";
    case NodeKind::nic:
      return "shape=ellipse, style=filled, fillcolor=\"#f6e7c1\"";
    case NodeKind::nvswitch:
      break;
  }
  return "shape=hexagon, style=filled, fillcolor=\"#d5eadd\"";
}

std::string node_text(const Machine& machine, NodeId id, const std::string& indent) {
  return fmt::format("{}{} [label=\"{}{}\", {}];\n", indent, identifier(id), escaped(node_name(machine, id)),
                     details(machine, id), shape_of(machine, id));
}

std::string edge_text(NodeId from, NodeId to, const std::string& label, const std::string& style) {
  return fmt::format("  {} -- {} [label=\"{}\"{}{}];\n", identifier(from), identifier(to), label,
                     style.empty() ? "" : ", ", style);
}

std::string pcie_edge(const Link& link) {
  const auto text = [](PcieRate rate, int width) {
    return fmt::format("Gen{} x{}", static_cast<int>(rate), width);
  };
  std::string label = text(link.rate, link.width);
  if (link.idle) label += "\\nidle when read";
  if (!is_degraded(link)) return edge_text(link.from, link.to, label, "");
  return edge_text(link.from, link.to, label + "\\ncan " + text(link.max_rate, link.max_width),
                   "color=red, fontcolor=red, style=dashed, penwidth=2");
}

std::string link_edge(const Link& link) {
  if (link.kind == LinkKind::pcie) return pcie_edge(link);
  if (link.kind == LinkKind::socket) {
    const std::string rate = link.lane_rate ? fmt::format("{:.5g} GB/s", link.lane_rate->value() * 1e-9) : "";
    return edge_text(link.from, link.to, escaped(link.name) + line(rate), "style=bold, constraint=false");
  }
  // NVSwitches are drawn below the GPUs; among GPUs an NVLink must not push one below the other.
  const bool to_switch = link.from.kind == NodeKind::nvswitch || link.to.kind == NodeKind::nvswitch;
  return edge_text(link.from, link.to, fmt::format("NV{}", link.count),
                   std::string("color=darkgreen, fontcolor=darkgreen, style=bold") +
                       (to_switch ? "" : ", constraint=false"));
}

/// The cluster of one NUMA node: its CPU, its roots and all that hangs below them.
std::string cluster_text(const Machine& machine, int cpu, const std::map<NodeId, int>& cpu_of_node) {
  const NodeId self{NodeKind::cpu, cpu};
  std::string text =
      fmt::format("  subgraph cluster_cpu{} {{\n    label=\"{}\";\n", cpu, escaped(node_name(machine, self)));
  text += node_text(machine, self, "    ");
  for (const auto& [id, owner] : cpu_of_node) {
    if (owner == cpu) text += node_text(machine, id, "    ");
  }
  return text + "  }\n";
}

}  // namespace

std::string topology_dot(const Machine& machine) {
  std::map<NodeId, int> cpu_of_node;
  std::string loose, edges;
  const auto place = [&](NodeKind kind, std::size_t count) {
    for (int i = 0; i < static_cast<int>(count); ++i) {
      const NodeId id{kind, i};
      const std::optional<int> cpu = cpu_of(machine, id);
      if (cpu) cpu_of_node[id] = *cpu;
      if (!cpu) loose += node_text(machine, id, "  ");
    }
  };
  for (int i = 0; i < static_cast<int>(machine.roots.size()); ++i) {
    const int cpu = machine.roots[at_index(i)].cpu;
    cpu_of_node[{NodeKind::root, i}] = cpu;
    edges += edge_text({NodeKind::cpu, cpu}, {NodeKind::root, i}, "", "");
  }
  place(NodeKind::pcie_switch, machine.switches.size());
  place(NodeKind::gpu, machine.gpus.size());
  place(NodeKind::nic, machine.nics.size());
  place(NodeKind::nvswitch, machine.nvswitches.size());
  for (const Link& link : machine.links) edges += link_edge(link);
  std::string text = fmt::format(
      "graph \"{}\" {{\n  rankdir=TB;\n  splines=polyline;\n  fontname=\"sans-serif\";\n  node "
      "[fontname=\"sans-serif\", "
      "fontsize=10];\n"
      "  edge [fontname=\"sans-serif\", fontsize=9];\n",
      escaped(machine.name));
  for (int i = 0; i < static_cast<int>(machine.cpus.size()); ++i)
    text += cluster_text(machine, i, cpu_of_node);
  return text + loose + edges + "}\n";
}

}  // namespace lanecast
