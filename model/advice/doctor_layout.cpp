#include <algorithm>
#include <map>
#include <set>

#include "model/advice/doctor_rules.hpp"
#include "model/topology/routes.hpp"
#include "model/topology/switch_parts.hpp"

namespace lanecast {
namespace {

constexpr double kRounding = 1e-9;

std::size_t at_index(int index) { return static_cast<std::size_t>(index); }

std::vector<int> cards_below(const Evidence& evidence, int uplink) {
  std::vector<int> cards;
  for (const int gpu : evidence.gpus) {
    const std::vector<int>& path = evidence.paths[at_index(gpu)];
    if (std::find(path.begin(), path.end(), uplink) != path.end()) cards.push_back(gpu);
  }
  return cards;
}

/// Whether traffic between GPUs crosses an uplink: towards cards elsewhere, or through host memory.
bool carries_peer_traffic(const Evidence& evidence, const std::vector<int>& below) {
  const auto inside = [&](int gpu) { return std::binary_search(below.begin(), below.end(), gpu); };
  return std::any_of(evidence.pairs.begin(), evidence.pairs.end(), [&](const GpuPair& pair) {
    if (pair.nvlink && pair.verdict.allowed) return false;
    return inside(pair.a) != inside(pair.b) || (inside(pair.a) && !pair.verdict.allowed);
  });
}

/// A copy of a root complex, so that cards on it are as far from those on others as they were.
int copied_root(Machine& machine, int root) {
  RootComplex copy = machine.roots[at_index(root)];
  const auto taken = [&](const std::string& name) {
    return std::any_of(machine.roots.begin(), machine.roots.end(),
                       [&](const RootComplex& each) { return each.name == name; });
  };
  std::size_t number = machine.roots.size();
  do copy.name = "root" + std::to_string(number++);
  while (taken(copy.name));
  machine.roots.push_back(copy);
  return static_cast<int>(machine.roots.size()) - 1;
}

/// Each of these cards on a root port of its own. The port is no better than the links on the way now, so
/// that what runs too slow there is not mended along; and who had peer access to whom stays so.
Machine with_own_ports(const Evidence& evidence, const std::set<int>& cards) {
  Machine mended = evidence.machine;
  const Distance level = mended.p2p.level.value_or(
      default_p2p_level(evidence.implementation, mended, static_cast<int>(evidence.gpus.size())));
  const bool raised = std::any_of(evidence.pairs.begin(), evidence.pairs.end(), [&](const GpuPair& pair) {
    return level < Distance::phb && pair.verdict.allowed && !pair.nvlink && cards.count(pair.a) != 0 &&
           cards.count(pair.b) != 0;
  });
  if (raised) mended.p2p.level = Distance::phb;
  std::map<int, int> root_by_port;  // with the level raised, each switch's cards need a root to themselves
  for (const int gpu : cards) {
    const std::vector<int>& path = evidence.paths[at_index(gpu)];
    Link& own = mended.links[at_index(path.front())];
    own.from = evidence.link(path.back()).from;
    if (raised && own.from.kind == NodeKind::root) {
      const auto known = root_by_port.find(path.back());
      own.from.index = known != root_by_port.end() ? known->second : copied_root(mended, own.from.index);
      root_by_port[path.back()] = own.from.index;
    }
    for (const int index : path) {
      own.rate = std::min(own.rate, evidence.link(index).rate);
      own.width = std::min(own.width, evidence.link(index).width);
    }
  }
  return mended;
}

struct SharedUplink {
  std::vector<int> cards;
  double demand = 0;  // of all cards' links at best, bytes a second
  double supply = 0;  // of the uplink at best
  bool known = true;
};

SharedUplink shared_uplink(const Evidence& evidence, int uplink) {
  SharedUplink shared;
  shared.cards = cards_below(evidence, uplink);
  const auto rate_of = [&](int index) {
    const Link& link = evidence.link(index);
    if (!evidence.knows("links", link.name, "from")) shared.known = false;
    if (!evidence.knows("links", link.name, "max_rate") || !evidence.knows("links", link.name, "max_width"))
      shared.known = false;
    return pcie_raw_rate(link.max_rate, link.max_width).value();
  };
  shared.supply = rate_of(uplink);
  for (const int gpu : shared.cards) shared.demand += rate_of(evidence.paths[at_index(gpu)].front());
  return shared;
}

void examine_uplinks(const Evidence& evidence, std::vector<Finding>& findings) {
  RuleFindings rule("LC-UPLINK-01", findings);
  bool some_share = false;
  std::vector<std::string> names;
  std::set<int> cards;
  for (std::size_t i = 0; i < evidence.machine.links.size(); ++i) {
    const Link& uplink = evidence.machine.links[i];
    if (uplink.to.kind != NodeKind::pcie_switch || evidence.gpus_below[i] < 2) continue;
    const SharedUplink shared = shared_uplink(evidence, static_cast<int>(i));
    if (!shared.known || evidence.too_many_for_pairs()) {
      rule.unknown(uplink.name);
      continue;
    }
    if (shared.demand <= shared.supply * (1 + kRounding)) continue;
    some_share = true;
    if (!carries_peer_traffic(evidence, shared.cards)) continue;
    names.push_back(uplink.name + " (" + counted(shared.cards.size(), "card") + ")");
    cards.insert(shared.cards.begin(), shared.cards.end());
  }
  if (!names.empty()) {
    rule.add(
        FindingStatus::warn, named("link", names),
        "all that leaves a switch shares its uplink, which is narrower than the links of the cards below "
        "together",
        "keep ring neighbours below one switch (NCCL does), spread the cards over more switches, or give "
        "each a "
        "root port of its own: the cost is that of the last for all these cards, on ports as good as their "
        "way "
        "to the root is now, and with the peer access that they have",
        with_own_ports(evidence, cards));
  }
  rule.close(
      "link",
      "what stands below the switch, or what its uplink and the cards' links can do at best, is not known",
      "`lspci -vvv` (LnkCap) with `lspci -t`",
      some_share ? "cards share an uplink, but their traffic with each other stays below the switch; copies "
                   "from and to host memory share it"
                 : "no uplink is narrower than the cards below it together");
}

void examine_parts(const Evidence& evidence, std::vector<Finding>& findings) {
  RuleFindings rule("LC-SWITCH-01", findings);
  std::set<int> root_ports;
  for (const int gpu : evidence.gpus) {
    if (!evidence.paths[at_index(gpu)].empty()) root_ports.insert(evidence.paths[at_index(gpu)].back());
  }
  for (std::size_t i = 0; i < evidence.machine.links.size(); ++i) {
    const Link& uplink = evidence.machine.links[i];
    const bool fans_out = evidence.gpus_below[i] >= 2 && root_ports.size() >= 3;  // two beside its own
    if (uplink.to.kind != NodeKind::pcie_switch || !fans_out) continue;
    const PcieSwitch& part = evidence.machine.switches[at_index(uplink.to.index)];
    if (part.model.empty() || !evidence.knows("switches", part.name, "model")) {
      rule.unknown(part.name);
    } else if (collapses_on_fan_out(part.model)) {
      rule.add(FindingStatus::warn, "switch " + part.name,
               "writes from " + counted(static_cast<std::size_t>(evidence.gpus_below[i]), "GPU") +
                   " below this part (" + part.model +
                   ") to two or more other root ports were measured at 3 to 25 % of their rate; rings "
                   "never do that, all-to-all does; the cost is not modelled",
               "measure all-to-all with several sources at once; read instead of writing, or keep such "
               "traffic below "
               "one switch");
    }
  }
  rule.close("switch",
             "the part is not known, and some collapse when several cards write to several root ports",
             "`lspci` (the name of the switch)",
             "no known part from which several cards write to several root ports");
}

/// Where fast adapters are: half as fast as the fastest or more, since a management port is no way out.
struct AdapterPlaces {
  std::set<int> cpus;
  std::set<int> sockets;

  explicit AdapterPlaces(const Machine& machine) {
    double fastest = 0;
    for (const Nic& nic : machine.nics) fastest = std::max(fastest, nic.rate.value());
    for (std::size_t i = 0; i < machine.nics.size(); ++i) {
      const auto cpu = cpu_of(machine, {NodeKind::nic, static_cast<int>(i)});
      if (!cpu || machine.nics[i].rate.value() < fastest / 2) continue;
      cpus.insert(*cpu);
      sockets.insert(machine.cpus[at_index(*cpu)].socket);
    }
  }
};

void examine_adapters(const Evidence& evidence, std::vector<Finding>& findings) {
  RuleFindings rule("LC-NUMA-01", findings);
  const Machine& machine = evidence.machine;
  const AdapterPlaces places(machine);
  std::vector<std::string> far, near;
  for (const int gpu : evidence.gpus) {
    const std::string& name = evidence.gpu(gpu).name;
    const auto root = root_of(machine, {NodeKind::gpu, gpu});
    if (!root || places.cpus.empty() ||
        !evidence.knows("roots", machine.roots[at_index(*root)].name, "cpu")) {
      rule.unknown(name);
      continue;
    }
    const int cpu = machine.roots[at_index(*root)].cpu;
    const bool here =
        places.cpus.count(cpu) != 0 || places.sockets.count(machine.cpus[at_index(cpu)].socket) != 0;
    (here ? near : far).push_back(name);
  }
  if (!far.empty() && !near.empty()) {
    rule.add(
        FindingStatus::warn, named("gpu", far),
        "the network adapters are all on another socket, while " + enumerated(near) +
            " have one on their own; the cost is not modelled",
        "put an adapter on that socket too, or move the card; NCCL_IB_HCA says which adapters NCCL may take");
  }
  rule.close("gpu", "no network adapter is known, or not which NUMA node the card belongs to",
             "`nvidia-smi topo -m` (rows NIC, NUMA affinity) or `lspci -tv`",
             far.empty() ? "every GPU has a network adapter on its own socket"
                         : "all GPUs are equally far from the network adapters");
}

void examine_guest(const Evidence& evidence, std::vector<Finding>& findings) {
  RuleFindings rule("LC-VM-01", findings);
  const Machine& machine = evidence.machine;
  if (!machine.virtualized || !evidence.knows("virtualized", "")) {
    rule.unknown("machine");
  } else if (*machine.virtualized && machine.switches.empty()) {
    rule.add(
        FindingStatus::warn, "machine",
        "a virtual machine that shows no PCIe switch: the real tree, its shared uplinks and its link states "
        "are "
        "hidden, and predictions take each card for directly attached; the cost cannot be known from inside",
        "read `lspci -vvv` and `lspci -tv` on the host, or let the provider's topology file (NCCL_TOPO_FILE) "
        "tell "
        "the tree");
  }
  rule.close("", "whether this is a virtual machine is not known", "`systemd-detect-virt`",
             machine.virtualized.value_or(false) ? "a virtual machine that shows its switches"
                                                 : "no virtual machine");
}

}  // namespace

void examine_layout(const Evidence& evidence, std::vector<Finding>& findings) {
  examine_uplinks(evidence, findings);
  examine_parts(evidence, findings);
  examine_adapters(evidence, findings);
  examine_guest(evidence, findings);
}

}  // namespace lanecast
