#include "reports/distance_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "model/topology/distance_matrix.hpp"
#include "model/topology/peer_access.hpp"
#include "model/topology/routes.hpp"
#include "reports/safe_text.hpp"

namespace lanecast {
namespace {

std::size_t at_index(int index) { return static_cast<std::size_t>(index); }

/// "GPU3", "NIC0"
std::string title(NodeId id) {
  return fmt::format("{}{}", id.kind == NodeKind::gpu ? "GPU" : "NIC", id.index);
}

std::string cell_text(const DistanceCell& cell) {
  if (cell.distance == Distance::loc) return " X ";
  return cell.nvlinks > 0 ? fmt::format("NV{}", cell.nvlinks) : to_string(cell.distance);
}

std::string numa_text(const Machine& machine, int cpu) {
  const bool numbered = std::any_of(machine.cpus.begin(), machine.cpus.end(),
                                    [](const Cpu& each) { return each.numa.has_value(); });
  const std::optional<int> number = numbered ? machine.cpus[at_index(cpu)].numa : std::optional(cpu);
  return number ? std::to_string(*number) : "N/A";
}

/// Cores as the system lists them, "0-63,128-191"; a text of another kind would shift the columns.
std::string cores_text(const std::string& cores) {
  const bool listed = !cores.empty() && cores.find_first_not_of("0123456789,-") == std::string::npos;
  return listed ? cores : "N/A";
}

/// The columns behind the cells of a GPU's row. nvidia-smi sets two tabs before the last one.
std::string affinity_text(const Machine& machine, NodeId gpu) {
  const std::optional<int> cpu = cpu_of(machine, gpu);
  return fmt::format("\t{}\t{}\t\tN/A", cpu ? cores_text(machine.cpus[at_index(*cpu)].cores) : "N/A",
                     cpu ? numa_text(machine, *cpu) : "N/A");
}

constexpr const char* kDistanceLegend =
    "\nLegend:\n\n"
    "  X    = Self\n"
    "  SYS  = Connection traversing PCIe as well as the interconnect between NUMA nodes (QPI, UPI, xGMI)\n"
    "  NODE = Connection traversing PCIe as well as the interconnect between host bridges of one NUMA node\n"
    "  PHB  = Connection traversing PCIe as well as one host bridge (typically the CPU)\n"
    "  PXB  = Connection traversing several PCIe bridges, without a host bridge\n"
    "  PIX  = Connection traversing at most a single PCIe bridge\n"
    "  NV#  = Connection traversing a bonded set of # NVLinks\n";

std::string list_of_nics(const Machine& machine) {
  std::string text;
  for (std::size_t i = 0; i < machine.nics.size(); ++i) {
    text += fmt::format("  NIC{}: {}\n", i, safe_text(machine.nics[i].name));
  }
  return text.empty() ? text : "\nNIC Legend:\n\n" + text;
}

std::string list_of_gone(const Machine& machine) {
  std::string text;
  for (std::size_t i = 0; i < machine.gpus.size(); ++i) {
    if (machine.gpus[i].present) continue;
    text += fmt::format("\nGone: GPU{} ({})\n", i, safe_text(machine.gpus[i].name));
  }
  return text;
}

/// How a pair of GPUs stands, as `nvidia-smi topo -p2p` abbreviates it.
enum class PeerState { self, ok, off, not_able, no_route, beyond_level };

struct PeerWord {
  PeerState state;
  const char* word;
  const char* meaning;
};

constexpr PeerWord kPeerWords[] = {
    {PeerState::self, "X", "Self"},
    {PeerState::ok, "OK", "peer access"},
    {PeerState::off, "NS", "not supported: peer access is off for the whole machine"},
    {PeerState::not_able, "GNS",
     "GPU not supported: one of the two cards, or its driver, has no peer access"},
    {PeerState::no_route, "TNS", "topology not supported: no PCIe route between the two"},
    {PeerState::beyond_level, "FAR", "farther apart than the level: traffic goes through host memory"},
};

PeerState state_of(const Machine& machine, int from, int to, const PeerVerdict& verdict) {
  if (verdict.allowed) return PeerState::ok;
  if (verdict.by_level) return PeerState::beyond_level;
  if (!machine.p2p.enabled) return PeerState::off;
  for (const int gpu : {from, to}) {
    const Gpu& card = machine.gpus[at_index(gpu)];
    if (!card.p2p.value_or(model_has_peer_access(card.model))) return PeerState::not_able;
  }
  return peer_route(machine, from, to) ? PeerState::off : PeerState::no_route;
}

constexpr std::size_t kMostPeers =
    512;  // each pair has its route looked up: seconds above that, minutes soon

using Verdict = std::function<PeerVerdict(int from, int to)>;

std::string peer_table(const Machine& machine, const Verdict& verdict) {
  const std::vector<int> gpus = present_gpus(machine);
  std::vector<PeerState> met;
  std::string text = " ";
  for (const int gpu : gpus) text += "\t" + title({NodeKind::gpu, gpu});
  text += "\n";
  for (const int from : gpus) {
    text += " " + title({NodeKind::gpu, from});
    for (const int to : gpus) {
      const PeerState state = from == to ? PeerState::self : state_of(machine, from, to, verdict(from, to));
      text += std::string("\t") + kPeerWords[static_cast<std::size_t>(state)].word;
      met.push_back(state);
    }
    text += "\n";
  }
  text += "\nLegend:\n\n";
  for (const PeerWord& each : kPeerWords) {
    if (std::find(met.begin(), met.end(), each.state) == met.end()) continue;
    text += fmt::format("  {:<4} = {}\n", each.word, each.meaning);
  }
  return text;
}

}  // namespace

std::string topology_matrix_text(const Machine& machine) {
  const TopologyMatrix matrix = topology_matrix(machine);
  std::string text;
  for (const NodeId id : matrix.nodes) text += "\t" + title(id);
  text += "\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n";
  for (std::size_t row = 0; row < matrix.nodes.size(); ++row) {
    text += title(matrix.nodes[row]);
    for (const DistanceCell& cell : matrix.cells[row]) text += "\t" + cell_text(cell);
    if (matrix.nodes[row].kind == NodeKind::gpu) text += affinity_text(machine, matrix.nodes[row]);
    text += "\n";
  }
  return text + kDistanceLegend + list_of_nics(machine) + list_of_gone(machine);
}

std::string peer_access_text(const Machine& machine, Distance default_level) {
  const std::size_t gpus = present_gpus(machine).size();
  if (gpus > kMostPeers) {
    return fmt::format("Peer access: left out, since {} GPUs are more than {}\n", gpus, kMostPeers);
  }
  const Distance level = machine.p2p.level.value_or(default_level);
  return "Peer access by the hardware and its driver (row stores into column)\n\n" +
         peer_table(machine,
                    [&](int from, int to) { return peer_access_within(machine, from, to, Distance::sys); }) +
         fmt::format("\nPeer access up to {}, {}\n\n", to_string(level),
                     machine.p2p.level ? "the machine's level (p2p.level)" : "the default level") +
         peer_table(machine, [&](int from, int to) { return peer_access(machine, from, to, default_level); });
}

}  // namespace lanecast
