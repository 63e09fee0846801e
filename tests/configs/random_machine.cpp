#include "tests/configs/random_machine.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

namespace lanecast {
namespace {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}

  int below(int count) { return static_cast<int>(random_() % static_cast<std::uint64_t>(count)); }
  bool coin() { return below(2) == 0; }
  double real(double low, double high) {
    return low + (high - low) * std::generate_canonical<double, 53>(random_);
  }

  std::string text() {
    static const std::array<std::string, 8> texts{"",
                                                  "plain",
                                                  "two words: here # not a comment",
                                                  "\"quoted\" and \\",
                                                  "line\nbreak\tand tab",
                                                  "true",
                                                  "0000:3b:00.0",
                                                  "{a: [b]} & *c µs"};
    return texts[static_cast<std::size_t>(below(8))];
  }
  std::string name(int number) {
    static const std::array<std::string, 6> forms{"n", "on.", "gpus.", "1", "-x", "null_"};
    return forms[static_cast<std::size_t>(below(6))] + std::to_string(number);
  }
  std::optional<BytesPerSecond> maybe_rate() {
    return coin() ? std::optional(BytesPerSecond(real(1e6, 1e12))) : std::nullopt;
  }
  std::optional<int> maybe_count() { return coin() ? std::optional(below(16)) : std::nullopt; }
  std::optional<Seconds> maybe_time() {
    return coin() ? std::optional(Seconds(std::pow(10.0, real(-10, -1)))) : std::nullopt;
  }

 private:
  std::mt19937_64 random_;
};

void add_hosts(Machine& machine, Dice& dice) {
  for (int i = 0, count = 1 + dice.below(3); i < count; ++i) {
    machine.cpus.push_back({dice.name(i), dice.text(), dice.text(), dice.below(4),
                            BytesPerSecond(dice.real(1e9, 1e12)), dice.text(), dice.maybe_count(),
                            dice.text()});
    if (i == 0) continue;
    Link link;
    link.name = dice.name(1000 + i);
    link.kind = LinkKind::socket;
    link.from = {NodeKind::cpu, i - 1};
    link.to = {NodeKind::cpu, i};
    link.lane_rate = dice.maybe_rate();
    link.latency = dice.maybe_time();
    machine.links.push_back(link);
  }
  const int cpus = static_cast<int>(machine.cpus.size());
  for (int i = 0, count = 1 + dice.below(3); i < count; ++i) {
    machine.roots.push_back({dice.name(i), dice.below(cpus), dice.maybe_rate(), dice.maybe_rate(),
                             dice.maybe_time(), dice.text(), dice.text()});
  }
}

void add_pcie_link(Machine& machine, Dice& dice, NodeId to) {
  constexpr std::array<int, 6> widths{1, 2, 4, 8, 12, 16};
  const int switches =
      to.kind == NodeKind::pcie_switch ? to.index : static_cast<int>(machine.switches.size());
  Link link;
  link.name = dice.name(static_cast<int>(machine.links.size()) + 2000);
  link.from = switches > 0 && dice.coin()
                  ? NodeId{NodeKind::pcie_switch, dice.below(switches)}
                  : NodeId{NodeKind::root, dice.below(static_cast<int>(machine.roots.size()))};
  link.to = to;
  link.max_rate = static_cast<PcieRate>(1 + dice.below(6));
  link.rate = static_cast<PcieRate>(1 + dice.below(static_cast<int>(link.max_rate)));
  const int lanes = dice.below(6);
  link.max_width = widths[static_cast<std::size_t>(lanes)];
  link.width = widths[static_cast<std::size_t>(dice.below(lanes + 1))];
  link.mps = Bytes(std::uint64_t{128} << dice.below(6));
  link.mrrs = Bytes(std::uint64_t{128} << dice.below(6));
  link.replay_rate = dice.coin() ? 0 : dice.real(0, 0.5);
  link.aspm = static_cast<Aspm>(dice.below(3));
  link.latency = dice.maybe_time();
  link.source = dice.text();
  if (dice.coin()) link.device_max_rate = static_cast<PcieRate>(1 + dice.below(6));
  if (dice.coin()) link.device_max_width = widths[static_cast<std::size_t>(dice.below(6))];
  if (dice.coin()) link.max_mps = Bytes(std::uint64_t{128} << dice.below(6));
  link.idle = dice.coin();
  link.port = dice.text();
  link.slot = dice.text();
  if (dice.coin()) link.corrected_errors = std::uint64_t{1} << dice.below(64);
  if (dice.coin()) link.uncorrected_errors = static_cast<std::uint64_t>(dice.below(3));
  if (dice.coin()) link.replays = static_cast<std::uint64_t>(dice.below(3));
  machine.links.push_back(link);
}

void add_nvlink(Machine& machine, Dice& dice, int gpu) {
  Link link;
  link.name = dice.name(3000 + gpu);
  link.kind = LinkKind::nvlink;
  link.from = {NodeKind::gpu, gpu};
  link.to = {NodeKind::nvswitch, 0};
  link.count = 1 + dice.below(18);
  link.lane_rate = dice.maybe_rate();
  machine.links.push_back(link);
}

void add_devices(Machine& machine, Dice& dice) {
  for (int i = 0, count = dice.below(4); i < count; ++i) {
    machine.switches.push_back(
        {dice.name(i), dice.text(), dice.coin(), dice.maybe_time(), dice.text(), dice.text()});
    add_pcie_link(machine, dice, {NodeKind::pcie_switch, i});
  }
  machine.nvswitches.push_back({dice.name(0), dice.text()});
  for (int i = 0, count = 1 + dice.below(6); i < count; ++i) {
    Gpu gpu{dice.name(i), dice.text(),  dice.below(130), i == 0 || dice.coin(),
            std::nullopt, std::nullopt, dice.text(),     dice.text()};
    if (dice.coin()) gpu.p2p = dice.coin();
    if (dice.coin()) gpu.l2 = Bytes(1 + static_cast<std::uint64_t>(dice.below(1 << 30)));
    if (dice.coin()) gpu.memory = Bytes(std::uint64_t{1} << dice.below(40));
    if (dice.coin()) gpu.bar1 = Bytes(std::uint64_t{1} << dice.below(40));
    machine.gpus.push_back(gpu);
    add_pcie_link(machine, dice, {NodeKind::gpu, i});
    if (dice.coin()) add_nvlink(machine, dice, i);
  }
  for (int i = 0, count = dice.below(3); i < count; ++i) {
    machine.nics.push_back(
        {dice.name(i), BytesPerSecond(dice.real(1e9, 1e11)), dice.text(), dice.text(), dice.text()});
    add_pcie_link(machine, dice, {NodeKind::nic, i});
  }
}

}  // namespace

Machine random_machine(std::uint64_t seed) {
  Dice dice(seed);
  Machine machine;
  machine.name = dice.name(0);
  machine.description = dice.text();
  machine.source = dice.text();
  machine.profile = dice.coin() ? "generic" : "";
  add_hosts(machine, dice);
  add_devices(machine, dice);
  machine.p2p.enabled = dice.coin();
  machine.p2p.iommu = dice.coin();
  if (dice.coin()) machine.p2p.level = static_cast<Distance>(dice.below(7));
  for (int i = 0, count = dice.below(3); i < count; ++i) machine.assumptions.push_back(dice.text());
  for (int i = 0, count = dice.below(3); i < count; ++i) machine.assumed.push_back(dice.text());
  machine.host = dice.text();
  machine.taken = dice.text();
  machine.driver = dice.text();
  if (dice.coin()) machine.virtualized = dice.coin();
  return machine;
}

}  // namespace lanecast
