#include <algorithm>
#include <map>
#include <utility>

#include "model/topology/comparison.hpp"

namespace lanecast {
namespace {

using enum ChangeKind;

/// The two links above one part.
struct LinkPair {
  const Link& a;
  const Link& b;
  std::string where;

  ComparedValue at(ChangeKind less, ChangeKind more, const char* what, const char* key) const {
    return {less, more, where, what, "links." + a.name + "." + key, "links." + b.name + "." + key};
  }
  ComparedValue at(ChangeKind kind, const char* what, const char* key) const {
    return at(kind, kind, what, key);
  }
};

void compare_rates(ChangeList& list, const LinkPair& links) {
  const Link& a = links.a;
  const Link& b = links.b;
  if ((a.idle || b.idle) && a.rate != b.rate) {
    const std::string asleep = a.idle && b.idle ? "A and B" : a.idle ? "A" : "B";
    list.add(idle, links.where, shown(a.rate), shown(b.rate),
             links.where + ": idle in " + asleep + ", so that link rate " + shown(b.rate) + ", " +
                 shown(a.rate) + " in A, tells nothing");
  } else {
    list.compare(links.at(link_slower, link_faster, "link rate", "rate"), std::optional(a.rate),
                 std::optional(b.rate));
  }
  list.compare(links.at(link_narrower, link_wider, "link width", "width"), lanes(a.width), lanes(b.width));
  list.compare(links.at(capability_lower, capability_higher, "possible link rate", "max_rate"),
               std::optional(a.max_rate), std::optional(b.max_rate));
  list.compare(links.at(capability_lower, capability_higher, "possible link width", "max_width"),
               lanes(a.max_width), lanes(b.max_width));
  list.compare(links.at(capability_lower, capability_higher, "possible rate of the card", "device_max_rate"),
               a.device_max_rate, b.device_max_rate);
  list.compare(
      links.at(capability_lower, capability_higher, "possible width of the card", "device_max_width"),
      lanes(a.device_max_width), lanes(b.device_max_width));
}

void compare_controls(ChangeList& list, const LinkPair& links) {
  const Link& a = links.a;
  const Link& b = links.b;
  list.compare(links.at(payload, "payload", "mps"), std::optional(a.mps), std::optional(b.mps));
  list.compare(links.at(payload, "possible payload", "max_mps"), a.max_mps, b.max_mps);
  list.compare(links.at(value, "read requests", "mrrs"), std::optional(a.mrrs), std::optional(b.mrrs));
  list.compare(links.at(aspm, "ASPM", "aspm"), std::optional(a.aspm), std::optional(b.aspm));
  list.compare_setting(links.at(value, "share of packets replayed", "replay_rate"),
                       std::optional(a.replay_rate), std::optional(b.replay_rate));
  list.compare_setting(links.at(value, "link latency", "latency"), a.latency, b.latency);
}

void compare_counters(ChangeList& list, const LinkPair& links) {
  const auto compare = [&](const char* what, const char* key, const auto& before, const auto& after) {
    list.compare(links.at(counters_reset, errors_rose, what, key), before, after);
  };
  compare("corrected errors", "corrected_errors", links.a.corrected_errors, links.b.corrected_errors);
  compare("uncorrected errors", "uncorrected_errors", links.a.uncorrected_errors, links.b.uncorrected_errors);
  compare("replays", "replays", links.a.replays, links.b.replays);
}

/// NVLinks from one GPU to another, or to NVSwitches (`to_switches` in place of the second GPU).
struct Bundle {
  int count = 0;
  const Link* first = nullptr;

  std::string path(const char* key) const {
    return first == nullptr ? "" : "links." + first->name + "." + key;
  }
};

constexpr int to_switches = -1;
using Ends = std::pair<int, int>;

Ends ends_of(int gpu, int peer) {
  return peer == to_switches ? Ends(gpu, peer) : Ends(std::min(gpu, peer), std::max(gpu, peer));
}

std::map<Ends, Bundle> bundles_of(const Machine& machine) {
  std::map<Ends, Bundle> bundles;
  for (const Link& link : machine.links) {
    if (link.kind != LinkKind::nvlink) continue;
    const auto [low, high] = std::minmax(link.from, link.to);  // GPUs sort before NVSwitches
    if (low.kind != NodeKind::gpu) continue;
    Bundle& bundle = bundles[ends_of(low.index, high.kind == NodeKind::gpu ? high.index : to_switches)];
    bundle.count += link.count;
    if (bundle.first == nullptr) bundle.first = &link;
  }
  return bundles;
}

/// The bundles of a machine between GPUs that the other one has too, under the indices of A.
std::map<Ends, Bundle> shared_bundles(const Machine& machine, const std::map<int, int>& index_in_a) {
  std::map<Ends, Bundle> shared;
  for (const auto& [ends, bundle] : bundles_of(machine)) {
    const auto gpu = index_in_a.find(ends.first), peer = index_in_a.find(ends.second);
    if (gpu == index_in_a.end() || peer == index_in_a.end()) continue;
    shared[ends_of(gpu->second, peer->second)] = bundle;
  }
  return shared;
}

void compare_nvlinks(Comparison& of) {
  std::map<int, int> of_a{{to_switches, to_switches}}, of_b = of_a;
  for (const PartPair& pair : of.pairs.gpus.pairs) {
    of_a[pair.before] = pair.before;
    of_b[pair.after] = pair.before;
  }
  auto before = shared_bundles(of.a, of_a), after = shared_bundles(of.b, of_b);
  std::map<Ends, Bundle> both = before;
  both.insert(after.begin(), after.end());
  for (const auto& entry : both) {
    const Ends ends = entry.first;
    const Bundle& a = before[ends];
    const Bundle& b = after[ends];
    const std::string peer =
        ends.second == to_switches ? "NVSwitches" : label(of.a, {NodeKind::gpu, ends.second});
    const std::string where = label(of.a, {NodeKind::gpu, ends.first}) + " to " + peer;
    of.list.compare({nvlinks, nvlinks, where, "NVLinks", a.path("count"), b.path("count")},
                    std::optional(a.count), std::optional(b.count));
    if (a.first == nullptr || b.first == nullptr) continue;
    of.list.compare({value, value, where, "rate of an NVLink", a.path("rate"), b.path("rate")},
                    a.first->lane_rate, b.first->lane_rate);
  }
}

const Link* socket_link(const Machine& machine, int one, int other) {
  for (const Link& link : machine.links) {
    if (link.kind != LinkKind::socket) continue;
    if (ends_of(link.from.index, link.to.index) == ends_of(one, other)) return &link;
  }
  return nullptr;
}

void compare_socket_links(Comparison& of) {
  for (const PartPair& one : of.pairs.cpus.pairs) {
    for (const PartPair& other : of.pairs.cpus.pairs) {
      if (other.before <= one.before) continue;
      const Link* a = socket_link(of.a, one.before, other.before);
      const Link* b = socket_link(of.b, one.after, other.after);
      if (a == nullptr && b == nullptr) continue;
      const std::string where =
          label(of.a, {NodeKind::cpu, one.before}) + " to " + label(of.a, {NodeKind::cpu, other.before});
      if (a == nullptr || b == nullptr) {
        of.list.add(a == nullptr ? added : gone, where, a == nullptr ? "" : a->name,
                    b == nullptr ? "" : b->name,
                    where + ": the socket link is " + (a == nullptr ? "new" : "gone"));
        continue;
      }
      const LinkPair links{*a, *b, where};
      of.list.compare(links.at(value, "rate of the socket link", "rate"), a->lane_rate, b->lane_rate);
      of.list.compare_setting(links.at(value, "latency of the socket link", "latency"), a->latency,
                              b->latency);
    }
  }
}

}  // namespace

void compare_links(Comparison& of) {
  for (const NodeKind kind : {NodeKind::gpu, NodeKind::nic, NodeKind::pcie_switch}) {
    for (const PartPair& pair : of.pairs.of(kind).pairs) {
      const NodeId in_a{kind, pair.before}, in_b{kind, pair.after};
      const auto a = of.above_a.find(in_a), b = of.above_b.find(in_b);
      if (a == of.above_a.end() || b == of.above_b.end()) continue;
      const LinkPair links{*a->second, *b->second, label(of, in_a, in_b)};
      compare_rates(of.list, links);
      compare_controls(of.list, links);
      if (pair.how == Recognized::same) compare_counters(of.list, links);
    }
  }
  compare_nvlinks(of);
  compare_socket_links(of);
}

}  // namespace lanecast
