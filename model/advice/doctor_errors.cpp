#include "model/advice/doctor_rules.hpp"

namespace lanecast {
namespace {

std::string where_of(const Link& link) { return "link " + link.name; }

/// A counter of a link, now and in the earlier dump.
struct Count {
  std::uint64_t now = 0;
  std::optional<std::uint64_t> before;  // nothing: no earlier dump, or it does not say

  /// Since the earlier dump; all where the counter fell, since a restart began it anew.
  std::uint64_t rise() const { return before && *before <= now ? now - *before : now; }
  bool rising() const { return before && rise() > 0; }
};

using Counter = std::optional<std::uint64_t> Link::*;

std::optional<Count> count_of(const Evidence& evidence, int index, Counter counter) {
  const Link& link = evidence.link(index);
  if (!(link.*counter)) return std::nullopt;
  Count count{*(link.*counter), std::nullopt};
  if (evidence.earlier == nullptr) return count;
  const auto same = evidence.earlier_link(index);
  if (same) count.before = evidence.earlier->links[static_cast<std::size_t>(*same)].*counter;
  return count;
}

/// "12 corrected errors, 5 of them since the earlier dump (2026-11-30T06:25:03Z)".
std::string count_text(const Evidence& evidence, const Count& count, const std::string& noun) {
  std::string text = counted(count.now, noun);
  if (!count.before) return text + " since the counters began; one dump does not tell whether they rise";
  text += *count.before <= count.now ? ", " + std::to_string(count.rise()) + " of them since the earlier dump"
                                     : ", all since the counters began anew after the earlier dump";
  return evidence.earlier->taken.empty() ? text : text + " (" + evidence.earlier->taken + ")";
}

const char* const cable_mend =
    "reseat the card and its riser or cable, or set the link one generation lower until it is replaced; read "
    "the "
    "counters again under load (`lanecast doctor NOW --before EARLIER`)";

void examine_corrected(const Evidence& evidence, std::vector<Finding>& findings) {
  RuleFindings rule("LC-AER-01", findings);
  for (const int index : evidence.used_links()) {
    const auto count = count_of(evidence, index, &Link::corrected_errors);
    if (!count) {
      rule.unknown(evidence.link(index).name);
      continue;
    }
    if (count->now == 0 || (count->before && count->rise() == 0)) continue;
    rule.add(
        count->rising() ? FindingStatus::fail : FindingStatus::warn, where_of(evidence.link(index)),
        count_text(evidence, *count, "corrected error") +
            "; the link sends such packets again. How many packets it sent meanwhile is not known, and so "
            "neither is the cost",
        cable_mend);
  }
  rule.close("link", "the counter of corrected errors (AER) was not read",
             "`cat /sys/bus/pci/devices/*/aer_dev_correctable`, twice with load between, or `sudo lspci "
             "-vvv` (CESta)",
             evidence.earlier != nullptr ? "no corrected errors, or none since the earlier dump"
                                         : "no corrected errors");
}

void examine_uncorrected(const Evidence& evidence, std::vector<Finding>& findings) {
  RuleFindings rule("LC-AER-02", findings);
  for (const int index : evidence.used_links()) {
    const auto count = count_of(evidence, index, &Link::uncorrected_errors);
    if (!count) rule.unknown(evidence.link(index).name);
    if (!count || count->now == 0) continue;
    rule.add(
        FindingStatus::fail, where_of(evidence.link(index)),
        count_text(evidence, *count, "uncorrected error") +
            ": data or requests were lost; jobs may have failed, hung or been wrong",
        "look into `dmesg` for what was lost, then reseat the card and replace its riser or cable; leave the "
        "card out of jobs until the counter stands still");
  }
  rule.close(
      "link", "the counter of uncorrected errors (AER) was not read",
      "`cat /sys/bus/pci/devices/*/aer_dev_fatal /sys/bus/pci/devices/*/aer_dev_nonfatal`, or `sudo lspci "
      "-vvv` (UESta)",
      "no uncorrected errors");
}

/// A share of replays in the machine file is what predictions go by: that has a cost.
void add_stated_share(const Evidence& evidence, int index, RuleFindings& rule) {
  const Link& link = evidence.link(index);
  Machine mended = evidence.machine;
  mended.links[static_cast<std::size_t>(index)].replay_rate = 0;
  rule.add(
      FindingStatus::fail, where_of(link),
      "sends a share of its packets again (replay_rate of the machine file: " +
          std::to_string(link.replay_rate) + ")",
      std::string(cable_mend) + "; `--set links." + link.name + ".replay_rate=0` predicts the mended link",
      std::move(mended));
}

void examine_replays(const Evidence& evidence, std::vector<Finding>& findings) {
  RuleFindings rule("LC-REPLAY-01", findings);
  for (const int index : evidence.used_links()) {
    const auto count = count_of(evidence, index, &Link::replays);
    if (evidence.link(index).replay_rate > 0) {
      add_stated_share(evidence, index, rule);
    } else if (!count) {
      // Only cards count replays (nvidia-smi); a switch's uplink has nothing to say.
      if (evidence.link(index).to.kind == NodeKind::gpu) rule.unknown(evidence.link(index).name);
    } else if (count->now > 0 && !(count->before && count->rise() == 0)) {
      rule.add(count->rising() ? FindingStatus::fail : FindingStatus::warn, where_of(evidence.link(index)),
               count_text(evidence, *count, "packet") +
                   " sent again. Of how many is not known, and so neither is the cost",
               cable_mend);
    }
  }
  rule.close("link", "the card's count of replays was not read", "`nvidia-smi -q` (Replays Since Reset)",
             evidence.earlier != nullptr ? "no replays, or none since the earlier dump" : "no replays");
}

}  // namespace

void examine_errors(const Evidence& evidence, std::vector<Finding>& findings) {
  examine_corrected(evidence, findings);
  examine_uncorrected(evidence, findings);
  examine_replays(evidence, findings);
}

}  // namespace lanecast
