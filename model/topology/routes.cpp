#include "model/topology/routes.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <map>

namespace lanecast {
namespace {

std::optional<int> parent_link(const Machine& machine, NodeId node) {
  for (std::size_t i = 0; i < machine.links.size(); ++i) {
    const Link& link = machine.links[i];
    if (link.kind == LinkKind::pcie && link.to == node) return static_cast<int>(i);
  }
  return std::nullopt;
}

/// Breadth-first search over links of one kind; both ends of a link can be entered.
std::optional<std::vector<RouteLeg>> shortest(const Machine& machine, LinkKind kind, NodeId from, NodeId to) {
  std::map<NodeId, RouteLeg> came_by;
  std::deque<NodeId> open{from};
  while (!open.empty()) {
    const NodeId here = open.front();
    open.pop_front();
    if (here == to) break;
    // GPUs don't forward traffic for others; NVSwitches and CPUs do.
    if (here.kind == NodeKind::gpu && here != from) continue;
    for (std::size_t i = 0; i < machine.links.size(); ++i) {
      const Link& link = machine.links[i];
      if (link.kind != kind || (link.from != here && link.to != here)) continue;
      const bool forward = link.from == here;
      const NodeId there = forward ? link.to : link.from;
      if (there == from || came_by.count(there) != 0) continue;
      came_by[there] = RouteLeg{static_cast<int>(i), forward};
      open.push_back(there);
    }
  }
  if (came_by.count(to) == 0) return std::nullopt;
  std::vector<RouteLeg> legs;
  for (NodeId at = to; at != from;) {
    const RouteLeg leg = came_by.at(at);
    legs.push_back(leg);
    const Link& link = machine.links[static_cast<std::size_t>(leg.link)];
    at = leg.forward ? link.from : link.to;
  }
  std::reverse(legs.begin(), legs.end());
  return legs;
}

/// Appends the socket links between two CPUs; false where they are not connected.
bool cross_sockets(const Machine& machine, int from_cpu, int to_cpu, Route& route) {
  if (from_cpu == to_cpu) return true;
  const auto legs = shortest(machine, LinkKind::socket, {NodeKind::cpu, from_cpu}, {NodeKind::cpu, to_cpu});
  if (!legs) return false;
  for (const RouteLeg& leg : *legs) {
    route.legs.push_back(leg);
    route.sockets.push_back(leg);
  }
  return true;
}

void climb(const Machine& machine, const std::vector<int>& chain, std::size_t count, Route& route) {
  for (std::size_t i = 0; i < count; ++i) {
    route.legs.push_back({chain[i], false});
    const NodeId upper = machine.links[static_cast<std::size_t>(chain[i])].from;
    const bool turns_here = i + 1 == count;  // the turning node is counted once, by the caller
    if (upper.kind == NodeKind::pcie_switch && !turns_here) route.switches.push_back(upper.index);
  }
}

void descend(const Machine& machine, const std::vector<int>& chain, std::size_t count, Route& route) {
  for (std::size_t i = count; i-- > 0;) {
    route.legs.push_back({chain[i], true});
    const NodeId lower = machine.links[static_cast<std::size_t>(chain[i])].to;
    if (lower.kind == NodeKind::pcie_switch) route.switches.push_back(lower.index);
  }
}

NodeId upper_end(const Machine& machine, int link) {
  return machine.links[static_cast<std::size_t>(link)].from;
}

}  // namespace

std::vector<int> links_to_root(const Machine& machine, NodeId node) {
  std::vector<int> chain;
  while (chain.size() <= machine.links.size()) {
    const auto link = parent_link(machine, node);
    if (!link) break;
    chain.push_back(*link);
    node = upper_end(machine, *link);
  }
  return chain;
}

std::optional<int> root_of(const Machine& machine, NodeId node) {
  const std::vector<int> chain = links_to_root(machine, node);
  if (chain.empty()) return std::nullopt;
  const NodeId top = upper_end(machine, chain.back());
  if (top.kind != NodeKind::root) return std::nullopt;
  return top.index;
}

std::optional<int> cpu_of(const Machine& machine, NodeId node) {
  const auto root = root_of(machine, node);
  if (!root) return std::nullopt;
  return machine.roots[static_cast<std::size_t>(*root)].cpu;
}

std::optional<Route> nvlink_route(const Machine& machine, int from_gpu, int to_gpu) {
  const auto legs = shortest(machine, LinkKind::nvlink, {NodeKind::gpu, from_gpu}, {NodeKind::gpu, to_gpu});
  if (!legs || legs->empty()) return std::nullopt;
  Route route;
  route.legs = *legs;
  route.nvlink = true;
  return route;
}

std::vector<int> parallel_nvlinks(const Machine& machine, int link) {
  const auto ends = [&](std::size_t index) {
    std::array<NodeId, 2> both{machine.links[index].from, machine.links[index].to};
    for (NodeId& end : both) {
      if (end.kind == NodeKind::nvswitch) end.index = 0;
    }
    std::sort(both.begin(), both.end());
    return both;
  };
  std::vector<int> parallel;
  for (std::size_t i = 0; i < machine.links.size(); ++i) {
    if (machine.links[i].kind == LinkKind::nvlink && ends(i) == ends(static_cast<std::size_t>(link)))
      parallel.push_back(static_cast<int>(i));
  }
  return parallel;
}

std::optional<Route> peer_route(const Machine& machine, int from_gpu, int to_gpu) {
  const NodeId a{NodeKind::gpu, from_gpu};
  const NodeId b{NodeKind::gpu, to_gpu};
  const std::vector<int> up = links_to_root(machine, a);
  const std::vector<int> down = links_to_root(machine, b);
  const auto root_a = root_of(machine, a);
  const auto root_b = root_of(machine, b);
  if (!root_a || !root_b) return std::nullopt;
  Route route;
  for (std::size_t i = 0; i < up.size(); ++i) {
    for (std::size_t j = 0; j < down.size(); ++j) {
      const NodeId turn = upper_end(machine, up[i]);
      if (turn != upper_end(machine, down[j]) || turn.kind != NodeKind::pcie_switch) continue;
      if (up[i] == down[j]) continue;  // no switch sends a packet back through the port it came in by
      const PcieSwitch& sw = machine.switches[static_cast<std::size_t>(turn.index)];
      if (sw.acs || machine.p2p.iommu) {
        route.redirected = true;
        continue;
      }
      climb(machine, up, i + 1, route);
      route.switches.push_back(turn.index);
      descend(machine, down, j + 1, route);
      // descend counts the lower ends of its links; the last of them is the GPU
      return route;
    }
  }
  climb(machine, up, up.size(), route);
  route.roots.push_back(*root_a);
  const int cpu_a = machine.roots[static_cast<std::size_t>(*root_a)].cpu;
  const int cpu_b = machine.roots[static_cast<std::size_t>(*root_b)].cpu;
  if (!cross_sockets(machine, cpu_a, cpu_b, route)) return std::nullopt;
  if (*root_a != *root_b) route.roots.push_back(*root_b);
  descend(machine, down, down.size(), route);
  return route;
}

std::optional<Route> host_route(const Machine& machine, int gpu, int cpu, bool to_host) {
  const NodeId node{NodeKind::gpu, gpu};
  const std::vector<int> chain = links_to_root(machine, node);
  const auto root = root_of(machine, node);
  if (!root) return std::nullopt;
  const int own_cpu = machine.roots[static_cast<std::size_t>(*root)].cpu;
  Route route;
  if (to_host) {
    climb(machine, chain, chain.size(), route);
    route.roots.push_back(*root);
    if (!cross_sockets(machine, own_cpu, cpu, route)) return std::nullopt;
    return route;
  }
  if (!cross_sockets(machine, cpu, own_cpu, route)) return std::nullopt;
  route.roots.push_back(*root);
  descend(machine, chain, chain.size(), route);
  return route;
}

Distance pcie_distance(const Machine& machine, int a, int b) {
  return pcie_distance(machine, NodeId{NodeKind::gpu, a}, NodeId{NodeKind::gpu, b});
}

Distance pcie_distance(const Machine& machine, NodeId a, NodeId b) {
  if (a == b) return Distance::loc;
  const std::vector<int> up = links_to_root(machine, a);
  const std::vector<int> down = links_to_root(machine, b);
  for (std::size_t i = 0; i < up.size(); ++i) {
    for (std::size_t j = 0; j < down.size(); ++j) {
      const NodeId turn = upper_end(machine, up[i]);
      if (turn != upper_end(machine, down[j])) continue;
      if (turn.kind == NodeKind::root) return Distance::phb;
      return i == 0 && j == 0 ? Distance::pix : Distance::pxb;
    }
  }
  const auto cpu_a = cpu_of(machine, a);
  const auto cpu_b = cpu_of(machine, b);
  return cpu_a && cpu_b && *cpu_a == *cpu_b ? Distance::node : Distance::sys;
}

Distance distance(const Machine& machine, int a, int b) {
  if (a != b && nvlink_route(machine, a, b)) return Distance::nvl;
  return pcie_distance(machine, a, b);
}

std::vector<int> present_gpus(const Machine& machine) {
  std::vector<int> gpus;
  for (std::size_t i = 0; i < machine.gpus.size(); ++i) {
    if (machine.gpus[i].present) gpus.push_back(static_cast<int>(i));
  }
  return gpus;
}

}  // namespace lanecast
