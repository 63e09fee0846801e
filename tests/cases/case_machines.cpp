#include "tests/cases/case_machines.hpp"

#include <filesystem>

#include "configs/machine_paths.hpp"
#include "configs/shipped.hpp"

namespace lanecast::cases {
namespace {

constexpr const char* kHalvesInTurn =
    "GeForce cards before Ada stage a copy at about half of their link, as if its halves ran in turn";

std::vector<std::string> with_peer_access(int gpus) {
  std::vector<std::string> sets{"p2p.enabled=true"};
  for (int i = 0; i < gpus; ++i) sets.push_back("gpus.gpu" + std::to_string(i) + ".p2p=true");
  return sets;
}

/// The shipped file takes the socket link's rate from this very page; the prior of facts.md C9 (Milan, Rome)
/// keeps the comparison a prediction.
std::vector<std::string> with_prior_socket_rate(std::vector<std::string> sets) {
  sets.emplace_back("links.xgmi0.rate=20 GB/s");
  return sets;
}

std::string fixture_path(const std::string& name) {
  return std::string(LANECAST_FIXTURE_MACHINES) + "/" + name + ".yaml";
}

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

const std::vector<CaseMachine>& case_machines() {
  static const std::vector<CaseMachine> table{
      {"wrx90-3switch-rtxpro6000-p2p", "wrx90-3switch-rtxpro6000-p2p", {}, true, ""},
      {"wrx90-2switch-flat-rtxpro6000-p2p", "rtxpro6000x8-2switch", {}, true, ""},
      {"esc8000a-e13p-pex890xx-rtxpro6000-p2p", "esc8000a-e13p-pex890xx-rtxpro6000-p2p", {}, true, ""},
      {"wrx90-2switch-root-groups-p2p-and-host", "rtxpro6000x8-2switch", {}, true, ""},
      {"wrx90-2vs-per-chip-rtxpro6000-multiflow", "wrx90-2vs-per-chip-v1", {}, true, ""},
      {"esc8000a-e12-4x-rtx6000ada-p2p", "esc8000a-e12-4x-rtx6000ada-p2p", {}, true, ""},
      {"wrx90-2x-rtx6000ada-p2p", "wrx90-2x-rtx6000ada-p2p", {}, true, ""},
      {"wrx80-2x4090-p2p-driver525-60", "wrx80-2x4090-p2p-driver525-60", {}, true, ""},
      {"wrx80-2x-rtx6000ada-p2p", "wrx80-2x-rtx6000ada-p2p", {}, true, ""},
      {"wrx80-2x3090-nop2p", "wrx80-2x3090-nop2p", {}, true, kHalvesInTurn},
      {"autodl-2x2080ti-pix-p2p", "autodl-2x2080ti-pix-p2p", {}, true, kHalvesInTurn},
      {"a100pcie-4x-sys-p2p", "a100pcie-4x-sys-p2p", {}, false, ""},
      {"dual-turin-direct-4xpro6000-2x5090-p2p", "dual-turin-direct-4xpro6000-2x5090-p2p", {}, false, ""},
      {"rtx5090-9x-p2p", "rtx5090-9x-p2p", {}, false, ""},
      {"8x4090-dualsocket-p2poff-p2p", "rtx4090x8-2socket-nop2p", with_prior_socket_rate({}), false, ""},
      {"8x4090-dualsocket-p2pon-p2p", "rtx4090x8-2socket-nop2p", with_prior_socket_rate(with_peer_access(8)),
       false, ""},
      {"tinybox-6x4090-p2p", "tinybox-6x4090-p2p", {}, false, ""},
      {"8x2080ti-nop2p-pairs", "8x2080ti-nop2p-pairs", {}, false, kHalvesInTurn},
      {"2x5090-genoa-nop2p", "2x5090-genoa-nop2p", {}, false, ""},
      {"x399-2x3070ti-uma-vs-numa-p2p", "x399-2x3070ti-uma-vs-numa-p2p", {}, false, kHalvesInTurn},
      {"3x3090-chipset-slot-p2p", "3x3090-chipset-slot-p2p", {}, false, kHalvesInTurn},
      {"a6000-nvlink-pair-duplex-copy", "a6000-nvlink-pair-duplex-copy", {}, false, ""},
      {"a100-sxm-gen4-host-copy-sweep", "a100-sxm-gen4-host-copy-sweep", {}, false, ""},
  };
  return table;
}

const std::vector<CaseLeftOut>& cases_left_out() {
  static const std::vector<CaseLeftOut> table{
      {"x399-2x3070ti-uma-vs-numa-p2p (UMA mode)",
       "memory interleaved over both dies: a machine file cannot say that"},
      {"wrx90-2switch-root-groups-p2p-and-host (pairs 0-8, 0-12, 4-8)",
       "pairs across its two groups: how the four roots lie on the IO die is not described"},
      {"every latency_us of p2pmark and p2pBandwidthLatencyTest",
       "remote reads, and copies' issue rate (facts.md B3): no one-way latency"},
  };
  return table;
}

Machine machine_of(const std::string& name, const std::vector<std::string>& sets) {
  const bool fixture = std::filesystem::exists(fixture_path(name));
  Machine machine = load_machine(fixture ? fixture_path(name) : name);
  apply_sets(machine, sets);
  return machine;
}

MatrixReading read_title(const std::string& case_id, std::size_t index, const std::string& title) {
  if (case_id == "wrx90-3switch-rtxpro6000-p2p" && index == 1) {
    return {MatrixKind::p2p, false, "titled bidirectional, but its cells are half of the first matrix's"};
  }
  if (case_id == "wrx90-3switch-rtxpro6000-p2p" && index == 2) {
    return {std::nullopt, false,
            "titled bandwidth, but its cells are copy latencies: issue rate (facts.md B3)"};
  }
  if (case_id == "8x2080ti-nop2p-pairs" && index == 0) {
    return {MatrixKind::p2p, true, "title not in the excerpt: taken as unidirectional"};
  }
  if (contains(title, "Connectivity")) return {std::nullopt, false, "who may access whom: no rate"};
  if (contains(title, "Latency")) {
    return {std::nullopt, false, "copy latency: the copy engines' issue rate, not one way (facts.md B3)"};
  }
  const bool off = contains(title, "P2P=Disabled");
  if (contains(title, "Unidirectional")) return {MatrixKind::p2p, off, ""};
  if (contains(title, "Bidirectional")) return {MatrixKind::bidir, off, ""};
  return {std::nullopt, false, "title not understood"};
}

std::optional<std::string> cell_left_out(const std::string& case_id, std::size_t index, int row, int column) {
  if (case_id == "wrx80-2x4090-p2p-driver525-60" && index == 2 && row == 1 && column == 0) {
    return "cell 1>0 (11.46) left out: a driver fault of 525.60 on this card";
  }
  return std::nullopt;
}

}  // namespace lanecast::cases
