#include "model/topology/equal_links.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "model/topology/routes.hpp"

namespace lanecast {
namespace {

/// Only what a prediction rests on is left.
Cpu plain(Cpu cpu) {
  cpu.name = cpu.source = cpu.cores = "";
  cpu.socket = 0;
  cpu.numa.reset();
  return cpu;
}
RootComplex plain(RootComplex root) {
  root.name = root.source = root.bus = "";
  root.cpu = 0;
  return root;
}
PcieSwitch plain(PcieSwitch pcie_switch) {
  pcie_switch.name = pcie_switch.source = pcie_switch.bdf = "";
  return pcie_switch;
}
Gpu plain(Gpu gpu) {
  gpu.name = gpu.source = gpu.bdf = "";
  return gpu;
}
NvSwitch plain(NvSwitch nvswitch) {
  nvswitch.name = nvswitch.source = "";
  return nvswitch;
}
Nic plain(Nic nic) {
  nic.name = nic.source = nic.bdf = "";
  return nic;
}
Link plain(Link link) {
  link.name = link.source = link.port = link.slot = "";
  link.from = link.to = {};
  link.idle = false;
  link.device_max_rate.reset();
  link.device_max_width.reset();
  link.corrected_errors.reset();
  link.uncorrected_errors.reset();
  link.replays.reset();
  return link;
}

/// Number of each element's values among the different ones.
template <class T>
std::vector<int> numbered(const std::vector<T>& elements) {
  std::vector<T> different;
  std::vector<int> numbers;
  for (const T& element : elements) {
    const T values = plain(element);
    auto known = std::find(different.begin(), different.end(), values);
    if (known == different.end()) known = different.insert(different.end(), values);
    numbers.push_back(static_cast<int>(known - different.begin()));
  }
  return numbers;
}

constexpr int kHosts = -1;  // kinds of edge beside the links' own numbers
constexpr int kRings = -2;  // and below

/// The machine as a graph whose nodes get colours.
class Colouring {
 public:
  Colouring(const Machine& machine, const std::vector<std::vector<int>>& orders) {
    add(NodeKind::gpu, machine.gpus);
    add(NodeKind::pcie_switch, machine.switches);
    add(NodeKind::root, machine.roots);
    add(NodeKind::cpu, machine.cpus);
    add(NodeKind::nvswitch, machine.nvswitches);
    add(NodeKind::nic, machine.nics);
    edges_.resize(colour_.size());
    link_values_ = numbered(machine.links);
    for (std::size_t l = 0; l < machine.links.size(); ++l) {
      const bool directed = machine.links[l].kind == LinkKind::pcie;
      join(machine.links[l].from, machine.links[l].to, 2 * link_values_[l],
           2 * link_values_[l] + (directed ? 1 : 0));
    }
    for (std::size_t r = 0; r < machine.roots.size(); ++r)
      join({NodeKind::root, static_cast<int>(r)}, {NodeKind::cpu, machine.roots[r].cpu}, kHosts, kHosts);
    for (const std::vector<int>& order : orders) {
      for (std::size_t i = 0; i < order.size(); ++i)
        join_in_ring(machine, order[i], order[(i + 1) % order.size()]);
    }
  }

  void refine() {
    while (refine_once()) {
    }
  }

  /// Links with the same key are equal.
  std::tuple<int, int, int> key(const Machine& machine, std::size_t link) const {
    int a = colour_[node(machine.links[link].from)];
    int b = colour_[node(machine.links[link].to)];
    if (machine.links[link].kind != LinkKind::pcie && b < a) std::swap(a, b);
    return {link_values_[link], a, b};
  }

 private:
  template <class T>
  void add(NodeKind kind, const std::vector<T>& nodes) {
    first_[kind] = colour_.size();
    for (const int number : numbered(nodes)) colour_.push_back(static_cast<int>(kind) * 1'000'000 + number);
  }

  std::size_t node(NodeId id) const { return first_.at(id.kind) + static_cast<std::size_t>(id.index); }

  void join(NodeId from, NodeId to, int forth, int back) {
    edges_[node(from)].push_back({forth, node(to)});
    edges_[node(to)].push_back({back, node(from)});
  }

  /// Colours alone do not tell a neighbour below the same switch from one below another that is like it: the
  /// way between the two goes into the kind of the edge.
  void join_in_ring(const Machine& machine, int from, int to) {
    std::vector<int> way;
    for (const auto& route : {nvlink_route(machine, from, to), peer_route(machine, from, to)}) {
      way.push_back(route ? 1 : 0);
      if (!route) continue;
      for (const RouteLeg& leg : route->legs)
        way.push_back(2 * link_values_[static_cast<std::size_t>(leg.link)] + (leg.forward ? 1 : 0));
      way.push_back(static_cast<int>(route->switches.size()));
      way.push_back(static_cast<int>(route->roots.size()));
    }
    const int kind = ways_.try_emplace(way, static_cast<int>(ways_.size())).first->second;
    join({NodeKind::gpu, from}, {NodeKind::gpu, to}, kRings - 2 * kind, kRings - 2 * kind - 1);
  }

  /// @return  whether there are more colours now
  bool refine_once() {
    using Signature = std::pair<int, std::vector<std::pair<int, int>>>;
    std::map<Signature, int> colours;
    std::vector<const int*> of_node;
    for (std::size_t n = 0; n < colour_.size(); ++n) {
      Signature signature{colour_[n], {}};
      for (const auto& [kind, other] : edges_[n]) signature.second.emplace_back(kind, colour_[other]);
      std::sort(signature.second.begin(), signature.second.end());
      of_node.push_back(&colours.try_emplace(std::move(signature), 0).first->second);
    }
    int next = 0;
    for (auto& [signature, colour] : colours) colour = next++;
    for (std::size_t n = 0; n < colour_.size(); ++n) colour_[n] = *of_node[n];
    const bool more = colours.size() > count_;
    count_ = colours.size();
    return more;
  }

  std::map<NodeKind, std::size_t> first_;
  std::vector<int> colour_;
  std::vector<std::vector<std::pair<int, std::size_t>>> edges_;
  std::vector<int> link_values_;
  std::map<std::vector<int>, int> ways_;  // around rings, by number
  std::size_t count_ = 0;
};

}  // namespace

std::vector<std::vector<int>> equal_links(const Machine& machine,
                                          const std::vector<std::vector<int>>& orders) {
  Colouring colouring(machine, orders);
  colouring.refine();
  std::vector<std::vector<int>> classes;
  std::map<std::tuple<int, int, int>, std::size_t> class_of;
  for (std::size_t l = 0; l < machine.links.size(); ++l) {
    const auto [known, fresh] = class_of.try_emplace(colouring.key(machine, l), classes.size());
    if (fresh) classes.emplace_back();
    classes[known->second].push_back(static_cast<int>(l));
  }
  return classes;
}

}  // namespace lanecast
