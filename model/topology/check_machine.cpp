#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_map>

#include "model/topology/machine.hpp"

namespace lanecast {
namespace {

constexpr std::size_t max_nodes_of_a_kind = 4096;
constexpr std::size_t max_links = 16384;
constexpr std::size_t max_name_length = 64;
constexpr double min_rate = 1e3;   // B/s; below it the time of a large message means nothing any more
constexpr double max_rate = 1e15;  // B/s
constexpr std::uint64_t min_tlp_bytes = 128;   // PCIe: smallest and largest encodable Max_Payload_Size
constexpr std::uint64_t max_tlp_bytes = 4096;  // and Max_Read_Request_Size
constexpr int max_bonded_links = 1024;
constexpr int max_compute_capability = 999;

std::string element(std::string_view section, std::size_t index) {
  return std::string(section) + "[" + std::to_string(index) + "]";
}
std::string quoted(const std::string& name) { return "`" + name + "`"; }
std::size_t at_index(int index) { return static_cast<std::size_t>(index); }

/// The machine, what is wrong with it so far, and the first PCIe link that ends at each node (-1: none).
struct Check {
  const Machine& machine;
  std::vector<MachineProblem> problems{};
  std::vector<int> above_switch{}, above_gpu{}, above_nic{};

  void add(const std::string& path, const std::string& text, const std::string& mend) {
    problems.push_back({path, text, mend});
  }

  std::size_t count(NodeKind kind) const {
    switch (kind) {
      case NodeKind::gpu:
        return machine.gpus.size();
      case NodeKind::pcie_switch:
        return machine.switches.size();
      case NodeKind::root:
        return machine.roots.size();
      case NodeKind::cpu:
        return machine.cpus.size();
      case NodeKind::nvswitch:
        return machine.nvswitches.size();
      case NodeKind::nic:
        break;
    }
    return machine.nics.size();
  }

  bool exists(NodeId id) const { return id.index >= 0 && at_index(id.index) < count(id.kind); }
  std::string describe(NodeId id) const {
    return to_string(id.kind) + (" " + quoted(node_name(machine, id)));
  }

  std::vector<int>& links_above(NodeKind kind) {
    return kind == NodeKind::gpu ? above_gpu : kind == NodeKind::nic ? above_nic : above_switch;
  }
  int link_above(NodeId id) const {
    if (id.kind == NodeKind::gpu) return above_gpu[at_index(id.index)];
    if (id.kind == NodeKind::nic) return above_nic[at_index(id.index)];
    return id.kind == NodeKind::pcie_switch ? above_switch[at_index(id.index)] : -1;
  }
  bool reaches_root(NodeId id) const {
    for (std::size_t steps = 0; steps <= machine.switches.size() + 1; ++steps) {  // bounded: cycles exist
      if (id.kind == NodeKind::root) return true;
      const int above = link_above(id);
      if (above < 0) return false;
      id = machine.links[at_index(above)].from;
    }
    return false;
  }
};

void check_name(Check& check, const std::string& path, const std::string& name) {
  constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
  if (name.empty()) {
    check.add(path, "a name is empty", "give it a name of letters, digits, `_`, `.` and `-`");
  } else if (name.size() > max_name_length) {
    check.add(path, "a name has " + std::to_string(name.size()) + " characters; at most 64 are allowed",
              "shorten it");
  } else if (name.find_first_not_of(allowed) != std::string::npos) {
    check.add(path, "a name has characters other than letters, digits, `_`, `.` and `-`",
              "rename it; `--set` and reports address it by name");
  }
}

template <class T>
void check_names(Check& check, std::string_view section, const std::vector<T>& items) {
  std::unordered_map<std::string_view, std::size_t> first;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string path = element(section, i) + ".name";
    check_name(check, path, items[i].name);
    const auto [seen, is_new] = first.emplace(items[i].name, i);
    if (is_new || items[i].name.empty()) continue;
    check.add(path, "the name " + quoted(items[i].name) + " is taken by " + element(section, seen->second),
              "rename one of them; names are unique within `" + std::string(section) + "`");
  }
}

/// False when there is too much of something: then nothing else is looked at, which bounds the time.
bool check_sizes(Check& check) {
  const auto limit = [&](const char* section, std::size_t count, std::size_t most) {
    if (count <= most) return;
    check.add(section, std::to_string(count) + " entries; at most " + std::to_string(most) + " are allowed",
              "split the machine into the nodes of a cluster");
  };
  limit("cpus", check.machine.cpus.size(), max_nodes_of_a_kind);
  limit("roots", check.machine.roots.size(), max_nodes_of_a_kind);
  limit("switches", check.machine.switches.size(), max_nodes_of_a_kind);
  limit("gpus", check.machine.gpus.size(), max_nodes_of_a_kind);
  limit("nvswitches", check.machine.nvswitches.size(), max_nodes_of_a_kind);
  limit("nics", check.machine.nics.size(), max_nodes_of_a_kind);
  limit("links", check.machine.links.size(), max_links);
  return check.problems.empty();
}

void check_rate(Check& check, const std::string& path, const std::string& what, BytesPerSecond rate) {
  const double rate_bytes_per_second = rate.value();
  if (rate_bytes_per_second >= min_rate && rate_bytes_per_second <= max_rate) return;  // false for NaN
  check.add(path,
            what + " is " + std::to_string(rate_bytes_per_second / 1e9) +
                " GB/s; it must lie between 1 kB/s and 1 PB/s",
            "take the rate from a measurement or a data sheet");
}

void check_latency(Check& check, const std::string& path, const std::string& what,
                   std::optional<Seconds> latency) {
  if (!latency || (latency->value() >= 0 && latency->value() <= 1)) return;
  const double latency_us = latency->value() * 1e6;
  check.add(path, what + " is " + std::to_string(latency_us) + " us; it must lie between 0 and 1 s",
            "leave it out to take the profile's value");
}

void check_tlp_size(Check& check, const std::string& path, const std::string& what, Bytes size) {
  const std::uint64_t size_bytes = size.value();
  const bool power_of_two = (size_bytes & (size_bytes - 1)) == 0;
  if (power_of_two && size_bytes >= min_tlp_bytes && size_bytes <= max_tlp_bytes) return;
  check.add(path,
            what + " is " + std::to_string(size_bytes) + " B; it is 128, 256, 512, 1024, 2048 or 4096 B",
            "take MaxPayload and MaxReadReq from the line \"DevCtl:\" of `lspci -vv`");
}

void check_width(Check& check, const std::string& path, const std::string& what, int width) {
  if (is_pcie_width(width)) return;
  check.add(path, what + " x" + std::to_string(width) + "; a PCIe link is x1, x2, x4, x8, x12 or x16",
            "take the width that `lspci -vv` prints after \"LnkSta:\"");
}

void check_gpus(Check& check) {
  const auto& gpus = check.machine.gpus;
  if (gpus.empty()) {
    check.add("gpus", "the machine has no GPU",
              "list at least one under `gpus:` and link it to a root or switch");
  } else if (std::none_of(gpus.begin(), gpus.end(), [](const Gpu& gpu) { return gpu.present; })) {
    check.add("gpus", "no GPU is present", "leave at least one without `present: false`");
  }
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const std::string what = " of gpu " + quoted(gpus[i].name);
    if (gpus[i].sm < 0 || gpus[i].sm > max_compute_capability) {
      check.add(
          element("gpus", i) + ".sm",
          "sm" + what + " is " + std::to_string(gpus[i].sm) + "; it is the compute capability times ten",
          "write 80 for 8.0, 120 for 12.0; leave it out where it is unknown");
    }
    if (gpus[i].l2 && gpus[i].l2->value() == 0) {
      check.add(element("gpus", i) + ".l2", "l2" + what + " is 0 B", "leave it out where it is unknown");
    }
  }
}

void check_hosts(Check& check) {
  const Machine& machine = check.machine;
  for (std::size_t i = 0; i < machine.cpus.size(); ++i) {
    check_rate(check, element("cpus", i) + ".memory_rate",
               "memory_rate of cpu " + quoted(machine.cpus[i].name), machine.cpus[i].memory_rate);
  }
  for (std::size_t i = 0; i < machine.roots.size(); ++i) {
    const RootComplex& root = machine.roots[i];
    const std::string path = element("roots", i), what = " of root " + quoted(root.name);
    if (!check.exists({NodeKind::cpu, root.cpu})) {
      check.add(path + ".cpu", "root " + quoted(root.name) + " belongs to a cpu that is absent",
                "let it name one of `cpus:`; a machine has at least one");
    }
    if (root.p2p_rate) check_rate(check, path + ".p2p_rate", "p2p_rate" + what, *root.p2p_rate);
    if (root.p2p_port_rate)
      check_rate(check, path + ".p2p_port_rate", "p2p_port_rate" + what, *root.p2p_port_rate);
    check_latency(check, path + ".latency", "latency" + what, root.latency);
  }
  for (std::size_t i = 0; i < machine.switches.size(); ++i) {
    check_latency(check, element("switches", i) + ".latency",
                  "latency of switch " + quoted(machine.switches[i].name), machine.switches[i].latency);
  }
  for (std::size_t i = 0; i < machine.nics.size(); ++i) {
    check_rate(check, element("nics", i) + ".rate", "rate of nic " + quoted(machine.nics[i].name),
               machine.nics[i].rate);
  }
}

void check_end(Check& check, const std::string& path, const Link& link, NodeId id, bool fits,
               const char* wanted) {
  const std::string what = to_string(link.kind) + (" link " + quoted(link.name));
  if (!check.exists(id)) {
    check.add(path, what + " ends at a node that is absent",
              "let both of its ends name nodes of the machine");
  } else if (!fits) {
    check.add(path, what + " has an end at " + check.describe(id) + "; it must be " + wanted,
              "correct the end or the link's `kind`");
  }
}

void check_ends(Check& check, const std::string& path, const Link& link) {
  const NodeKind from = link.from.kind, to = link.to.kind;
  const auto nvlink_end = [](NodeKind kind) { return kind == NodeKind::gpu || kind == NodeKind::nvswitch; };
  const auto pcie_up = [](NodeKind kind) { return kind == NodeKind::root || kind == NodeKind::pcie_switch; };
  const auto pcie_down = [](NodeKind kind) {
    return kind == NodeKind::pcie_switch || kind == NodeKind::gpu || kind == NodeKind::nic;
  };
  if (link.kind == LinkKind::pcie) {
    check_end(check, path + ".from", link, link.from, pcie_up(from), "a root or switch, the upstream end");
    check_end(check, path + ".to", link, link.to, pcie_down(to), "a switch, gpu or nic, the downstream end");
  } else if (link.kind == LinkKind::nvlink) {
    check_end(check, path + ".from", link, link.from, nvlink_end(from), "a gpu or nvswitch");
    check_end(check, path + ".to", link, link.to, nvlink_end(to), "a gpu or nvswitch");
  } else {
    check_end(check, path + ".from", link, link.from, from == NodeKind::cpu, "a cpu");
    check_end(check, path + ".to", link, link.to, to == NodeKind::cpu, "a cpu");
  }
  if (link.kind != LinkKind::pcie && check.exists(link.from) && link.from == link.to) {
    check.add(path + ".to",
              "link " + quoted(link.name) + " leads from " + check.describe(link.to) + " to itself",
              "correct one of its ends");
  }
}

void check_pcie_link(Check& check, const std::string& path, const Link& link) {
  const std::string what = "link " + quoted(link.name);
  check_width(check, path + ".width", what + " has width", link.width);
  if (link.max_width != link.width)
    check_width(check, path + ".max_width", what + " has max_width", link.max_width);
  if (is_pcie_width(link.width) && is_pcie_width(link.max_width) && link.width > link.max_width) {
    check.add(path + ".width",
              what + " has width x" + std::to_string(link.width) + " above its max_width x" +
                  std::to_string(link.max_width),
              "raise max_width or lower width");
  }
  if (link.rate > link.max_rate) {
    check.add(path + ".rate",
              what + " has rate " + to_string(link.rate) + " above its max_rate " + to_string(link.max_rate),
              "raise max_rate or lower rate");
  }
  check_tlp_size(check, path + ".mps", "mps of " + what, link.mps);
  check_tlp_size(check, path + ".mrrs", "mrrs of " + what, link.mrrs);
  if (link.replay_rate >= 0 && link.replay_rate <= 0.5) return;  // false for NaN
  check.add(path + ".replay_rate",
            "replay_rate of " + what + " is " + std::to_string(link.replay_rate) +
                "; it must lie between 0 and 0.5",
            "give the share of packets that are sent again, such as 1e-4");
}

void check_link(Check& check, std::size_t index) {
  const Link& link = check.machine.links[index];
  const std::string path = element("links", index), what = " of link " + quoted(link.name);
  check_ends(check, path, link);
  check_latency(check, path + ".latency", "latency" + what, link.latency);
  if (link.kind == LinkKind::pcie) return check_pcie_link(check, path, link);
  if (link.lane_rate) check_rate(check, path + ".rate", "rate" + what, *link.lane_rate);
  if (link.kind == LinkKind::nvlink && (link.count < 1 || link.count > max_bonded_links)) {
    check.add(path + ".count",
              "count" + what + " is " + std::to_string(link.count) + "; it must lie in 1 to 1024",
              "take the number behind `NV` in `nvidia-smi topo -m`");
  }
}

void check_parents(Check& check) {
  check.above_switch.assign(check.machine.switches.size(), -1);
  check.above_gpu.assign(check.machine.gpus.size(), -1);
  check.above_nic.assign(check.machine.nics.size(), -1);
  for (std::size_t i = 0; i < check.machine.links.size(); ++i) {
    const Link& link = check.machine.links[i];
    const NodeKind to = link.to.kind;
    const bool below = to == NodeKind::pcie_switch || to == NodeKind::gpu || to == NodeKind::nic;
    if (link.kind != LinkKind::pcie || !below || !check.exists(link.from) || !check.exists(link.to)) continue;
    int& above = check.links_above(to)[at_index(link.to.index)];
    if (above >= 0) {
      const std::string& other = check.machine.links[at_index(above)].name;
      check.add(
          element("links", i) + ".to",
          check.describe(link.to) + " hangs below two links, " + quoted(other) + " and " + quoted(link.name),
          "keep one: PCIe is a tree, each device has one upstream link");
    } else {
      above = static_cast<int>(i);
    }
  }
}

void check_cycles(Check& check) {
  std::vector<std::size_t> walk_of(check.machine.switches.size(), 0);  // the walk that came by first
  for (std::size_t start = 0; start < walk_of.size(); ++start) {
    NodeId at{NodeKind::pcie_switch, static_cast<int>(start)};
    while (at.kind == NodeKind::pcie_switch && walk_of[at_index(at.index)] == 0) {
      walk_of[at_index(at.index)] = start + 1;
      const int above = check.link_above(at);
      if (above < 0) break;
      const Link& link = check.machine.links[at_index(above)];
      at = link.from;
      if (at.kind != NodeKind::pcie_switch || walk_of[at_index(at.index)] != start + 1) continue;
      check.add(element("links", at_index(above)) + ".from",
                "switches form a cycle: link " + quoted(link.name) + " leads back to " + check.describe(at),
                "let the uppermost switch hang below a root");
    }
  }
}

void check_connected(Check& check) {
  const Machine& machine = check.machine;
  std::vector<bool> on_nvlink(machine.gpus.size(), false);
  for (const Link& link : machine.links) {
    for (const NodeId end : {link.from, link.to}) {
      const bool joins = link.kind == LinkKind::nvlink && end.kind == NodeKind::gpu && check.exists(end);
      if (joins) on_nvlink[at_index(end.index)] = true;
    }
  }
  const auto demand = [&](const char* section, NodeId id, const char* what) {
    if (check.reaches_root(id)) return;
    check.add(element(section, at_index(id.index)), check.describe(id) + " is unconnected: " + what,
              "add a link `{from: ROOT or SWITCH, to: " + node_name(machine, id) + ", ...}`");
  };
  for (int i = 0; at_index(i) < machine.gpus.size(); ++i) {
    if (!machine.gpus[at_index(i)].present || on_nvlink[at_index(i)]) continue;
    demand("gpus", {NodeKind::gpu, i}, "it has no path to a root and no NVLink");
  }
  for (int i = 0; at_index(i) < machine.nics.size(); ++i) {
    demand("nics", {NodeKind::nic, i}, "it has no path to a root");
  }
}

void check_sockets(Check& check) {
  const auto& cpus = check.machine.cpus;
  std::vector<std::vector<int>> neighbours(cpus.size());
  for (const Link& link : check.machine.links) {
    const bool between = link.from.kind == NodeKind::cpu && link.to.kind == NodeKind::cpu;
    if (link.kind != LinkKind::socket || !between || !check.exists(link.from) || !check.exists(link.to))
      continue;
    neighbours[at_index(link.from.index)].push_back(link.to.index);
    neighbours[at_index(link.to.index)].push_back(link.from.index);
  }
  std::vector<bool> reached(cpus.size(), false);
  std::vector<int> open(cpus.empty() ? 0 : 1, 0);
  while (!open.empty()) {
    const std::size_t at = at_index(open.back());
    open.pop_back();
    if (reached[at]) continue;
    reached[at] = true;
    open.insert(open.end(), neighbours[at].begin(), neighbours[at].end());
  }
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    if (reached[i]) continue;
    check.add(element("cpus", i),
              "no socket link joins cpu " + quoted(cpus[i].name) + " to cpu " + quoted(cpus[0].name),
              "add a link `{kind: socket, from: " + cpus[0].name + ", to: " + cpus[i].name + ", rate: ...}`");
  }
}

}  // namespace

std::vector<MachineProblem> check_machine(const Machine& machine) {
  Check check{machine};
  if (!check_sizes(check)) return check.problems;
  check_names(check, "cpus", machine.cpus);
  check_names(check, "roots", machine.roots);
  check_names(check, "switches", machine.switches);
  check_names(check, "gpus", machine.gpus);
  check_names(check, "nvswitches", machine.nvswitches);
  check_names(check, "nics", machine.nics);
  check_names(check, "links", machine.links);
  check_hosts(check);
  check_gpus(check);
  for (std::size_t i = 0; i < machine.links.size(); ++i) check_link(check, i);
  check_parents(check);
  check_cycles(check);
  check_connected(check);
  check_sockets(check);
  return check.problems;
}

}  // namespace lanecast
