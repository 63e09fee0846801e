#include "tests/support/machine_builders.hpp"

#include <algorithm>
#include <array>
#include <random>
#include <stdexcept>

namespace lanecast::support {
namespace {

std::size_t at_index(int index) { return static_cast<std::size_t>(index); }
NodeId last(NodeKind kind, std::size_t count) { return {kind, static_cast<int>(count) - 1}; }

void add_pcie(Machine& machine, const std::string& name, NodeId above, NodeId below, const PcieSpec& spec) {
  Link link;
  link.name = name;
  link.from = above;
  link.to = below;
  link.rate = link.max_rate = spec.rate;
  link.width = link.max_width = spec.width;
  link.mps = spec.mps;
  machine.links.push_back(link);
}

void add_gpus(Machine& machine, NodeId above, int count, const PcieSpec& spec) {
  for (int i = 0; i < count; ++i) add_gpu(machine, above, spec);
}

int count_links(const Machine& machine, LinkKind kind) {
  return static_cast<int>(std::count_if(machine.links.begin(), machine.links.end(),
                                        [&](const Link& link) { return link.kind == kind; }));
}

/// Draws that do not depend on the standard library, as those of std::uniform_int_distribution do.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}

  int between(int low, int high) {
    return low + static_cast<int>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool one_in(int n) { return between(1, n) == 1; }

  template <class T, std::size_t N>
  T among(const std::array<T, N>& values) {
    return values[at_index(between(0, static_cast<int>(N) - 1))];
  }

 private:
  std::mt19937_64 engine_;
};

PcieSpec random_spec(Dice& dice) {
  PcieSpec spec;
  spec.rate = static_cast<PcieRate>(dice.between(1, 6));
  spec.width = dice.among(std::array<int, 5>{1, 4, 8, 16, 16});
  spec.mps = Bytes(dice.among(std::array<std::uint64_t, 3>{128, 256, 512}));
  return spec;
}

/// GPUs and, down to `levels`, switches below a node.
void grow(Machine& machine, Dice& dice, NodeId above, int levels, int gpus) {
  const PcieSpec spec = random_spec(dice);
  if (levels == 0) return add_gpus(machine, above, gpus, spec);
  const int switches = gpus >= 2 ? dice.between(1, 2) : 1;
  for (int i = 0; i < switches; ++i) {
    const int here = i + 1 < switches ? gpus / switches : gpus - i * (gpus / switches);
    const NodeId sw = add_switch(machine, above, spec);
    machine.switches.back().acs = dice.one_in(6);
    grow(machine, dice, sw, levels - 1, here);
  }
}

void disturb_links(Machine& machine, Dice& dice) {
  for (Link& link : machine.links) {
    if (link.kind != LinkKind::pcie) continue;
    if (dice.one_in(8)) link.rate = static_cast<PcieRate>(dice.between(1, static_cast<int>(link.max_rate)));
    if (dice.one_in(8) && link.width > 1) link.width = link.max_width / 4 > 0 ? link.max_width / 4 : 1;
    if (dice.one_in(12)) link.replay_rate = dice.among(std::array<double, 3>{1e-5, 1e-3, 1e-2});
    if (dice.one_in(12)) link.aspm = dice.one_in(2) ? Aspm::l0s : Aspm::l1;
  }
}

void disturb_nodes(Machine& machine, Dice& dice) {
  for (RootComplex& root : machine.roots) {
    if (dice.one_in(6)) root.p2p_rate = BytesPerSecond(dice.between(5, 60) * 1e9);
    if (dice.one_in(6)) root.p2p_port_rate = BytesPerSecond(dice.between(3, 50) * 1e9);
  }
  const bool geforce = dice.one_in(6);
  for (Gpu& gpu : machine.gpus) {
    if (geforce) gpu.model = "NVIDIA GeForce RTX 4090";
    if (dice.one_in(10)) gpu.l2.reset();
  }
  if (machine.gpus.size() > 2 && dice.one_in(4)) {
    machine.gpus[at_index(dice.between(0, static_cast<int>(machine.gpus.size()) - 1))].present = false;
  }
  machine.p2p.iommu = dice.one_in(8);
}

}  // namespace

NodeId add_cpu(Machine& machine, const std::string& vendor) {
  Cpu cpu;
  cpu.name = "cpu" + std::to_string(machine.cpus.size());
  cpu.vendor = vendor;
  cpu.socket = static_cast<int>(machine.cpus.size());
  machine.cpus.push_back(cpu);
  return last(NodeKind::cpu, machine.cpus.size());
}

NodeId add_root(Machine& machine, NodeId cpu) {
  RootComplex root;
  root.name = "root" + std::to_string(machine.roots.size());
  root.cpu = cpu.index;
  machine.roots.push_back(root);
  return last(NodeKind::root, machine.roots.size());
}

NodeId add_switch(Machine& machine, NodeId above, const PcieSpec& spec) {
  const std::string number = std::to_string(machine.switches.size());
  PcieSwitch sw;
  sw.name = "sw" + number;
  machine.switches.push_back(sw);
  add_pcie(machine, "uplink" + number, above, last(NodeKind::pcie_switch, machine.switches.size()), spec);
  return last(NodeKind::pcie_switch, machine.switches.size());
}

NodeId add_gpu(Machine& machine, NodeId above, const PcieSpec& spec) {
  Gpu gpu;
  gpu.name = "gpu" + std::to_string(machine.gpus.size());
  gpu.model = "NVIDIA A100-PCIE-40GB";
  gpu.sm = 80;
  gpu.l2 = Bytes(40u << 20);
  machine.gpus.push_back(gpu);
  add_pcie(machine, gpu.name, above, last(NodeKind::gpu, machine.gpus.size()), spec);
  return last(NodeKind::gpu, machine.gpus.size());
}

NodeId add_nvswitch(Machine& machine) {
  machine.nvswitches.push_back({"nvsw" + std::to_string(machine.nvswitches.size()), ""});
  return last(NodeKind::nvswitch, machine.nvswitches.size());
}

void add_nvlink(Machine& machine, NodeId from, NodeId to, int count) {
  Link link;
  link.name = "nv" + std::to_string(count_links(machine, LinkKind::nvlink));
  link.kind = LinkKind::nvlink;
  link.from = from;
  link.to = to;
  link.count = count;
  link.lane_rate = BytesPerSecond(25e9);
  machine.links.push_back(link);
}

void add_socket_link(Machine& machine, NodeId from, NodeId to, double rate_GBps) {
  Link link;
  link.name = "upi" + std::to_string(count_links(machine, LinkKind::socket));
  link.kind = LinkKind::socket;
  link.from = from;
  link.to = to;
  link.lane_rate = BytesPerSecond(rate_GBps * 1e9);
  machine.links.push_back(link);
}

Link& link_named(Machine& machine, const std::string& name) {
  const auto at = std::find_if(machine.links.begin(), machine.links.end(),
                               [&](const Link& link) { return link.name == name; });
  if (at == machine.links.end()) throw std::out_of_range("no link `" + name + "` in `" + machine.name + "`");
  return *at;
}

Machine one_switch(int gpus, const PcieSpec& spec) {
  Machine machine;
  machine.name = "one-switch";
  add_gpus(machine, add_switch(machine, add_root(machine, add_cpu(machine)), spec), gpus, spec);
  return machine;
}

Machine two_switches(int gpus_each, const PcieSpec& spec) {
  Machine machine;
  machine.name = "two-switches";
  const NodeId cpu = add_cpu(machine);
  for (int i = 0; i < 2; ++i) {
    add_gpus(machine, add_switch(machine, add_root(machine, cpu), spec), gpus_each, spec);
  }
  return machine;
}

Machine nested_switches(int leaves, int gpus_each, const PcieSpec& spec) {
  Machine machine;
  machine.name = "nested-switches";
  const NodeId top = add_switch(machine, add_root(machine, add_cpu(machine)), spec);
  for (int i = 0; i < leaves; ++i) add_gpus(machine, add_switch(machine, top, spec), gpus_each, spec);
  return machine;
}

Machine one_root(int gpus, const PcieSpec& spec) {
  Machine machine;
  machine.name = "one-root";
  add_gpus(machine, add_root(machine, add_cpu(machine)), gpus, spec);
  return machine;
}

Machine own_roots(int gpus, const PcieSpec& spec) {
  Machine machine;
  machine.name = "own-roots";
  const NodeId cpu = add_cpu(machine);
  for (int i = 0; i < gpus; ++i) add_gpu(machine, add_root(machine, cpu), spec);
  return machine;
}

Machine two_sockets(int gpus_each, const PcieSpec& spec) {
  Machine machine;
  machine.name = "two-sockets";
  for (int i = 0; i < 2; ++i) add_gpus(machine, add_root(machine, add_cpu(machine)), gpus_each, spec);
  add_socket_link(machine, {NodeKind::cpu, 0}, {NodeKind::cpu, 1});
  return machine;
}

Machine nvlink_pair(const PcieSpec& spec) {
  Machine machine = own_roots(2, spec);
  machine.name = "nvlink-pair";
  add_nvlink(machine, {NodeKind::gpu, 0}, {NodeKind::gpu, 1});
  return machine;
}

Machine with_nvswitch(int gpus, const PcieSpec& spec) {
  Machine machine = own_roots(gpus, spec);
  machine.name = "with-nvswitch";
  const NodeId nvswitch = add_nvswitch(machine);
  for (int i = 0; i < gpus; ++i) add_nvlink(machine, {NodeKind::gpu, i}, nvswitch, 12);
  return machine;
}

Machine cube_mesh() {
  Machine machine;
  for (int socket = 0; socket < 2; ++socket) {
    const NodeId root = add_root(machine, add_cpu(machine, "intel"));
    for (int i = 0; i < 4; ++i) add_gpu(machine, root, {PcieRate::gen3, 16});
  }
  add_socket_link(machine, {NodeKind::cpu, 0}, {NodeKind::cpu, 1});
  for (Gpu& gpu : machine.gpus) gpu.sm = 70;
  const int mesh[][3] = {{0, 1, 1}, {0, 2, 1}, {0, 3, 2}, {0, 4, 2}, {1, 2, 2}, {1, 3, 1},
                         {1, 5, 2}, {2, 3, 2}, {2, 6, 1}, {3, 7, 1}, {4, 5, 1}, {4, 6, 1},
                         {4, 7, 2}, {5, 6, 2}, {5, 7, 1}, {6, 7, 2}};
  for (const auto& [a, b, count] : mesh) add_nvlink(machine, {NodeKind::gpu, a}, {NodeKind::gpu, b}, count);
  return machine;
}

Machine random_machine(std::uint64_t seed) {
  Dice dice(seed);
  Machine machine;
  machine.name = "random-" + std::to_string(seed);
  const int gpus = dice.between(2, 16);
  const int sockets = dice.between(1, 2);
  const std::string vendor = dice.among(std::array<const char*, 3>{"amd", "intel", "arm"});
  for (int socket = 0; socket < sockets; ++socket) {
    const NodeId cpu = add_cpu(machine, vendor);
    const int here = socket + 1 < sockets ? gpus / sockets : gpus - socket * (gpus / sockets);
    const int roots = dice.between(1, std::min(here, 4));
    for (int i = 0; i < roots; ++i) {
      const int share = here / roots + (i < here % roots ? 1 : 0);
      grow(machine, dice, add_root(machine, cpu), dice.between(0, 2), share);
    }
  }
  if (sockets == 2) {
    add_socket_link(machine, {NodeKind::cpu, 0}, {NodeKind::cpu, 1}, dice.between(6, 50));
  }
  if (dice.one_in(4)) {
    for (int i = 0; i + 1 < gpus; i += 2) {
      add_nvlink(machine, {NodeKind::gpu, i}, {NodeKind::gpu, i + 1}, dice.between(1, 6));
    }
  }
  disturb_links(machine, dice);
  disturb_nodes(machine, dice);
  return machine;
}

}  // namespace lanecast::support
