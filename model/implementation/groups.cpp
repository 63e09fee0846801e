#include "model/implementation/groups.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "model/topology/routes.hpp"

namespace lanecast {
namespace {

using Key = std::function<int(int gpu)>;  // which group a GPU belongs to

int numa_node(const Machine& machine, int gpu) { return cpu_of(machine, {NodeKind::gpu, gpu}).value_or(-1); }

int socket(const Machine& machine, int gpu) {
  const int cpu = numa_node(machine, gpu);
  return cpu < 0 ? -1 : machine.cpus[static_cast<std::size_t>(cpu)].socket;
}

/// The PCIe link on the GPU's way to the root that has `above` links above it: what all GPUs of a switch
/// hierarchy, or of one of its switches, share. The GPU's own where its way is shorter.
int link_below_root(const Machine& machine, int gpu, std::size_t above) {
  const std::vector<int> links = links_to_root(machine, {NodeKind::gpu, gpu});
  if (links.empty()) return -1;
  return links[links.size() - 1 - std::min(above, links.size() - 1)];
}

/// The first rank that NVLink joins this one with, directly or through others.
int nvlink_island(const Machine& machine, const std::vector<int>& ranks, int gpu) {
  for (const int other : ranks) {
    if (other == gpu || nvlink_route(machine, other, gpu)) return other;
  }
  return gpu;
}

std::optional<Groups> grouped(const std::vector<int>& ranks, const Key& key, bool keep_order) {
  std::vector<int> keys;  // in order of appearance
  std::map<int, std::vector<int>> groups;
  for (const int gpu : ranks) {
    const int group = key(gpu);
    if (groups.count(group) == 0) keys.push_back(group);
    groups[group].push_back(gpu);
  }
  const std::size_t each = groups.begin()->second.size();
  const bool equal = std::all_of(groups.begin(), groups.end(),
                                 [&](const auto& group) { return group.second.size() == each; });
  if (!equal || groups.size() < 2 || each < 2) return std::nullopt;
  Groups result;
  result.group_ranks = static_cast<int>(each);
  for (const int group : keys)
    result.order.insert(result.order.end(), groups[group].begin(), groups[group].end());
  if (keep_order && result.order != ranks) return std::nullopt;
  return result;
}

}  // namespace

Groups equal_groups(const Machine& machine, const std::vector<int>& ranks, bool keep_order) {
  const std::vector<Key> levels = {[&](int gpu) { return socket(machine, gpu); },
                                   [&](int gpu) { return numa_node(machine, gpu); },
                                   [&](int gpu) { return nvlink_island(machine, ranks, gpu); },
                                   [&](int gpu) {
                                     return root_of(machine, {NodeKind::gpu, gpu}).value_or(-1);
                                   },
                                   [&](int gpu) { return link_below_root(machine, gpu, 0); },
                                   [&](int gpu) { return link_below_root(machine, gpu, 1); },
                                   [&](int gpu) { return link_below_root(machine, gpu, 2); }};
  for (const Key& level : levels) {
    if (const auto groups = grouped(ranks, level, keep_order)) return *groups;
  }
  return {ranks, static_cast<int>(ranks.size())};
}

}  // namespace lanecast
