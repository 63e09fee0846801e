#include "configs/dumps/hosts_from_facts.hpp"

#include "configs/reading.hpp"

namespace lanecast {
namespace {

std::string number(int value) { return std::to_string(value); }

template <class T>
std::optional<T> first_of(const Statements<T>& statements) {
  return statements.empty() ? std::nullopt : std::optional(statements.all().front().value);
}

/// A processor's maker, and its generation where the host bridge belongs to one only (pci.ids).
struct HostBridge {
  std::string vendor;
  std::optional<CpuId> id;
  std::string from;
};

std::optional<CpuId> generation_of(const PciFacts& device, const std::string& name) {
  const auto is = [&](std::uint32_t id, const char* word) {
    return first_of(device.device) == id || name.find(word) != std::string::npos;
  };
  if (is(0x14a4, "Genoa") || name.find("Device 14a4") != std::string::npos) return CpuId{0x19, 0x11};
  if (is(0x153a, "Turin Root Complex") || name.find("Device 153a") != std::string::npos)
    return CpuId{0x1a, 0x02};
  if (is(0x1480, "Starship")) return CpuId{0x17, 0x31};
  return std::nullopt;
}

/// Function 0 of device 0 on a root bus is the host bridge; elsewhere its class tells.
std::optional<HostBridge> host_bridge(const MachineFacts& facts, const Layout& layout) {
  std::set<std::string> bridges;
  for (const LayoutRoot& root : layout.roots) {
    if (!root.bus.empty()) bridges.insert(root.bus + ":00.0");
  }
  constexpr std::uint32_t host_bridge_class = 0x0600;
  for (const auto& [address, device] : facts.devices) {
    const bool by_class =
        !device.class_code.empty() && device.class_code.all().front().value >> 8 == host_bridge_class;
    if (!by_class && bridges.count(address) == 0) continue;
    const std::string name = first_of(device.name).value_or("");
    const std::uint32_t vendor = first_of(device.vendor).value_or(0);
    const std::string from = !device.name.empty()     ? device.name.all().front().from
                             : !device.vendor.empty() ? device.vendor.all().front().from
                                                      : "";
    if (vendor == 0x1022 || name.find("[AMD]") != std::string::npos)
      return HostBridge{"amd", generation_of(device, name), from};
    // Virtual machines show an Intel chip of old whatever the processor is (QEMU's i440FX and Q35).
    const bool imitated = name.find("82G33") != std::string::npos ||
                          name.find("440FX") != std::string::npos || first_of(device.device) == 0x29c0U ||
                          first_of(device.device) == 0x1237U;
    if (!imitated && (vendor == 0x8086 || name.find("Intel Corporation") != std::string::npos))
      return HostBridge{"intel", std::nullopt, from};
  }
  return std::nullopt;
}

class HostBuilder {
 public:
  HostBuilder(const MachineFacts& facts, const Layout& layout, Machine& machine, OriginBook& book)
      : facts_(facts), layout_(layout), machine_(machine), book_(book), bridge_(host_bridge(facts, layout)) {}

  std::vector<HostRates> build() {
    for (std::size_t i = 0; i < layout_.cpus.size(); ++i) add_cpu(i);
    for (const Cpu& cpu : machine_.cpus) ++nodes_of_socket_[cpu.socket];
    for (std::size_t i = 0; i < layout_.cpus.size(); ++i) set_memory_rate(i);
    for (std::size_t i = 0; i < layout_.roots.size(); ++i) add_root(i);
    return std::move(rates_);
  }

 private:
  const CpuFacts& own_facts(std::size_t i) const {
    static const CpuFacts none;
    const auto found = facts_.cpus.find(layout_.cpus[i].numa.value_or(-1));
    return found == facts_.cpus.end() ? none : found->second;
  }

  /// What the node's own facts say, else those of any other node: processors of a machine are alike.
  std::vector<Statement<std::string>> of_any_node(std::size_t i,
                                                  Statements<std::string> CpuFacts::*member) const {
    if (!(own_facts(i).*member).empty()) return (own_facts(i).*member).all();
    for (const auto& [node, cpu] : facts_.cpus) {
      if (!(cpu.*member).empty()) return (cpu.*member).all();
    }
    return {};
  }

  void add_cpu(std::size_t i) {
    Cpu cpu;
    cpu.name = "cpu" + std::to_string(i);
    const std::string path = "cpus." + cpu.name;
    set_numa(i, path, cpu);
    set_processor(i, path, cpu);
    set_cores(i, path, cpu);
    set_socket(i, path, cpu);
    machine_.cpus.push_back(cpu);
  }

  void set_numa(std::size_t i, const std::string& path, Cpu& cpu) {
    cpu.numa = layout_.cpus[i].numa;
    if (!cpu.numa)
      return book_.missing("NUMA node number", cpu.name, "run `nvidia-smi topo -m` or `lspci -vvv`");
    book_.stated_or_assumed(path + ".numa", layout_.cpus[i].numa_from, layout_.cpus[i].numa_rule);
    if (layout_.cpus[i].numa_rule == "named by the dumps") book_.stated(path + ".numa", "named by the dumps");
  }

  void set_processor(std::size_t i, const std::string& path, Cpu& cpu) {
    const auto vendor = book_.judge(path + ".vendor", of_any_node(i, &CpuFacts::vendor), printable);
    const auto model = book_.judge(path + ".model", of_any_node(i, &CpuFacts::model), printable);
    if (vendor) {
      cpu.vendor = vendor->value;
      book_.stated(path + ".vendor", vendor->from);
    } else if (bridge_) {
      cpu.vendor = bridge_->vendor;
      book_.stated(path + ".vendor", bridge_->from + ", by the maker of the host bridge");
    } else {
      cpu.vendor = "unknown";
      book_.assumed(path + ".vendor", "no dump tells");
      book_.missing("processor", cpu.name, "run what `lanecast topo collect` prints");
    }
    if (!model) return;
    cpu.model = printable(model->value);
    book_.stated(path + ".model", model->from);
  }

  void set_cores(std::size_t i, const std::string& path, Cpu& cpu) {
    const auto cores = book_.judge(path + ".cores", own_facts(i).cores.all(), printable);
    if (!cores && layout_.cpus[i].cores.empty()) return;
    cpu.cores = printable(cores ? cores->value : layout_.cpus[i].cores);
    book_.stated(path + ".cores", cores ? cores->from : layout_.cpus[i].cores_from);
  }

  void set_socket(std::size_t i, const std::string& path, Cpu& cpu) {
    if (const auto socket = book_.judge(path + ".socket", own_facts(i).socket.all(), number)) {
      cpu.socket = socket->value;
      return book_.stated(path + ".socket", socket->from);
    }
    for (const Cpu& other : machine_.cpus) {
      if (cpu.cores.empty() || other.cores != cpu.cores) continue;
      cpu.socket = other.socket;
      return book_.assumed(path + ".socket", "the same cores as " + other.name);
    }
    cpu.socket = cpu.numa.value_or(static_cast<int>(i));
    book_.assumed(path + ".socket", "one NUMA node a socket, as most servers");
  }

  void set_memory_rate(std::size_t i) {
    Cpu& cpu = machine_.cpus[i];
    const int in_socket = nodes_of_socket_.at(cpu.socket);
    rates_.push_back(assumed_host_rates(cpu.vendor, processor_id(cpu, bridge_)));
    const HostRates& rates = rates_.back();
    cpu.memory_rate = BytesPerSecond(rates.memory.value() / in_socket);
    const std::string share = in_socket > 1 ? ", shared by the NUMA nodes of a socket" : "";
    book_.assumed("cpus." + cpu.name + ".memory_rate", rates.rule + share);
  }

  static std::optional<CpuId> processor_id(const Cpu& cpu, const std::optional<HostBridge>& bridge) {
    if (const auto id = cpu_id_of(cpu.vendor, cpu.model)) return id;
    return bridge && bridge->vendor == cpu.vendor ? bridge->id : std::nullopt;
  }

  void add_root(std::size_t i) {
    const LayoutRoot& from = layout_.roots[i];
    RootComplex root;
    root.name = "root" + std::to_string(i);
    root.cpu = from.cpu;
    root.bus = from.bus;
    const std::string path = "roots." + root.name;
    book_.stated_or_assumed(path + ".cpu", from.cpu_from, from.cpu_rule);
    if (!from.cpu_known && layout_.cpus.size() > 1)
      book_.missing("NUMA node", root.name, "run `lspci -vvv` or `nvidia-smi topo -m`");
    if (!root.bus.empty())
      book_.stated_or_assumed(path + ".bus", from.bus_from, "bus 0 is a root bus on every machine");
    machine_.roots.push_back(root);
  }

  const MachineFacts& facts_;
  const Layout& layout_;
  Machine& machine_;
  OriginBook& book_;
  std::optional<HostBridge> bridge_;
  std::map<int, int> nodes_of_socket_;
  std::vector<HostRates> rates_;
};

constexpr std::size_t most_in_mesh = 8;
constexpr double die_link_GBps = 100;         // as a100x4-pcie4-sys: wide enough for any Gen4 card
constexpr double die_link_latency_s = 10e-9;  // facts.md C5: another quadrant of an EPYC's IO die

/// Joins every two of a few; of many, each with the first.
template <class Join>
void join_all(const std::vector<int>& nodes, const Join& join) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (std::size_t j = i + 1; j < nodes.size(); ++j) {
      if (i == 0 || nodes.size() <= most_in_mesh) join(nodes[i], nodes[j]);
    }
  }
}

}  // namespace

std::vector<HostRates> add_hosts(const MachineFacts& facts, const Layout& layout, Machine& machine,
                                 OriginBook& book) {
  return HostBuilder(facts, layout, machine, book).build();
}

void add_socket_links(const std::vector<HostRates>& rates, Machine& machine, OriginBook& book) {
  std::map<int, std::vector<int>> of_socket;
  for (std::size_t i = 0; i < machine.cpus.size(); ++i)
    of_socket[machine.cpus[i].socket].push_back(static_cast<int>(i));
  int count = 0;
  const auto add = [&](int a, int b) {
    Link link;
    link.name = "socket" + std::to_string(count++);
    link.kind = LinkKind::socket;
    link.from = {NodeKind::cpu, a};
    link.to = {NodeKind::cpu, b};
    const Cpu& cpu = machine.cpus[static_cast<std::size_t>(a)];
    const std::string path = "links." + link.name;
    if (cpu.socket == machine.cpus[static_cast<std::size_t>(b)].socket) {
      link.lane_rate = BytesPerSecond(die_link_GBps * 1e9);
      link.latency = Seconds(die_link_latency_s);
      book.assumed(path + ".rate", "NUMA nodes of one socket: wide enough for any Gen4 card");
      book.assumed(path + ".latency", "NUMA nodes of one socket: another part of the same die");
    } else {
      const HostRates& own = rates[static_cast<std::size_t>(a)];
      link.lane_rate = own.socket;
      book.assumed(path + ".rate", "peer traffic between sockets, " + own.rule.substr(0, own.rule.find(':')));
    }
    machine.links.push_back(link);
  };
  std::vector<int> firsts;
  for (const auto& [socket, nodes] : of_socket) {
    firsts.push_back(nodes.front());
    join_all(nodes, add);
  }
  join_all(firsts, add);
}

}  // namespace lanecast
