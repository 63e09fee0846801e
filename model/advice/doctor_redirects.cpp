#include <map>
#include <set>

#include "model/advice/doctor_rules.hpp"

namespace lanecast {
namespace {

std::size_t at_index(int index) { return static_cast<std::size_t>(index); }

/// The only switch that could turn traffic of these two cards: the lowest above both.
std::optional<int> turning_switch(const Evidence& evidence, const GpuPair& pair) {
  for (const int up : evidence.paths[at_index(pair.a)]) {
    const NodeId turn = evidence.link(up).from;
    for (const int down : evidence.paths[at_index(pair.b)]) {
      if (evidence.link(down).from != turn) continue;
      return turn.kind == NodeKind::pcie_switch ? std::optional<int>(turn.index) : std::nullopt;
    }
  }
  return std::nullopt;
}

/// What a switch could turn, and whether it is in use.
struct Turns {
  int used = 0;    // pairs with peer access over PCIe
  int unused = 0;  // other pairs
};

std::map<int, Turns> turns_by_switch(const Evidence& evidence) {
  std::map<int, Turns> turns;
  for (const GpuPair& pair : evidence.pairs) {
    const auto turn = turning_switch(evidence, pair);
    if (!turn) continue;
    const bool used = pair.verdict.allowed && !pair.nvlink;
    ++(used ? turns[*turn].used : turns[*turn].unused);
  }
  return turns;
}

/// Switches below which GPUs and network adapters hang: GPUDirect RDMA would be turned there.
std::set<int> switches_with_adapters(const Evidence& evidence) {
  std::set<int> switches;
  for (std::size_t i = 0; i < evidence.machine.links.size(); ++i) {
    const Link& link = evidence.machine.links[i];
    if (link.to.kind == NodeKind::pcie_switch && evidence.gpus_below[i] > 0 && evidence.nics_below[i] > 0)
      switches.insert(link.to.index);
  }
  return switches;
}

void examine_acs(const Evidence& evidence, std::vector<Finding>& findings) {
  RuleFindings rule("LC-ACS-01", findings);
  std::map<int, Turns> turns = turns_by_switch(evidence);
  for (const int index : switches_with_adapters(evidence)) turns[index];
  std::vector<std::string> names;
  int used = 0;
  Machine mended = evidence.machine;
  for (const auto& [index, at] : turns) {
    PcieSwitch& part = mended.switches[at_index(index)];
    if (!evidence.knows("switches", part.name, "acs")) rule.unknown(part.name);
    if (!part.acs || !evidence.knows("switches", part.name, "acs")) continue;
    names.push_back(part.name);
    used += at.used;
    part.acs = false;
  }
  if (!names.empty()) {
    const std::string fact =
        used > 0 ? "ACS redirect is on: peer traffic of " + counted(static_cast<std::size_t>(used), "pair") +
                       " of GPUs goes up to the root and back, although the switch could turn it"
                 : "ACS redirect is on: peer traffic of GPUs and network adapters below would go up to the "
                   "root; no "
                   "two GPUs make use of the switch now";
    rule.add(
        used > 0 ? FindingStatus::fail : FindingStatus::warn, named("switch", names), fact,
        "on bare metal, switch ACS off in the firmware, or clear ACSCtl on the downstream ports (`setpci -s "
        "PORT "
        "ECAP_ACS+6.w=0`); in a virtual machine it has to stay on, with ATS; `--set switches.NAME.acs=off` "
        "predicts it",
        std::move(mended));
  }
  rule.close("switch", "whether the switch redirects peer traffic (ACS) is not known",
             "`sudo lspci -vvv` (ACSCtl: ReqRedir, CmpltRedir of the downstream ports)",
             turns.empty() ? "no switch stands between two cards" : "no switch redirects peer traffic (ACS)");
}

void examine_iommu(const Evidence& evidence, std::vector<Finding>& findings) {
  RuleFindings rule("LC-IOMMU-01", findings);
  if (!evidence.knows("p2p", "iommu")) {
    rule.unknown("machine");
  } else if (evidence.machine.p2p.iommu) {
    std::size_t used = 0;
    for (const GpuPair& pair : evidence.pairs) used += pair.verdict.allowed && !pair.nvlink ? 1 : 0;
    Machine mended = evidence.machine;
    mended.p2p.iommu = false;
    rule.add(used > 0 ? FindingStatus::fail : FindingStatus::warn, "machine",
             "the IOMMU translates: peer traffic (here of " + counted(used, "pair") +
                 " of GPUs) goes through the root complex, is slowed, and was seen to hang NCCL",
             "on bare metal, boot with iommu=pt (or intel_iommu=off, amd_iommu=off), or switch the IOMMU off "
             "in the "
             "firmware; `--set p2p.iommu=false` predicts it",
             std::move(mended));
  }
  rule.close(
      "", "whether the IOMMU translates is not known",
      "`cat /proc/cmdline`, `dmesg | grep -i iommu`, or /sys/kernel/iommu_groups/*/type (identity is passed "
      "through)",
      "no translation by the IOMMU");
}

}  // namespace

void examine_redirects(const Evidence& evidence, std::vector<Finding>& findings) {
  examine_acs(evidence, findings);
  examine_iommu(evidence, findings);
}

}  // namespace lanecast
