#include "configs/dumps/peer_access_from_facts.hpp"

#include <algorithm>
#include <set>

#include "configs/dumps/matrix_check.hpp"

namespace lanecast {
namespace {

using Pairs = std::map<std::pair<int, int>, Statement<bool>>;

/// By GPUs' indices, the smaller first: granted only where both directions are.
Pairs pairs_of(const MachineFacts& facts, const Items& items) {
  std::map<std::string, int> by_address;
  std::map<int, int> by_number;
  for (std::size_t i = 0; i < items.gpus.size(); ++i) {
    if (!items.gpus[i].address.empty()) by_address[items.gpus[i].address] = static_cast<int>(i);
    if (items.gpus[i].number >= 0) by_number[items.gpus[i].number] = static_cast<int>(i);
  }
  Pairs pairs;
  const auto add = [&](const auto& index, const auto& key, const Statement<bool>& told) {
    const auto a = index.find(key.first), b = index.find(key.second);
    if (a == index.end() || b == index.end() || a->second == b->second) return;
    const auto [known, is_new] = pairs.emplace(std::minmax({a->second, b->second}), told);
    if (!is_new && !told.value) known->second = told;
  };
  for (const auto& [key, told] : facts.peer_access) add(by_address, key, told);
  for (const auto& [key, told] : facts.numbered_peer_access) add(by_number, key, told);
  return pairs;
}

/// Pairs that NVLink joins, directly or through NVSwitches.
std::set<std::pair<int, int>> nvlink_pairs(const Machine& machine) {
  std::set<std::pair<int, int>> joined;
  std::vector<int> on_switch;
  for (const Link& link : machine.links) {
    if (link.kind != LinkKind::nvlink) continue;
    if (link.to.kind == NodeKind::nvswitch) on_switch.push_back(link.from.index);
    if (link.to.kind == NodeKind::gpu) joined.insert(std::minmax({link.from.index, link.to.index}));
  }
  for (const int a : on_switch) {
    for (const int b : on_switch) {
      if (a < b) joined.insert({a, b});
    }
  }
  return joined;
}

void set_gpu(Machine& machine, int gpu, bool value, const std::string& from, OriginBook& book) {
  Gpu& own = machine.gpus[static_cast<std::size_t>(gpu)];
  const std::string path = "gpus." + own.name + ".p2p";
  if (own.p2p && *own.p2p != value)
    book.contradict(
        {path, *own.p2p ? "true" : "false", "what a dump states of the GPU", value ? "true" : "false", from});
  if (own.p2p) return;
  own.p2p = value;
  book.stated(path, from);
}

}  // namespace

void set_peer_access(const MachineFacts& facts, const Items& items, const Layout& layout, Machine& machine,
                     OriginBook& book) {
  Pairs pairs = pairs_of(facts, items);
  for (const auto& pair : nvlink_pairs(machine)) pairs.erase(pair);
  std::map<int, std::pair<int, int>> granted_refused;  // of each GPU
  std::optional<Distance> farthest_granted, nearest_refused;
  std::string from;
  for (const auto& [pair, told] : pairs) {
    const Distance apart = layout_distance(layout, pair.first, pair.second);
    for (const int gpu : {pair.first, pair.second})
      ++(told.value ? granted_refused[gpu].first : granted_refused[gpu].second);
    auto& bound = told.value ? farthest_granted : nearest_refused;
    if (!bound || (told.value ? apart > *bound : apart < *bound)) bound = apart;
    if (!told.value || from.empty()) from = told.from;
  }
  const bool level = farthest_granted && nearest_refused && *farthest_granted < *nearest_refused;
  bool unexplained = false;
  for (const auto& [gpu, counts] : granted_refused) {
    const auto [granted, refused] = counts;
    if (granted == 0 && !level) {
      set_gpu(machine, gpu, false, from, book);
    } else if (granted > 0) {
      set_gpu(machine, gpu, true, from, book);
    }
  }
  for (const auto& [pair, told] : pairs) {
    const bool able = granted_refused[pair.first].first > 0 && granted_refused[pair.second].first > 0;
    unexplained = unexplained || (!told.value && able && !level);
  }
  if (level) {
    machine.p2p.level = farthest_granted;
    book.stated("p2p.level", from + ", by the farthest pair that is granted access");
  } else if (unexplained) {
    book.note("the driver refuses peer access to some pairs and grants it to others that are no nearer (" +
              from + "): no level says that, so the machine grants it to all of these GPUs");
  }
}

}  // namespace lanecast
