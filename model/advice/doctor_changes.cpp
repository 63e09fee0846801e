#include <algorithm>
#include <set>

#include "model/advice/doctor_rules.hpp"
#include "model/topology/comparison.hpp"
#include "model/topology/difference.hpp"

namespace lanecast {
namespace {

std::size_t at_index(int index) { return static_cast<std::size_t>(index); }

/// Cards that are gone are LC-CARD-01's.
std::set<std::string> gone_cards(const Evidence& evidence) {
  std::set<std::string> labels;
  for (const int gpu : evidence.since->gpus.gone)
    labels.insert(label(*evidence.earlier, {NodeKind::gpu, gpu}));
  return labels;
}

/// "moved: below sw0 before, below sw1 now"; empty for what is no change of the box's structure.
std::string fact_of(const MachineChange& change) {
  switch (change.kind) {
    case ChangeKind::gone:
      return "is gone";
    case ChangeKind::added:
      return "is new";
    case ChangeKind::moved:
      return "moved: " + change.before + " before, " + change.after + " now";
    case ChangeKind::replaced:
      return "another one is in its place: " + change.before + " before, " + change.after + " now";
    case ChangeKind::other_host:
      return "the dumps are of different hosts: " + change.before + " before, " + change.after + " now";
    default:
      return "";
  }
}

void examine_structure(const Evidence& evidence, RuleFindings& rule) {
  const std::set<std::string> gone = gone_cards(evidence);
  for (const MachineChange& change : differences(*evidence.earlier, evidence.machine)) {
    const std::string fact = fact_of(change);
    if (fact.empty() || (change.kind == ChangeKind::gone && gone.count(change.where) != 0)) continue;
    rule.add(FindingStatus::warn, change.where, fact,
             change.kind == ChangeKind::other_host ? "compare dumps of one box"
                                                   : "where nobody did that, look for a port or switch that "
                                                     "fell out (`dmesg`); rank lists and topology "
                                                     "files of before no longer fit");
  }
}

/// Links whose ends cannot do any more what they could: what runs below its ends' ability is LC-LINK-01's.
void examine_abilities(const Evidence& evidence, RuleFindings& rule) {
  for (const int index : evidence.used_links()) {
    const Link& now = evidence.link(index);
    const auto old = evidence.earlier_link(index);
    if (!old || !evidence.knows("links", now.name, "max_rate") ||
        !evidence.knows("links", now.name, "max_width"))
      continue;
    const Link& before = evidence.earlier->links[at_index(*old)];
    const std::string path = "links." + before.name;
    if (is_assumed(*evidence.earlier, path + ".max_rate") ||
        is_assumed(*evidence.earlier, path + ".max_width"))
      continue;
    if (now.max_rate >= before.max_rate && now.max_width >= before.max_width) continue;
    Machine mended = evidence.machine;
    Link& link = mended.links[at_index(index)];
    link.max_rate = std::max(now.max_rate, before.max_rate);
    link.max_width = std::max(now.max_width, before.max_width);
    if (now.rate == now.max_rate) link.rate = std::max(now.rate, before.rate);
    if (now.width == now.max_width) link.width = std::max(now.width, before.width);
    rule.add(FindingStatus::fail, "link " + now.name,
             "both ends can do " + link_text(now.max_rate, now.max_width) + " now, " +
                 link_text(before.max_rate, before.max_width) + " in the earlier dump",
             "look for a firmware update or setting (link speed, bifurcation) and for a card in another slot",
             std::move(mended));
  }
}

void examine_order(const Evidence& evidence, RuleFindings& rule) {
  const std::string& before = evidence.earlier->taken;
  const std::string& now = evidence.machine.taken;
  if (before.empty() || now.empty() || before <= now) return;
  rule.add(FindingStatus::warn, "machine",
           "the dump that should be the earlier one (" + before + ") is the later one (" + now + ")",
           "swap the two");
}

}  // namespace

void examine_changes(const Evidence& evidence, std::vector<Finding>& findings) {
  RuleFindings rule("LC-CHANGE-01", findings);
  if (evidence.earlier == nullptr) {
    rule.unknown("machine");
  } else {
    examine_order(evidence, rule);
    examine_structure(evidence, rule);
    examine_abilities(evidence, rule);
  }
  rule.close("", "no earlier dump of the box was given", "`lanecast doctor NOW --before EARLIER`",
             "cards and links are where the earlier dump shows them");
}

}  // namespace lanecast
