#include "tests/support/plausible_machine.hpp"

#include <array>
#include <cstdio>
#include <random>

namespace lanecast::support {
namespace {

struct Card {
  const char* model;
  int sm;
  PcieRate rate;
  int nvlinks;  // that a bridge between two, or the way to the NVSwitches, has; 0: none
  bool to_nvswitches;
};

constexpr std::array<Card, 6> cards{{
    {"Tesla V100-PCIE-16GB", 70, PcieRate::gen3, 0, false},
    {"NVIDIA A40", 86, PcieRate::gen4, 4, false},
    {"NVIDIA A100-SXM4-80GB", 80, PcieRate::gen4, 12, true},
    {"NVIDIA GeForce RTX 4090", 89, PcieRate::gen4, 0, false},
    {"NVIDIA H100 80GB HBM3", 90, PcieRate::gen5, 18, true},
    {"NVIDIA RTX PRO 6000 Blackwell Server Edition", 120, PcieRate::gen5, 0, false},
}};

struct Processor {
  const char* vendor;
  const char* model;
};

constexpr std::array<Processor, 4> processors{{
    {"amd", "AMD EPYC 7003 (Milan)"},
    {"amd", "AMD EPYC 9004 (Genoa)"},
    {"intel", "Intel Xeon 8300 series (Ice Lake)"},
    {"intel", "Intel Xeon 8400 series (Sapphire Rapids)"},
}};

class Builder {
 public:
  Builder(std::uint64_t seed, const PlausibleOptions& options) : engine_(seed), options_(options) {
    card_ = cards[static_cast<std::size_t>(below(static_cast<int>(cards.size())))];
  }

  Machine build() {
    machine_.name = "plausible";
    constexpr std::array<int, 4> nodes{1, 2, 2, 4};
    const int cpus = nodes[static_cast<std::size_t>(below(4))];
    add_cpus(cpus);
    for (int i = 0; i < cpus; ++i) fill_root(i, i == 0);
    add_nvlinks();
    if (options_.degraded) degrade();
    return machine_;
  }

 private:
  int below(int count) { return static_cast<int>(engine_() % static_cast<std::uint64_t>(count)); }
  bool one_in(int count) { return below(count) == 0; }

  void add_cpus(int count) {
    const Processor& processor =
        processors[static_cast<std::size_t>(below(static_cast<int>(processors.size())))];
    const int cores = 8 << below(4);
    for (int i = 0; i < count; ++i) {
      Cpu cpu;
      cpu.name = "cpu" + std::to_string(i);
      cpu.vendor = processor.vendor;
      cpu.model = processor.model;
      cpu.socket = i;
      cpu.numa = i;
      cpu.cores = count == 1 ? range(0, 2 * cores)
                             : range(i * cores, cores) + "," + range((count + i) * cores, cores);
      machine_.cpus.push_back(cpu);
      machine_.roots.push_back({"root" + std::to_string(i), i, {}, {}, {}, ""});
      if (i > 0)
        add_link("socket" + std::to_string(i - 1), LinkKind::socket, {NodeKind::cpu, i - 1},
                 {NodeKind::cpu, i});
    }
  }

  static std::string range(int first, int count) {
    return std::to_string(first) + "-" + std::to_string(first + count - 1);
  }

  /// A bus of its own for each device, as they hang on ports of their own.
  std::string next_address() {
    char text[16];
    std::snprintf(text, sizeof text, "%04x:%02x:00.0", bus_ / 256, bus_ % 256);
    bus_ += 1 + below(3);
    return text;
  }

  Link& add_link(const std::string& name, LinkKind kind, NodeId from, NodeId to) {
    Link link;
    link.name = name;
    link.kind = kind;
    link.from = from;
    link.to = to;
    machine_.links.push_back(link);
    return machine_.links.back();
  }

  void add_pcie(const std::string& name, NodeId from, NodeId to, PcieRate rate, int width) {
    Link& link = add_link(name, LinkKind::pcie, from, to);
    link.rate = link.max_rate = rate;
    link.width = link.max_width = width;
  }

  void fill_root(int index, bool at_least_one) {
    const NodeId root{NodeKind::root, index};
    for (int port = 0, ports = 1 + below(3); port < ports; ++port) {
      if (one_in(3)) {
        add_gpu(root);
      } else {
        add_switch(root, one_in(3) ? 2 : 1);
      }
    }
    if (one_in(3)) add_nic(root);
    if (at_least_one && machine_.gpus.empty()) add_gpu(root);
  }

  void add_switch(NodeId above, int levels) {
    const NodeId here{NodeKind::pcie_switch, static_cast<int>(machine_.switches.size())};
    PcieSwitch chip;
    chip.name = "sw" + std::to_string(here.index);
    chip.bdf = next_address();
    machine_.switches.push_back(chip);
    add_pcie("uplink" + std::to_string(here.index), above, here, card_.rate, 16);
    for (int port = 0, ports = 1 + below(4); port < ports; ++port) {
      if (levels > 1) {
        add_switch(here, levels - 1);
      } else if (one_in(4)) {
        add_nic(here);
      } else {
        add_gpu(here);
      }
    }
  }

  void add_gpu(NodeId above) {
    if (static_cast<int>(machine_.gpus.size()) == options_.most_gpus) return add_nic(above);
    const NodeId here{NodeKind::gpu, static_cast<int>(machine_.gpus.size())};
    Gpu gpu;
    gpu.name = "gpu" + std::to_string(here.index);
    gpu.model = card_.model;
    gpu.sm = card_.sm;
    gpu.bdf = next_address();
    machine_.gpus.push_back(gpu);
    add_pcie(gpu.name, above, here, card_.rate, one_in(5) ? 8 : 16);
  }

  void add_nic(NodeId above) {
    constexpr std::array<double, 3> gigabits{25, 100, 400};
    const NodeId here{NodeKind::nic, static_cast<int>(machine_.nics.size())};
    Nic nic;
    nic.name = "nic" + std::to_string(here.index);
    nic.rate = BytesPerSecond(gigabits[static_cast<std::size_t>(below(3))] * 1e9 / 8);
    nic.bdf = next_address();
    machine_.nics.push_back(nic);
    add_pcie(nic.name, above, here, card_.rate, one_in(2) ? 8 : 16);
  }

  void add_nvlinks() {
    if (card_.nvlinks == 0 || one_in(3)) return;
    const int gpus = static_cast<int>(machine_.gpus.size());
    if (card_.to_nvswitches) machine_.nvswitches.push_back({"nvswitch0", ""});
    for (int gpu = 0, number = 0; gpu < gpus; gpu += card_.to_nvswitches ? 1 : 2) {
      const NodeId from{NodeKind::gpu, gpu};
      const NodeId to = card_.to_nvswitches ? NodeId{NodeKind::nvswitch, 0} : NodeId{NodeKind::gpu, gpu + 1};
      if (to.kind == NodeKind::gpu && to.index == gpus) break;
      add_link("nv" + std::to_string(number++), LinkKind::nvlink, from, to).count = card_.nvlinks;
    }
  }

  void degrade() {
    for (Link& link : machine_.links) {
      if (link.kind != LinkKind::pcie || !one_in(3)) continue;
      link.rate = static_cast<PcieRate>(1 + below(static_cast<int>(link.max_rate)));
      link.width = link.max_width / (1 << below(4));
    }
    for (std::size_t i = 1; i < machine_.gpus.size(); ++i) machine_.gpus[i].present = !one_in(8);
  }

  std::mt19937_64 engine_;
  PlausibleOptions options_;
  Card card_{};
  Machine machine_;
  int bus_ = 1;
};

}  // namespace

Machine plausible_machine(std::uint64_t seed, const PlausibleOptions& options) {
  return Builder(seed, options).build();
}

}  // namespace lanecast::support
