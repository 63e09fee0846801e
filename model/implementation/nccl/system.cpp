#include "model/implementation/nccl/system.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "model/topology/routes.hpp"

namespace lanecast {
namespace {

constexpr long kLocal = 5'000'000;  // NCCL's rate inside a GPU (facts.md A8)

long milli(double GBps) { return std::lround(GBps * 1000); }

/// Broadcom's Gen4 and Gen5 chips show themselves as two levels of switches, which NCCL takes for one.
bool is_two_level_chip(const PcieSwitch& chip) {
  return chip.model.find("PEX88") != std::string::npos || chip.model.find("PEX89") != std::string::npos;
}

/// The switch that stands for this one: the one above it where both are levels of one chip.
int whole_switch(const Machine& machine, int index) {
  for (;;) {
    if (!is_two_level_chip(machine.switches[static_cast<std::size_t>(index)])) return index;
    const std::vector<int> up = links_to_root(machine, {NodeKind::pcie_switch, index});
    if (up.empty()) return index;
    const NodeId above = machine.links[static_cast<std::size_t>(up.front())].from;
    if (above.kind != NodeKind::pcie_switch ||
        !is_two_level_chip(machine.switches[static_cast<std::size_t>(above.index)]))
      return index;
    index = above.index;
  }
}

/// GPUs NUMA node by NUMA node in the order in which ranks name them first; within one, along the tree.
std::vector<int> in_tree_order(const Machine& machine, const std::vector<int>& gpus) {
  std::map<NodeId, std::size_t> first_seen;  // of each CPU and switch, and each GPU
  std::vector<std::vector<std::size_t>> keys;
  for (const int gpu : gpus) {
    std::vector<NodeId> above{{NodeKind::gpu, gpu}};
    for (const int link : links_to_root(machine, {NodeKind::gpu, gpu})) {
      const NodeId upper = machine.links[static_cast<std::size_t>(link)].from;
      if (upper.kind == NodeKind::pcie_switch) above.push_back(upper);
    }
    above.push_back({NodeKind::cpu, cpu_of(machine, {NodeKind::gpu, gpu}).value_or(0)});
    std::vector<std::size_t> key;
    for (auto at = above.rbegin(); at != above.rend(); ++at)
      key.push_back(first_seen.try_emplace(*at, first_seen.size()).first->second);
    keys.push_back(std::move(key));
  }
  std::vector<std::size_t> place(gpus.size());
  for (std::size_t i = 0; i < place.size(); ++i) place[i] = i;
  std::stable_sort(place.begin(), place.end(),
                   [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
  std::vector<int> ordered;
  for (const std::size_t i : place) ordered.push_back(gpus[i]);
  return ordered;
}

}  // namespace

LinkAssumptions link_assumptions(const NcclRules& rules) {
  LinkAssumptions assumptions;
  assumptions.current_gpu_links = rules.current_gpu_links;
  assumptions.nvlink_GBps = [&](int sm) { return nvlink_GBps(rules, sm); };
  assumptions.cpu_link_GBps = [&](const Cpu& from) { return cpu_link_GBps(rules, from); };
  return assumptions;
}

double nccl_pcie_GBps(const Link& link, bool current) {
  constexpr double kClass[] = {15, 30, 60, 120, 240, 480};
  const PcieRate rate = current ? link.rate : link.max_rate;
  return (current ? link.width : link.max_width) * kClass[static_cast<int>(rate) - 1] / 80.0;
}

NcclSystem::NcclSystem(const Machine& machine, const std::vector<int>& gpus,
                       const LinkAssumptions& assumptions, const PeerRule& peer_rule)
    : gpus_(in_tree_order(machine, gpus)) {
  add_nodes(machine, gpus_);
  for (std::size_t g = 0; g < gpus_.size(); ++g) {
    const int sm = machine.gpus[static_cast<std::size_t>(gpus_[g])].sm;
    min_sm_ = g == 0 ? sm : std::min(min_sm_, sm);
    max_sm_ = std::max(max_sm_, sm);
  }
  const auto rate = [&](const Link& link) {
    const bool own = link.to.kind == NodeKind::gpu;
    return milli(nccl_pcie_GBps(link, own && assumptions.current_gpu_links));
  };
  add_nvlinks(machine, assumptions);
  for (std::size_t i = 0; i < machine.links.size(); ++i) {
    const Link& link = machine.links[i];
    if (link.kind != LinkKind::pcie) continue;
    if (link.to.kind == NodeKind::nic) continue;
    const int lower = link.to.kind == NodeKind::gpu
                          ? node_of(Kind::gpu, link.to.index)
                          : node_of(Kind::pcie_switch, whole_switch(machine, link.to.index));
    const int upper = link.from.kind == NodeKind::root
                          ? node_of(Kind::cpu, machine.roots[static_cast<std::size_t>(link.from.index)].cpu)
                          : node_of(Kind::pcie_switch, whole_switch(machine, link.from.index));
    if (lower < 0 || upper < 0 || lower == upper) continue;  // a GPU that takes no part; inside a chip
    connect(lower, upper, {0, true, false, rate(link), static_cast<int>(i)});
  }
  connect_cpus(machine, assumptions);
  set_paths(machine, assumptions, peer_rule);
}

void NcclSystem::add_nodes(const Machine& machine, const std::vector<int>& gpus) {
  for (const int gpu : gpus) nodes_.push_back({Kind::gpu, gpu, {}});
  for (std::size_t i = 0; i < machine.switches.size(); ++i)
    nodes_.push_back({Kind::pcie_switch, static_cast<int>(i), {}});
  for (std::size_t i = 0; i < machine.cpus.size(); ++i)
    nodes_.push_back({Kind::cpu, static_cast<int>(i), {}});
  if (!machine.nvswitches.empty()) nodes_.push_back({Kind::nvswitch, 0, {}});
}

int NcclSystem::node_of(Kind kind, int index) const {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].kind == kind && nodes_[i].index == index) return static_cast<int>(i);
  }
  return -1;
}

/// Links of a kind between the same two nodes are one, with the sum of their rates.
void NcclSystem::connect(int a, int b, NcclLink link) {
  for (const int known : nodes_[static_cast<std::size_t>(a)].links) {
    NcclLink& forward = links_[static_cast<std::size_t>(known)];
    if (forward.to != b || forward.pcie != link.pcie || forward.nvlink != link.nvlink) continue;
    forward.milli_GBps += link.milli_GBps;
    links_[static_cast<std::size_t>(known ^ 1)].milli_GBps += link.milli_GBps;
    return;
  }
  const auto first = static_cast<int>(links_.size());
  link.to = b;
  links_.push_back(link);
  link.to = a;
  links_.push_back(link);
  nodes_[static_cast<std::size_t>(a)].links.push_back(first);
  nodes_[static_cast<std::size_t>(b)].links.push_back(first + 1);
}

void NcclSystem::add_nvlinks(const Machine& machine, const LinkAssumptions& assumptions) {
  const auto end = [&](NodeId id) {
    return id.kind == NodeKind::nvswitch ? node_of(Kind::nvswitch, 0) : node_of(Kind::gpu, id.index);
  };
  for (std::size_t i = 0; i < machine.links.size(); ++i) {
    const Link& link = machine.links[i];
    if (link.kind != LinkKind::nvlink) continue;
    const int from = end(link.from);
    const int to = end(link.to);
    if (from < 0 || to < 0 || from == to) continue;
    const int gpu = link.from.kind == NodeKind::gpu ? link.from.index : link.to.index;
    const double one = assumptions.nvlink_GBps(machine.gpus[static_cast<std::size_t>(gpu)].sm);
    connect(from, to, {0, false, true, milli(link.count * one), static_cast<int>(i)});
  }
}

void NcclSystem::connect_cpus(const Machine& machine, const LinkAssumptions& assumptions) {
  for (std::size_t a = 0; a < machine.cpus.size(); ++a) {
    for (std::size_t b = a + 1; b < machine.cpus.size(); ++b) {
      connect(node_of(Kind::cpu, static_cast<int>(a)), node_of(Kind::cpu, static_cast<int>(b)),
              {0, false, false, milli(assumptions.cpu_link_GBps(machine.cpus[a])), -1});
    }
  }
}

/// Takes `link` from the node `at`, which the search has reached; true where its far end is better reached
/// so. Shorter types first, then faster paths, then fewer links (facts.md A10).
bool NcclSystem::relax(int base, int at, int link, std::vector<Found>& found, bool route_through_gpus) const {
  const NcclLink& step = links_[static_cast<std::size_t>(link)];
  const Node& here = nodes_[static_cast<std::size_t>(at)];
  const Node& there = nodes_[static_cast<std::size_t>(step.to)];
  const Found& so_far = found[static_cast<std::size_t>(at)];
  if (step.to == base) return false;
  const bool through_gpu = at != base && here.kind == Kind::gpu;
  if (through_gpu &&
      (!route_through_gpus || !step.nvlink || there.kind != Kind::gpu || so_far.links.size() > 1))
    return false;
  PathType type = step.nvlink ? PathType::nvl : step.pcie ? PathType::pix : PathType::sys;
  if (here.kind == Kind::pcie_switch && there.kind == Kind::pcie_switch) type = PathType::pxb;
  if (step.pcie && (here.kind == Kind::cpu || there.kind == Kind::cpu)) type = PathType::phb;
  if (here.kind == Kind::gpu && so_far.type == PathType::nvl && type == PathType::nvl && through_gpu)
    type = PathType::nvb;
  Found next;
  next.type = std::max(so_far.type, type);
  next.milli_GBps = std::min(so_far.milli_GBps, step.milli_GBps);
  Found& known = found[static_cast<std::size_t>(step.to)];
  const std::size_t length = so_far.links.size() + 1;
  const bool better = known.type != next.type               ? next.type < known.type
                      : known.milli_GBps != next.milli_GBps ? next.milli_GBps > known.milli_GBps
                                                            : length < known.links.size();
  if (!better) return false;
  next.links.push_back(link ^ 1);  // the way back, towards the base
  next.links.insert(next.links.end(), so_far.links.begin(), so_far.links.end());
  known = std::move(next);
  return true;
}

std::vector<NcclSystem::Found> NcclSystem::search_from(int base, bool route_through_gpus) const {
  std::vector<Found> found(nodes_.size());
  found[static_cast<std::size_t>(base)] = {{}, PathType::loc, kLocal};
  std::vector<int> open{base};
  while (!open.empty()) {
    std::vector<int> next;
    for (const int at : open) {
      std::vector<int> out = nodes_[static_cast<std::size_t>(at)].links;
      std::stable_sort(out.begin(), out.end(), [&](int a, int b) {
        return links_[static_cast<std::size_t>(a)].milli_GBps >
               links_[static_cast<std::size_t>(b)].milli_GBps;
      });
      for (const int link : out) {
        if (!relax(base, at, link, found, route_through_gpus)) continue;
        const int to = links_[static_cast<std::size_t>(link)].to;
        if (std::find(next.begin(), next.end(), to) == next.end()) next.push_back(to);
      }
    }
    open = std::move(next);
  }
  return found;
}

NcclPath NcclSystem::finished(const Machine& machine, const std::vector<int>& links, PathType type) const {
  NcclPath path;
  path.links = links;
  path.type = type;
  path.milli_GBps = links.empty() ? 0 : kLocal;
  for (const int link : links) {
    const NcclLink& step = links_[static_cast<std::size_t>(link)];
    path.milli_GBps = std::min(path.milli_GBps, step.milli_GBps);
    const Node& at = nodes_[static_cast<std::size_t>(step.to)];
    if (at.kind == Kind::cpu && machine.cpus[static_cast<std::size_t>(at.index)].vendor == "intel")
      path.through_intel = true;
  }
  return path;
}

void NcclSystem::set_paths(const Machine& machine, const LinkAssumptions& assumptions,
                           const PeerRule& peer_rule) {
  std::vector<std::vector<Found>> to_gpu;  // [base GPU][node]
  for (std::size_t g = 0; g < gpus_.size(); ++g)
    to_gpu.push_back(search_from(static_cast<int>(g), assumptions.route_through_gpus));
  paths_.resize(gpus_.size());
  for (std::size_t a = 0; a < gpus_.size(); ++a) {
    for (std::size_t b = 0; b < gpus_.size(); ++b) {
      const Found& found = to_gpu[b][a];
      paths_[a].push_back(finished(machine, found.links, found.type));
      paths_[a][b].peer = a == b || peer_rule(gpus_[a], gpus_[b]);
    }
  }
  divert_through_host(machine, to_gpu, assumptions.route_through_gpus);
  for (std::size_t a = 0; a < gpus_.size(); ++a) {
    for (std::size_t b = 0; b < gpus_.size(); ++b) {
      if (a != b) fastest_path_ = std::max(fastest_path_, paths_[a][b].milli_GBps);
    }
    long nvlink = 0;
    long pcie = 0;
    long to_switches = 0;
    for (const int link : nodes_[a].links) {
      const NcclLink& out = links_[static_cast<std::size_t>(link)];
      if (out.nvlink) nvlink += out.milli_GBps;
      if (out.pcie) pcie = out.milli_GBps;
      if (nodes_[static_cast<std::size_t>(out.to)].kind == Kind::nvswitch) to_switches = out.milli_GBps;
    }
    nvswitch_ = a == 0 ? to_switches : std::min(nvswitch_, to_switches);
    widest_gpu_ = std::max({widest_gpu_, nvlink, pcie});
  }
}

/// Where peer access is refused, the path goes up to the receiver's NUMA node and down from there. The way up
/// may use an NVLink to the receiver first, which is how NCCL counts GPUs of two sockets that have one.
void NcclSystem::divert_through_host(const Machine& machine, const std::vector<std::vector<Found>>& to_gpu,
                                     bool route_through_gpus) {
  std::map<int, std::vector<Found>> to_cpu;  // by node
  for (std::size_t b = 0; b < gpus_.size(); ++b) {
    const int cpu = node_of(Kind::cpu, cpu_of(machine, {NodeKind::gpu, gpus_[b]}).value_or(0));
    if (cpu < 0) continue;  // NVLink alone
    for (std::size_t a = 0; a < gpus_.size(); ++a) {
      if (paths_[a][b].peer) continue;
      if (to_cpu.count(cpu) == 0) to_cpu[cpu] = search_from(cpu, route_through_gpus);
      const Found& up = to_cpu[cpu][a];
      const Found& down = to_gpu[b][static_cast<std::size_t>(cpu)];
      std::vector<int> links = up.links;
      links.insert(links.end(), down.links.begin(), down.links.end());
      paths_[a][b] = finished(machine, links, std::max(up.type, down.type));
      paths_[a][b].peer = false;
    }
  }
}

}  // namespace lanecast
