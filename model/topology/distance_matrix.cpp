#include "model/topology/distance_matrix.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

namespace lanecast {
namespace {

std::size_t at_index(int index) { return static_cast<std::size_t>(index); }

/// The bridges above a node, nearest first, and the NUMA node of its root. Looked up once a node, since a
/// matrix asks for each of them again and again.
struct Place {
  std::vector<NodeId> above;  // switches, then the root
  std::optional<int> cpu;
};

std::map<NodeId, NodeId> parents_of(const Machine& machine) {
  std::map<NodeId, NodeId> parents;
  for (const Link& link : machine.links) {
    if (link.kind == LinkKind::pcie) parents.emplace(link.to, link.from);
  }
  return parents;
}

Place place_of(const Machine& machine, const std::map<NodeId, NodeId>& parents, NodeId node) {
  Place place;
  for (auto up = parents.find(node); up != parents.end() && place.above.size() <= parents.size();
       up = parents.find(up->second)) {
    place.above.push_back(up->second);
  }
  if (!place.above.empty() && place.above.back().kind == NodeKind::root) {
    place.cpu = machine.roots[at_index(place.above.back().index)].cpu;
  }
  return place;
}

/// As pcie_distance(machine, a, b) of two different nodes.
Distance distance_of(const Place& a, const Place& b) {
  for (const NodeId& turn : a.above) {
    const auto same = std::find(b.above.begin(), b.above.end(), turn);
    if (same == b.above.end()) continue;
    if (turn.kind == NodeKind::root) return Distance::phb;
    return turn == a.above.front() && same == b.above.begin() ? Distance::pix : Distance::pxb;
  }
  return a.cpu && a.cpu == b.cpu ? Distance::node : Distance::sys;
}

/// NVLinks of a machine, summed up by what they join.
class Nvlinks {
 public:
  explicit Nvlinks(const Machine& machine)
      : group_of_(machine.nvswitches.size()), fabrics_(machine.gpus.size()) {
    std::iota(group_of_.begin(), group_of_.end(), 0);
    for (const Link& link : machine.links) {
      if (link.kind == LinkKind::nvlink) add(link);
    }
    for (const auto& [gpu, nvswitch] : uplinks_) fabrics_[at_index(gpu)].push_back(group(nvswitch));
  }

  int between(int a, int b) const {
    const auto direct = direct_.find(std::minmax(a, b));
    if (direct != direct_.end()) return direct->second;
    const auto& near = fabrics_[at_index(a)];
    const auto& far = fabrics_[at_index(b)];
    const bool joined = std::find_first_of(near.begin(), near.end(), far.begin(), far.end()) != near.end();
    return joined ? std::min(to_switches_.at(a), to_switches_.at(b)) : 0;
  }

 private:
  void add(const Link& link) {
    const auto [low, high] = std::minmax(link.from, link.to);  // GPUs sort before NVSwitches
    if (high.kind == NodeKind::gpu) {
      direct_[{low.index, high.index}] += link.count;
    } else if (low.kind == NodeKind::gpu) {
      to_switches_[low.index] += link.count;
      uplinks_.emplace_back(low.index, high.index);
    } else {
      group_of_[at_index(group(low.index))] = group(high.index);
    }
  }

  int group(int nvswitch) const {
    while (group_of_[at_index(nvswitch)] != nvswitch) nvswitch = group_of_[at_index(nvswitch)];
    return nvswitch;
  }

  std::map<std::pair<int, int>, int> direct_;
  std::map<int, int> to_switches_;            // by GPU
  std::vector<std::pair<int, int>> uplinks_;  // GPU, NVSwitch
  std::vector<int> group_of_;                 // NVSwitches that NVLinks join form one group
  std::vector<std::vector<int>> fabrics_;     // by GPU: the groups that it reaches
};

}  // namespace

TopologyMatrix topology_matrix(const Machine& machine) {
  TopologyMatrix matrix;
  for (std::size_t i = 0; i < machine.gpus.size(); ++i) {
    if (machine.gpus[i].present) matrix.nodes.push_back({NodeKind::gpu, static_cast<int>(i)});
  }
  for (std::size_t i = 0; i < machine.nics.size(); ++i) {
    matrix.nodes.push_back({NodeKind::nic, static_cast<int>(i)});
  }
  const auto parents = parents_of(machine);
  std::vector<Place> places;
  for (const NodeId node : matrix.nodes) places.push_back(place_of(machine, parents, node));
  const Nvlinks nvlinks(machine);
  matrix.cells.assign(places.size(), std::vector<DistanceCell>(places.size()));
  for (std::size_t a = 0; a < places.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      DistanceCell cell{distance_of(places[a], places[b])};
      if (matrix.nodes[a].kind == NodeKind::gpu && matrix.nodes[b].kind == NodeKind::gpu) {
        cell.nvlinks = nvlinks.between(matrix.nodes[a].index, matrix.nodes[b].index);
      }
      matrix.cells[a][b] = matrix.cells[b][a] = cell;
    }
  }
  return matrix;
}

}  // namespace lanecast
