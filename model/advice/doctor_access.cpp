#include <algorithm>
#include <map>

#include "model/advice/doctor_rules.hpp"
#include "model/implementation/transport.hpp"
#include "model/topology/routes.hpp"

namespace lanecast {
namespace {

constexpr const char* kRule = "LC-P2P-01";

bool able(const Gpu& gpu) { return gpu.p2p ? *gpu.p2p : model_has_peer_access(gpu.model); }

bool is_off(const Machine& machine) { return !machine.p2p.enabled || machine.p2p.level == Distance::loc; }

/// Pairs that would have peer access on another machine with the same cards.
std::vector<GpuPair> allowed_on(const Evidence& evidence, const Machine& machine) {
  std::vector<GpuPair> allowed;
  for (const GpuPair& pair : evidence.pairs) {
    if (uses_peer_access(machine, evidence.implementation, std::nullopt,
                         static_cast<int>(evidence.gpus.size()), pair.a, pair.b)
            .allowed)
      allowed.push_back(pair);
  }
  return allowed;
}

/// Peer access is switched off for all: that certainly costs where it would stay below a switch or go over
/// NVLink; across roots, host memory may be as fast.
void examine_switched_off(const Evidence& evidence, RuleFindings& rule) {
  Machine mended = evidence.machine;
  mended.p2p.enabled = true;
  if (mended.p2p.level == Distance::loc) mended.p2p.level.reset();
  std::vector<GpuPair> would = allowed_on(evidence, mended);
  const bool by_level = would.empty();
  if (by_level) {
    mended.p2p.level = Distance::sys;
    would = allowed_on(evidence, mended);
  }
  const bool near = std::any_of(would.begin(), would.end(), [&](const GpuPair& pair) {
    return distance(evidence.machine, pair.a, pair.b) <= Distance::pxb;
  });
  std::string fact =
      "peer access is off for the whole machine (p2p): " + counted(evidence.pairs.size(), "pair") +
      " of GPUs exchange their data through host memory";
  if (would.empty()) {
    rule.add(FindingStatus::warn, "machine", fact + "; with these cards it would be off anyway",
             "nothing to mend but the cards or their driver");
    return;
  }
  std::string mend =
      "leave NCCL_P2P_DISABLE=1 out, and look what `nvidia-smi topo -p2p w` says; `--set p2p.enabled=true` "
      "predicts "
      "it";
  if (by_level)
    mend += ", here with NCCL_P2P_LEVEL=SYS (`--set p2p.level=SYS`), since the cards are far apart";
  rule.add(near ? FindingStatus::fail : FindingStatus::warn, "machine", fact, mend, std::move(mended));
}

/// Cards that take no part in peer access. Mended where the model could: then something else forbids it.
void examine_unable(const Evidence& evidence, const std::vector<GpuPair>& refused, RuleFindings& rule) {
  std::vector<std::string> by_model, by_file;
  Machine mended = evidence.machine;
  for (const int index : evidence.gpus) {
    const Gpu& gpu = evidence.gpu(index);
    const bool concerned = std::any_of(refused.begin(), refused.end(), [&](const GpuPair& pair) {
      return pair.a == index || pair.b == index;
    });
    if (!concerned || able(gpu)) continue;
    if (model_has_peer_access(gpu.model)) {
      by_file.push_back(gpu.name);
      mended.gpus[static_cast<std::size_t>(index)].p2p = true;
    } else {
      by_model.push_back(gpu.name);
    }
  }
  if (!by_model.empty()) {
    rule.add(FindingStatus::warn, named("gpu", by_model),
             "cards of this family (GeForce since Turing) have no PCIe peer access with the vendor's driver: "
             "their "
             "data goes through host memory",
             "no setting mends it; `--set gpus.NAME.p2p=true` on each predicts what a card or driver with "
             "peer access "
             "gives");
  }
  if (!by_file.empty()) {
    rule.add(
        FindingStatus::warn, named("gpu", by_file),
        "the driver reports no peer access, although the model is able to: data goes through host memory",
        "`nvidia-smi topo -p2p w` tells why: CNS is the chipset (IOMMU, ACS, BAR size in the firmware), GNS "
        "the "
        "card, TNS the topology",
        std::move(mended));
  }
  if (by_model.empty() && by_file.empty()) {
    rule.add(FindingStatus::warn, "machine",
             counted(refused.size(), "pair") + " of GPUs have no PCIe way to each other: no peer access",
             "describe the links between the sockets, where there are any");
  }
}

void examine_level(const Evidence& evidence, const std::vector<GpuPair>& refused, RuleFindings& rule) {
  std::map<Distance, int> far;
  for (const GpuPair& pair : refused) ++far[distance(evidence.machine, pair.a, pair.b)];
  std::string classes;
  for (const auto& [distance, count] : far)
    classes += (classes.empty() ? "" : ", ") + std::to_string(count) + " " + to_string(distance);
  const int gpus = static_cast<int>(evidence.gpus.size());
  const Distance level =
      evidence.machine.p2p.level.value_or(default_p2p_level(evidence.implementation, evidence.machine, gpus));
  const std::string whose = evidence.machine.p2p.level
                                ? "the machine's p2p.level"
                                : "the default of " + evidence.implementation.name() + " here";
  Machine mended = evidence.machine;
  mended.p2p.level = Distance::sys;
  rule.add(
      FindingStatus::warn, "machine",
      std::to_string(refused.size()) + " of " + counted(evidence.pairs.size(), "pair") +
          " of GPUs: farther apart (" + classes + ") than peer access reaches: " + to_string(level) + ", " +
          whose + "; their data goes through host memory",
      "NCCL_P2P_LEVEL=SYS in the run, `--set p2p.level=SYS` here; measure both, since some roots carry peer "
      "traffic badly",
      std::move(mended));
}

void examine_peer_access(const Evidence& evidence, std::vector<Finding>& findings) {
  RuleFindings rule(kRule, findings);
  std::vector<GpuPair> by_level, by_card;
  for (const GpuPair& pair : evidence.pairs) {
    if (!pair.verdict.allowed) (pair.verdict.by_level ? by_level : by_card).push_back(pair);
  }
  if (is_off(evidence.machine) && !evidence.pairs.empty()) {
    examine_switched_off(evidence, rule);
  } else {
    if (!by_card.empty()) examine_unable(evidence, by_card, rule);
    if (!by_level.empty()) examine_level(evidence, by_level, rule);
  }
  for (const int index : evidence.gpus) {
    const Gpu& gpu = evidence.gpu(index);
    const bool matters = std::any_of(evidence.pairs.begin(), evidence.pairs.end(), [&](const GpuPair& pair) {
      return (pair.a == index || pair.b == index) && pair.verdict.allowed && !pair.nvlink;
    });
    const bool known = gpu.p2p ? evidence.knows("gpus", gpu.name, "p2p") : !evidence.model_of(index).empty();
    if (evidence.too_many_for_pairs() || (matters && (!known || !evidence.knows("p2p", "enabled"))))
      rule.unknown(gpu.name);
  }
  rule.close("gpu",
             evidence.too_many_for_pairs()
                 ? "more GPUs than NCCL takes: pairs are not looked at"
                 : "whether the driver lets the card take part in peer access is not known",
             "`nvidia-smi topo -p2p w`, or what NCCL_DEBUG=INFO prints after `via`",
             evidence.gpus.size() < 2 ? "one GPU only" : "every two GPUs may store into each other's memory");
}

}  // namespace

void examine_access(const Evidence& evidence, std::vector<Finding>& findings) {
  examine_peer_access(evidence, findings);
}

}  // namespace lanecast
