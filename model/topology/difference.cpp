#include "model/topology/difference.hpp"

#include <algorithm>
#include <set>

#include "model/topology/comparison.hpp"
#include "model/topology/peer_access.hpp"
#include "model/topology/routes.hpp"

namespace lanecast {
namespace {

std::size_t at_index(int index) { return static_cast<std::size_t>(index); }

std::map<NodeId, const Link*> links_above(const Machine& machine) {
  std::map<NodeId, const Link*> above;
  for (const Link& link : machine.links) {
    if (link.kind == LinkKind::pcie) above.emplace(link.to, &link);
  }
  return above;
}

template <class T>
std::set<std::string> names_of(const std::vector<T>& list) {
  std::set<std::string> names;
  for (const T& item : list) names.insert(item.name);
  return names;
}

/// ", NVIDIA L40S" of a card whose model is known.
std::string model_of(const Machine& machine, NodeId id) {
  const std::string model = id.kind == NodeKind::gpu   ? machine.gpus[at_index(id.index)].model
                            : id.kind == NodeKind::nic ? machine.nics[at_index(id.index)].model
                                                       : std::string();
  return model.empty() ? "" : ", " + model;
}

void compare_presence(Comparison& of, NodeKind kind) {
  const PartPairs& parts = of.pairs.of(kind);
  const ChangeKind gone = kind == NodeKind::cpu ? ChangeKind::numa : ChangeKind::gone;
  const ChangeKind added = kind == NodeKind::cpu ? ChangeKind::numa : ChangeKind::added;
  for (const int index : parts.gone) {
    const std::string name = label(of.a, {kind, index});
    of.list.add(gone, name, name, "", name + model_of(of.a, {kind, index}) + ": gone");
  }
  for (const PartPair& pair : parts.pairs) {
    const NodeId in_a{kind, pair.before}, in_b{kind, pair.after};
    const std::string before = label(of.a, in_a), after = label(of.b, in_b);
    if (pair.how == Recognized::moved) {
      of.list.add(ChangeKind::moved, before, seat(of.a, of.above_a, in_a), seat(of.b, of.above_b, in_b),
                  before + model_of(of.a, in_a) + ": gone from its place " + seat(of.a, of.above_a, in_a) +
                      "; one of its model is new, " + after + " " + seat(of.b, of.above_b, in_b));
    } else if (pair.how == Recognized::replaced) {
      of.list.add(ChangeKind::replaced, before, before + model_of(of.a, in_a), after + model_of(of.b, in_b),
                  before + model_of(of.a, in_a) + ": another card is there, " + after + model_of(of.b, in_b));
    }
  }
  for (const int index : parts.added) {
    const std::string name = label(of.b, {kind, index});
    of.list.add(added, name, "", name, name + model_of(of.b, {kind, index}) + ": new");
  }
}

/// Whether the names of roots and switches can be trusted: they shift when one of them is gone.
bool same_bridge_names(const Comparison& of) {
  return names_of(of.a.roots) == names_of(of.b.roots) && names_of(of.a.switches) == names_of(of.b.switches);
}

/// False only where it is known that the part hangs elsewhere.
bool same_seat(const Comparison& of, const PartPair& pair, const Link& a, const Link& b, bool trust_names) {
  const bool address_holds = address_of(of.a, a.to) == address_of(of.b, b.to);
  if (address_holds && !a.port.empty() && !b.port.empty() && a.port != b.port) return false;
  if (a.from.kind != b.from.kind) return false;
  const bool addressed = !address_of(of.a, a.from).empty() && !address_of(of.b, b.from).empty();
  if (!addressed && !pair.by_name && !trust_names) return true;
  return of.pairs.of(a.from.kind).after_of(a.from.index) == b.from.index;
}

void compare_seats(Comparison& of, NodeKind kind) {
  const bool trust_names = same_bridge_names(of);
  for (const PartPair& pair : of.pairs.of(kind).pairs) {
    if (pair.how == Recognized::moved) continue;  // told already
    const NodeId in_a{kind, pair.before}, in_b{kind, pair.after};
    const auto a = of.above_a.find(in_a), b = of.above_b.find(in_b);
    const bool had = a != of.above_a.end(), has = b != of.above_b.end();
    const bool same = had && has ? same_seat(of, pair, *a->second, *b->second, trust_names) : had == has;
    if (same) continue;
    const std::string before = seat(of.a, of.above_a, in_a), after = seat(of.b, of.above_b, in_b);
    const bool guessed = (had && is_assumed(of.a, "links." + a->second->name + ".from")) ||
                         (has && is_assumed(of.b, "links." + b->second->name + ".from"));
    if (guessed) continue;  // a rule placed it
    of.list.add(ChangeKind::moved, label(of, in_a, in_b), before, after,
                label(of, in_a, in_b) + ": now " + after + ", " + before + " in A");
  }
}

/// The system's number of a NUMA node, where a dump states it.
std::optional<int> numa_number(const Machine& machine, int cpu) {
  const Cpu& node = machine.cpus[at_index(cpu)];
  return is_assumed(machine, "cpus." + node.name + ".numa") ? std::nullopt : node.numa;
}

/// The NUMA node of a card. Without the system's numbers only names tell, if they can be trusted.
void compare_numa(Comparison& of, NodeKind kind) {
  const bool trust_names = same_bridge_names(of);
  for (const PartPair& pair : of.pairs.of(kind).pairs) {
    const NodeId in_a{kind, pair.before}, in_b{kind, pair.after};
    const auto cpu_a = cpu_of(of.a, in_a), cpu_b = cpu_of(of.b, in_b);
    if (!cpu_a || !cpu_b) continue;
    const auto number_a = numa_number(of.a, *cpu_a), number_b = numa_number(of.b, *cpu_b);
    const bool numbered = number_a && number_b;
    if (numbered ? number_a == number_b : of.pairs.cpus.after_of(*cpu_a) == *cpu_b) continue;
    if (!numbered && !pair.by_name && !trust_names) continue;
    const auto name = [](const Machine& machine, int cpu, std::optional<int> number, bool with_number) {
      return with_number ? std::to_string(*number) : label(machine, {NodeKind::cpu, cpu});
    };
    of.list.compare({ChangeKind::numa, ChangeKind::numa, label(of, in_a, in_b), "NUMA node",
                     "roots." + of.a.roots[at_index(*root_of(of.a, in_a))].name + ".cpu",
                     "roots." + of.b.roots[at_index(*root_of(of.b, in_b))].name + ".cpu"},
                    std::optional(name(of.a, *cpu_a, number_a, numbered)),
                    std::optional(name(of.b, *cpu_b, number_b, numbered)));
  }
}

void compare_gpus(Comparison& of) {
  for (const PartPair& pair : of.pairs.gpus.pairs) {
    const Gpu& a = of.a.gpus[at_index(pair.before)];
    const Gpu& b = of.b.gpus[at_index(pair.after)];
    const std::string where = label(of, {NodeKind::gpu, pair.before}, {NodeKind::gpu, pair.after});
    const auto at = [&](ChangeKind kind, const char* what, const char* key) {
      return ComparedValue{
          kind, kind, where, what, "gpus." + a.name + "." + key, "gpus." + b.name + "." + key};
    };
    of.list.compare(at(ChangeKind::bar1, "BAR1", "bar1"), a.bar1, b.bar1);
    const auto able = [](const Gpu& gpu) { return gpu.p2p.value_or(model_has_peer_access(gpu.model)); };
    if (able(a) != able(b)) {
      of.list.compare(at(ChangeKind::peer_access, "PCIe peer access", "p2p"), a.p2p, b.p2p);
    }
    if (pair.how == Recognized::replaced) continue;  // another model has other sizes
    of.list.compare(at(ChangeKind::value, "memory", "memory"), a.memory, b.memory);
    of.list.compare(at(ChangeKind::value, "compute capability x 10", "sm"), stated(a.sm), stated(b.sm));
    of.list.compare(at(ChangeKind::value, "last-level cache", "l2"), a.l2, b.l2);
    if (pair.how == Recognized::same) {
      of.list.compare(at(ChangeKind::value, "PCI address", "bdf"), stated(a.bdf), stated(b.bdf));
    }
  }
}

void compare_bridges(Comparison& of) {
  for (const PartPair& pair : of.pairs.switches.pairs) {
    const PcieSwitch& a = of.a.switches[at_index(pair.before)];
    const PcieSwitch& b = of.b.switches[at_index(pair.after)];
    const std::string where =
        label(of, {NodeKind::pcie_switch, pair.before}, {NodeKind::pcie_switch, pair.after});
    const std::string in_a = "switches." + a.name, in_b = "switches." + b.name;
    of.list.compare({ChangeKind::acs, ChangeKind::acs, where, "ACS redirect", in_a + ".acs", in_b + ".acs"},
                    std::optional(a.acs), std::optional(b.acs));
    of.list.compare_setting(
        {ChangeKind::value, ChangeKind::value, where, "latency", in_a + ".latency", in_b + ".latency"},
        a.latency, b.latency);
  }
  for (const PartPair& pair : of.pairs.roots.pairs) {
    const RootComplex& a = of.a.roots[at_index(pair.before)];
    const RootComplex& b = of.b.roots[at_index(pair.after)];
    const std::string where = label(of, {NodeKind::root, pair.before}, {NodeKind::root, pair.after});
    const auto at = [&](const char* what, const char* key) {
      return ComparedValue{ChangeKind::value,       ChangeKind::value,      where, what,
                           "roots." + a.name + key, "roots." + b.name + key};
    };
    of.list.compare_setting(at("limit of peer traffic", ".p2p_rate"), a.p2p_rate, b.p2p_rate);
    of.list.compare_setting(at("limit of peer traffic of a port", ".p2p_port_rate"), a.p2p_port_rate,
                            b.p2p_port_rate);
    of.list.compare_setting(at("latency", ".latency"), a.latency, b.latency);
  }
}

void compare_hosts(Comparison& of) {
  for (const PartPair& pair : of.pairs.cpus.pairs) {
    const Cpu& a = of.a.cpus[at_index(pair.before)];
    const Cpu& b = of.b.cpus[at_index(pair.after)];
    const std::string where = label(of, {NodeKind::cpu, pair.before}, {NodeKind::cpu, pair.after});
    const auto at = [&](ChangeKind kind, const char* what, const char* key) {
      return ComparedValue{kind, kind, where, what, "cpus." + a.name + key, "cpus." + b.name + key};
    };
    of.list.compare(at(ChangeKind::numa, "cores", ".cores"), stated(a.cores), stated(b.cores));
    of.list.compare(at(ChangeKind::value, "vendor", ".vendor"), stated(a.vendor), stated(b.vendor));
    of.list.compare(at(ChangeKind::value, "memory rate", ".memory_rate"), std::optional(a.memory_rate),
                    std::optional(b.memory_rate));
  }
  for (const PartPair& pair : of.pairs.nics.pairs) {
    const Nic& a = of.a.nics[at_index(pair.before)];
    const Nic& b = of.b.nics[at_index(pair.after)];
    const std::string where = label(of, {NodeKind::nic, pair.before}, {NodeKind::nic, pair.after});
    of.list.compare({ChangeKind::value, ChangeKind::value, where, "rate of the port",
                     "nics." + a.name + ".rate", "nics." + b.name + ".rate"},
                    std::optional(a.rate), std::optional(b.rate));
  }
}

void compare_settings(Comparison& of) {
  const auto at = [](ChangeKind kind, const char* what, const char* path) {
    return ComparedValue{kind, kind, "machine", what, path, path};
  };
  const Machine& a = of.a;
  const Machine& b = of.b;
  of.list.compare(at(ChangeKind::peer_access, "peer access", "p2p.enabled"), std::optional(a.p2p.enabled),
                  std::optional(b.p2p.enabled));
  of.list.compare_setting(at(ChangeKind::peer_access, "level of peer access", "p2p.level"), a.p2p.level,
                          b.p2p.level);
  of.list.compare(at(ChangeKind::iommu, "IOMMU translation", "p2p.iommu"), std::optional(a.p2p.iommu),
                  std::optional(b.p2p.iommu));
  of.list.compare(at(ChangeKind::driver, "driver", "driver"), stated(a.driver), stated(b.driver));
  of.list.compare(at(ChangeKind::value, "virtual machine", "virtualized"), a.virtualized, b.virtualized);
  of.list.compare_setting(at(ChangeKind::value, "profile", "profile"), stated(a.profile), stated(b.profile));
  if (!a.host.empty() && !b.host.empty() && a.host != b.host) {
    of.list.add(ChangeKind::other_host, "machine", a.host, b.host,
                "machine: read from " + b.host + ", from " + a.host + " in A");
  }
}

}  // namespace

Comparison::Comparison(const Machine& before, const Machine& after)
    : a(before),
      b(after),
      pairs(pair_parts(before, after)),
      above_a(links_above(before)),
      above_b(links_above(after)),
      list(before, after) {}

std::string address_of(const Machine& machine, NodeId id) {
  const std::size_t index = at_index(id.index);
  if (id.kind == NodeKind::gpu) return machine.gpus[index].bdf;
  if (id.kind == NodeKind::nic) return machine.nics[index].bdf;
  if (id.kind == NodeKind::pcie_switch) return machine.switches[index].bdf;
  if (id.kind == NodeKind::root) return machine.roots[index].bus;
  return "";
}

std::string label(const Machine& machine, NodeId id) {
  const std::string address = address_of(machine, id);
  return node_name(machine, id) + (address.empty() ? "" : " (" + address + ")");
}

std::string label(const Comparison& of, NodeId in_a, NodeId in_b) {
  const std::string& other = node_name(of.b, in_b);
  return label(of.a, in_a) + (node_name(of.a, in_a) == other ? "" : ", " + other + " in B");
}

std::string seat(const Machine& machine, const std::map<NodeId, const Link*>& above, NodeId id) {
  const auto found = above.find(id);
  if (found == above.end()) return "without a PCIe link";
  const Link& link = *found->second;
  return "below " + label(machine, link.from) + (link.port.empty() ? "" : ", port " + link.port) +
         (link.slot.empty() ? "" : ", slot " + link.slot);
}

const char* to_string(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::gone:
      return "gone";
    case ChangeKind::added:
      return "new";
    case ChangeKind::moved:
      return "moved";
    case ChangeKind::replaced:
      return "replaced";
    case ChangeKind::link_slower:
      return "link-slower";
    case ChangeKind::link_faster:
      return "link-faster";
    case ChangeKind::link_narrower:
      return "link-narrower";
    case ChangeKind::link_wider:
      return "link-wider";
    case ChangeKind::capability_lower:
      return "capability-lower";
    case ChangeKind::capability_higher:
      return "capability-higher";
    case ChangeKind::payload:
      return "payload";
    case ChangeKind::aspm:
      return "aspm";
    case ChangeKind::acs:
      return "acs";
    case ChangeKind::iommu:
      return "iommu";
    case ChangeKind::peer_access:
      return "peer-access";
    case ChangeKind::nvlinks:
      return "nvlinks";
    case ChangeKind::numa:
      return "numa";
    case ChangeKind::errors_rose:
      return "errors-rose";
    case ChangeKind::driver:
      return "driver";
    case ChangeKind::bar1:
      return "bar1";
    case ChangeKind::value:
      return "value";
    case ChangeKind::counters_reset:
      return "counters-reset";
    case ChangeKind::idle:
      return "idle";
    case ChangeKind::unknown:
      return "not-known";
    case ChangeKind::other_host:
      break;
  }
  return "other-host";
}

bool is_change(ChangeKind kind) { return kind < ChangeKind::counters_reset; }

bool any_change(const std::vector<MachineChange>& differences) {
  return std::any_of(differences.begin(), differences.end(),
                     [](const MachineChange& change) { return is_change(change.kind); });
}

std::vector<MachineChange> differences(const Machine& before, const Machine& after) {
  Comparison of(before, after);
  for (const NodeKind kind :
       {NodeKind::gpu, NodeKind::nic, NodeKind::pcie_switch, NodeKind::cpu, NodeKind::nvswitch}) {
    compare_presence(of, kind);
  }
  for (const NodeKind kind : {NodeKind::gpu, NodeKind::nic, NodeKind::pcie_switch}) compare_seats(of, kind);
  compare_links(of);
  for (const NodeKind kind : {NodeKind::gpu, NodeKind::nic}) compare_numa(of, kind);
  compare_gpus(of);
  compare_bridges(of);
  compare_hosts(of);
  compare_settings(of);
  return of.list.take();
}

}  // namespace lanecast
