#include "reports/topology_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "reports/safe_text.hpp"

namespace lanecast {
namespace {

/// A line and those nested below it.
struct Branch {
  std::string text;
  std::vector<Branch> children;
};

void print(const std::vector<Branch>& branches, const std::string& indent, std::string& text) {
  for (std::size_t i = 0; i < branches.size(); ++i) {
    const bool last = i + 1 == branches.size();
    text += indent + (last ? "\\- " : "+- ") + branches[i].text + "\n";
    print(branches[i].children, indent + (last ? "   " : "|  "), text);
  }
}

/// Appends ", part" where there is something to say.
void append(std::string& line, const std::string& part) {
  if (!part.empty()) line += (line.empty() ? "" : ", ") + part;
}

std::string counted(std::size_t count, const char* singular, const char* plural) {
  return fmt::format("{} {}", count, count == 1 ? singular : plural);
}

std::string gen_name(PcieRate rate) { return fmt::format("Gen{}", static_cast<int>(rate)); }

std::string size_text(Bytes size) {
  constexpr std::uint64_t kMebi = std::uint64_t{1} << 20, kGibi = std::uint64_t{1} << 30;
  const std::uint64_t size_bytes = size.value();
  if (size_bytes >= kGibi) return fmt::format("{:.4g} GiB", static_cast<double>(size_bytes) / kGibi);
  if (size_bytes >= kMebi) return fmt::format("{:.4g} MiB", static_cast<double>(size_bytes) / kMebi);
  return fmt::format("{} B", size_bytes);
}

std::string rate_text(BytesPerSecond rate) { return fmt::format("{:.5g} GB/s", rate.value() * 1e-9); }
std::string time_text(Seconds time) { return fmt::format("{:.4g} ns", time.value() * 1e9); }

class Tree {
 public:
  explicit Tree(const Machine& machine) : machine_(machine) {
    for (const Link& link : machine.links) {
      if (link.kind == LinkKind::pcie) below_[link.from].push_back(&link);
      if (link.kind == LinkKind::pcie) hanging_.insert(link.to);
    }
  }

  std::string text() const {
    std::string text = head();
    std::vector<Branch> top;
    for (int i = 0; i < static_cast<int>(machine_.cpus.size()); ++i) top.push_back(cpu(i));
    add_loose_parts(top);
    for (std::size_t i = 0; i < machine_.nvswitches.size(); ++i) top.push_back(nvswitch(static_cast<int>(i)));
    for (const Link& link : machine_.links) {
      if (link.kind == LinkKind::socket) top.push_back({socket_link(link), {}});
    }
    print(top, "", text);
    return text;
  }

 private:
  std::string name(NodeId id) const { return safe_text(node_name(machine_, id)); }
  std::string mark(const std::string& path) const { return is_assumed(machine_, path) ? " (assumed)" : ""; }

  std::string head() const;
  std::string peer_access() const;
  Branch cpu(int index) const;
  Branch root(int index) const;
  Branch part(NodeId id, const Link* link) const;
  void add_below(NodeId id, std::vector<Branch>& children) const;
  void add_loose_parts(std::vector<Branch>& top) const;
  std::string describe(NodeId id) const;
  std::string describe_gpu(const Gpu& gpu) const;
  std::string nvlinks(int gpu) const;
  Branch nvswitch(int index) const;
  std::string socket_link(const Link& link) const;

  const Machine& machine_;
  std::map<NodeId, std::vector<const Link*>> below_;
  std::set<NodeId> hanging_;  // nodes with a PCIe link above them
};

std::string Tree::head() const {
  const Machine& m = machine_;
  std::string line =
      "Machine " + safe_text(m.name) + ": " + counted(m.cpus.size(), "NUMA node", "NUMA nodes");
  append(line, counted(m.roots.size(), "root complex", "root complexes"));
  if (!m.switches.empty()) append(line, counted(m.switches.size(), "switch", "switches"));
  const auto gone = static_cast<std::size_t>(
      std::count_if(m.gpus.begin(), m.gpus.end(), [](const Gpu& gpu) { return !gpu.present; }));
  append(line, counted(m.gpus.size() - gone, "GPU", "GPUs"));
  if (gone > 0) append(line, counted(gone, "GPU", "GPUs") + " gone");
  if (!m.nics.empty()) append(line, counted(m.nics.size(), "network adapter", "network adapters"));
  std::string origin;
  if (!m.host.empty()) append(origin, "host " + safe_text(m.host));
  if (!m.taken.empty()) append(origin, "read " + safe_text(m.taken));
  if (!m.driver.empty()) append(origin, "driver " + safe_text(m.driver));
  if (m.virtualized.value_or(false))
    append(origin, "a virtual machine, which may hide bridges and link states");
  std::string text = line + "\n";
  if (!m.description.empty()) text += "|  " + safe_text(m.description) + "\n";
  if (!origin.empty()) text += "|  " + origin + "\n";
  return text + "|  peer access " + peer_access() + "\n";
}

std::string Tree::peer_access() const {
  const PeerAccess& p2p = machine_.p2p;
  std::string text = (p2p.enabled ? "on" : "off for the whole machine") + mark("p2p.enabled");
  if (p2p.level) append(text, std::string("up to ") + to_string(*p2p.level));
  append(text, std::string("IOMMU translation ") + (p2p.iommu ? "on" : "off") + mark("p2p.iommu"));
  return text;
}

Branch Tree::cpu(int index) const {
  const Cpu& cpu = machine_.cpus[static_cast<std::size_t>(index)];
  const std::string path = "cpus." + cpu.name + ".";
  std::string line = safe_text(cpu.name) + fmt::format(": socket {}", cpu.socket) + mark(path + "socket");
  append(line, cpu.numa ? fmt::format("NUMA {}", *cpu.numa) + mark(path + "numa") : "");
  append(line, cpu.model.empty() ? safe_text(cpu.vendor) : safe_text(cpu.model) + mark(path + "model"));
  append(line, cpu.cores.empty() ? "" : "cores " + safe_text(cpu.cores));
  append(line, "memory " + rate_text(cpu.memory_rate) + mark(path + "memory_rate"));
  Branch branch{line, {}};
  for (int i = 0; i < static_cast<int>(machine_.roots.size()); ++i) {
    if (machine_.roots[static_cast<std::size_t>(i)].cpu == index) branch.children.push_back(root(i));
  }
  return branch;
}

Branch Tree::root(int index) const {
  const RootComplex& root = machine_.roots[static_cast<std::size_t>(index)];
  std::string line = safe_text(root.name);
  if (!root.bus.empty()) line += ": bus " + safe_text(root.bus);
  if (is_assumed(machine_, "roots." + root.name + ".cpu")) append(line, "NUMA node assumed");
  if (root.p2p_rate) append(line, "peer traffic at most " + rate_text(*root.p2p_rate));
  if (root.p2p_port_rate) append(line, "of one port at most " + rate_text(*root.p2p_port_rate));
  if (root.latency) append(line, "latency " + time_text(*root.latency));
  Branch branch{line, {}};
  add_below({NodeKind::root, index}, branch.children);
  return branch;
}

void Tree::add_below(NodeId id, std::vector<Branch>& children) const {
  const auto found = below_.find(id);
  if (found == below_.end()) return;
  for (const Link* link : found->second) children.push_back(part(link->to, link));
}

Branch Tree::part(NodeId id, const Link* link) const {
  Branch branch{describe(id), {}};
  if (link != nullptr) {
    branch.text += " [" + pcie_link_text(machine_, *link) + "]";
    if (safe_text(link->name) != name(id)) branch.text += " link " + safe_text(link->name);
  }
  if (id.kind == NodeKind::gpu) {
    const std::string bundles = nvlinks(id.index);
    if (!bundles.empty()) branch.children.push_back({bundles, {}});
  }
  add_below(id, branch.children);
  return branch;
}

/// Parts that hang on no root: GPUs with NVLink alone, cards that are gone, switches that only a dump's
/// excerpt shows.
void Tree::add_loose_parts(std::vector<Branch>& top) const {
  std::vector<Branch> loose;
  const auto add = [&](NodeKind kind, std::size_t count) {
    for (int i = 0; i < static_cast<int>(count); ++i) {
      if (hanging_.count({kind, i}) == 0) loose.push_back(part({kind, i}, nullptr));
    }
  };
  add(NodeKind::pcie_switch, machine_.switches.size());
  add(NodeKind::gpu, machine_.gpus.size());
  add(NodeKind::nic, machine_.nics.size());
  if (!loose.empty()) top.push_back({"without a PCIe path to a root", std::move(loose)});
}

std::string Tree::describe(NodeId id) const {
  const auto index = static_cast<std::size_t>(id.index);
  if (id.kind == NodeKind::gpu) return describe_gpu(machine_.gpus[index]);
  std::string line = name(id);
  if (id.kind == NodeKind::nic) {
    const Nic& nic = machine_.nics[index];
    append(line, safe_text(nic.model));
    append(line, fmt::format("{:.5g} Gbit/s", nic.rate.value() * 8e-9) + mark("nics." + nic.name + ".rate"));
    append(line, safe_text(nic.bdf));
    return line;
  }
  const PcieSwitch& bridge = machine_.switches[index];
  append(line, safe_text(bridge.model));
  append(line, safe_text(bridge.bdf));
  append(line, std::string("ACS redirect ") + (bridge.acs ? "on" : "off") +
                   mark("switches." + bridge.name + ".acs"));
  if (bridge.latency) append(line, "latency " + time_text(*bridge.latency));
  return line;
}

std::string Tree::describe_gpu(const Gpu& gpu) const {
  std::string line = safe_text(gpu.name);
  if (!gpu.present) append(line, "gone");
  append(line, gpu.model.empty() ? "" : safe_text(gpu.model) + mark("gpus." + gpu.name + ".model"));
  append(line, safe_text(gpu.bdf));
  if (gpu.memory) append(line, size_text(*gpu.memory));
  if (gpu.bar1) append(line, "BAR1 " + size_text(*gpu.bar1));
  if (gpu.p2p && !*gpu.p2p) append(line, "no peer access");
  return line;
}

/// "NVLink: 1 to gpu1, 2 to gpu3; 25.781 GB/s each"
std::string Tree::nvlinks(int gpu) const {
  const NodeId self{NodeKind::gpu, gpu};
  std::map<NodeId, int> count_to;
  std::set<double> rates;
  bool count_assumed = false, rate_assumed = false;
  for (const Link& link : machine_.links) {
    if (link.kind != LinkKind::nvlink || (link.from != self && link.to != self)) continue;
    count_to[link.from == self ? link.to : link.from] += link.count;
    if (link.lane_rate) rates.insert(link.lane_rate->value());
    count_assumed = count_assumed || is_assumed(machine_, "links." + link.name + ".count");
    rate_assumed = rate_assumed || is_assumed(machine_, "links." + link.name + ".rate");
  }
  std::string line;
  for (const auto& [peer, count] : count_to) append(line, fmt::format("{} to {}", count, name(peer)));
  if (line.empty()) return line;
  if (count_assumed) line += " (assumed)";
  if (rates.size() == 1) {
    line += "; " + rate_text(BytesPerSecond(*rates.begin())) + " each" + (rate_assumed ? " (assumed)" : "");
  }
  return "NVLink: " + line;
}

Branch Tree::nvswitch(int index) const {
  const NodeId self{NodeKind::nvswitch, index};
  std::set<NodeId> peers;
  int count = 0;
  for (const Link& link : machine_.links) {
    if (link.kind != LinkKind::nvlink || (link.from != self && link.to != self)) continue;
    peers.insert(link.from == self ? link.to : link.from);
    count += link.count;
  }
  const auto switches = static_cast<std::size_t>(std::count_if(
      peers.begin(), peers.end(), [](const NodeId& peer) { return peer.kind == NodeKind::nvswitch; }));
  std::string ends = counted(peers.size() - switches, "GPU", "GPUs");
  if (switches > 0) ends += " and " + counted(switches, "NVSwitch", "NVSwitches");
  return {fmt::format("{}: {} NVLinks to {}", name(self), count, ends), {}};
}

std::string Tree::socket_link(const Link& link) const {
  const std::string path = "links." + link.name + ".";
  std::string line = safe_text(link.name) + ": " + name(link.from) + " to " + name(link.to);
  if (link.lane_rate) append(line, rate_text(*link.lane_rate) + " per direction" + mark(path + "rate"));
  if (link.latency) append(line, "latency " + time_text(*link.latency) + mark(path + "latency"));
  return line;
}

/// "Gen4 x8 (can x16)"
std::string status_text(const Machine& machine, const Link& link) {
  const auto assumed = [&](const char* key) { return is_assumed(machine, "links." + link.name + "." + key); };
  const bool rate = assumed("rate") && !link.idle, width = assumed("width");
  std::string text =
      gen_name(link.rate) + (rate && !width ? " (assumed) x" : " x") + std::to_string(link.width);
  if (width) text += rate ? " (assumed)" : " (width assumed)";
  std::string can;
  if (link.max_rate != link.rate) can += gen_name(link.max_rate);
  if (link.max_width != link.width) can += (can.empty() ? "x" : " x") + std::to_string(link.max_width);
  if (!can.empty()) text += " (can " + can + ")";
  if (link.idle) text += " (idle: " + gen_name(link.rate) + " assumed)";
  std::string card;
  if (link.device_max_rate && *link.device_max_rate > link.max_rate) card += gen_name(*link.device_max_rate);
  if (link.device_max_width && *link.device_max_width > link.max_width) {
    card += (card.empty() ? "x" : " x") + std::to_string(*link.device_max_width);
  }
  if (!card.empty()) text += " (the card can " + card + ")";
  return text;
}

}  // namespace

std::string pcie_link_text(const Machine& machine, const Link& link) {
  const auto mark = [&](const char* key) {
    return is_assumed(machine, "links." + link.name + "." + key) ? " (assumed)" : "";
  };
  std::string text = status_text(machine, link);
  append(text, fmt::format("payload {} B", link.mps.value()) + mark("mps"));
  if (link.max_mps && *link.max_mps > link.mps) text += fmt::format(" (can {} B)", link.max_mps->value());
  if (link.aspm != Aspm::off) append(text, std::string("ASPM ") + to_string(link.aspm) + mark("aspm"));
  const auto errors = [&](const std::optional<std::uint64_t>& count, const char* what) {
    if (count.value_or(0) > 0) append(text, fmt::format("{} {}", *count, what));
  };
  errors(link.corrected_errors, "corrected errors");
  errors(link.uncorrected_errors, "uncorrected errors");
  errors(link.replays, "replays");
  if (link.replay_rate > 0) append(text, fmt::format("{:.3g} of the packets replayed", link.replay_rate));
  if (link.latency) append(text, "latency +" + time_text(*link.latency));
  if (!link.port.empty()) append(text, "port " + safe_text(link.port));
  if (!link.slot.empty()) append(text, "slot " + safe_text(link.slot));
  return text;
}

bool is_degraded(const Link& link) {
  if (link.kind != LinkKind::pcie) return false;
  return (!link.idle && link.rate < link.max_rate) || link.width < link.max_width;
}

std::string topology_tree_text(const Machine& machine) { return Tree(machine).text(); }

}  // namespace lanecast
