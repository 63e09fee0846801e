#include <algorithm>
#include <map>

#include "model/advice/doctor_rules.hpp"

namespace lanecast {
namespace {

std::size_t at_index(int index) { return static_cast<std::size_t>(index); }

std::string link_name(const Link& link) { return "link " + link.name; }

/// " (slot 5, port 0000:40:01.1)", as far as known.
std::string place_of(const Link& link) {
  std::string text;
  if (!link.slot.empty()) text += "slot " + link.slot;
  if (!link.port.empty()) text += (text.empty() ? "port " : ", port ") + link.port;
  return text.empty() ? "" : " (" + text + ")";
}

/// How to mend a link that runs below what both ends can do.
std::string link_mend(const Link& link, bool slower, bool narrower) {
  std::string text =
      link.to.kind == NodeKind::pcie_switch
          ? "check the cable, riser or retimer between the root and the switch" + place_of(link)
          : "reseat the card" + place_of(link) + ", clean its contacts, try it without riser";
  if (slower) {
    text +=
        "; set the port's link speed to Auto in the firmware, and look for a forced target speed (LnkCtl2 in "
        "`lspci -vv" +
        (link.port.empty() ? "" : " -s " + link.port) + "`)";
  }
  if (narrower) text += "; look whether the firmware splits the slot's lanes (bifurcation)";
  text += "; `--set links." + link.name + (slower ? ".rate=" + to_string(link.max_rate) : "");
  if (slower && narrower) text += " --set links." + link.name;
  if (narrower) text += ".width=x" + std::to_string(link.max_width);
  return text + "` predicts the mended link";
}

/// A network adapter's link that still carries what its port does costs nothing.
bool still_enough(const Evidence& evidence, const Link& link) {
  if (link.to.kind != NodeKind::nic) return false;
  return pcie_raw_rate(link.rate, link.width).value() >=
         evidence.machine.nics[at_index(link.to.index)].rate.value();
}

Machine with_full_link(const Machine& machine, int index) {
  Machine mended = machine;
  Link& link = mended.links[at_index(index)];
  link.rate = link.max_rate;
  link.width = link.max_width;
  return mended;
}

void examine_degraded(const Evidence& evidence, std::vector<Finding>& findings) {
  RuleFindings rule("LC-LINK-01", findings);
  for (const int index : evidence.used_links()) {
    const Link& link = evidence.link(index);
    const auto knows = [&](const char* key) { return evidence.knows("links", link.name, key); };
    const bool slower = link.rate < link.max_rate && !link.idle;  // what sleeps is LC-LINK-02's
    const bool narrower = link.width < link.max_width;
    const bool status_known = (!slower || knows("rate")) && (!narrower || knows("width"));
    const bool limits_known = (!slower || knows("max_rate")) && (!narrower || knows("max_width"));
    if ((slower || narrower) && status_known) {
      std::string fact = "runs at " + link_text(link.rate, link.width) + "; both ends can do " +
                         link_text(link.max_rate, link.max_width) + ": " + raw_text(link.rate, link.width) +
                         " instead of " + raw_text(link.max_rate, link.max_width) + " each way, raw";
      if (!limits_known) fact += "; what both ends can do was only assumed";
      const bool certain = limits_known && !still_enough(evidence, link);
      rule.add(certain ? FindingStatus::fail : FindingStatus::warn, link_name(link), fact,
               link_mend(link, slower, narrower), with_full_link(evidence.machine, index));
    } else if ((!link.idle && !knows("rate")) || !knows("width") || !knows("max_rate") ||
               !knows("max_width")) {
      rule.unknown(link.name);
    }
  }
  rule.close(
      "link", "what the link does, or what both ends can do, was only assumed",
      "`lspci -vvv` (LnkCap and LnkSta of both ends) or `nvidia-smi -q` (GPU Link Info) while the cards "
      "work",
      "every link runs at what both of its ends can do");
}

void examine_sleeping(const Evidence& evidence, std::vector<Finding>& findings) {
  RuleFindings rule("LC-LINK-02", findings);
  const std::string command =
      "read the link again while the card works (a running all_reduce_perf keeps it awake): `lspci -vv` "
      "(LnkSta), `nvidia-smi -q`";
  for (const int index : evidence.used_links()) {
    const Link& link = evidence.link(index);
    if (link.idle ? link.rate == link.max_rate : !evidence.knows("links", link.name, "rate"))
      rule.unknown(link.name);
    if (!link.idle || link.rate == link.max_rate) continue;
    Machine mended = evidence.machine;
    mended.links[at_index(index)].rate = link.max_rate;
    rule.add(FindingStatus::warn, link_name(link),
             "was read at " + link_text(link.rate, link.width) + " while its card slept; both ends can do " +
                 to_string(link.max_rate) + ", which it may well take up at work",
             command, std::move(mended));
  }
  rule.close("link", "was not read, or while its card slept: what it does at work is assumed", command,
             "no link was read while its card slept");
}

/// Present cards of one model, by what their own link could do at best.
struct EqualCards {
  std::vector<int> gpus;
  int best = -1;  // the link with the highest rate of all
};

std::map<std::string, EqualCards> equal_cards(const Evidence& evidence) {
  std::map<std::string, EqualCards> groups;
  for (const int gpu : evidence.gpus) {
    if (evidence.paths[at_index(gpu)].empty()) continue;
    const int own = evidence.paths[at_index(gpu)].front();
    EqualCards& group = groups[evidence.model_of(gpu)];
    group.gpus.push_back(gpu);
    const auto rate = [&](int link) {
      return pcie_raw_rate(evidence.link(link).max_rate, evidence.link(link).max_width);
    };
    if (group.best < 0 || rate(own) > rate(group.best)) group.best = own;
  }
  return groups;
}

/// What both ends can do becomes this; a link that ran at its best goes on doing so.
void set_capability(Link& link, PcieRate rate, int width) {
  const bool full_rate = link.rate == link.max_rate;
  const bool full_width = link.width == link.max_width;
  link.max_rate = rate;
  link.max_width = width;
  link.rate = full_rate ? rate : std::min(link.rate, rate);
  link.width = full_width ? width : std::min(link.width, width);
}

void examine_unequal(const Evidence& evidence, std::vector<Finding>& findings) {
  RuleFindings rule("LC-LINK-03", findings);
  for (const auto& [model, group] : equal_cards(evidence)) {
    if (group.gpus.size() < 2) continue;
    const Link best = evidence.link(group.best);
    std::vector<std::string> lower;
    Machine mended = evidence.machine;
    for (const int gpu : group.gpus) {
      Link& link = mended.links[at_index(evidence.paths[at_index(gpu)].front())];
      const bool known = !model.empty() && evidence.knows("links", link.name, "max_rate") &&
                         evidence.knows("links", link.name, "max_width");
      if (!known) rule.unknown(link.name);
      if (!known ||
          pcie_raw_rate(link.max_rate, link.max_width) >= pcie_raw_rate(best.max_rate, best.max_width))
        continue;
      lower.push_back(link.name + " (" + link_text(link.max_rate, link.max_width) + ")");
      set_capability(link, best.max_rate, best.max_width);
    }
    if (lower.empty()) continue;
    rule.add(FindingStatus::warn, named("link", lower),
             "can do less than " + link_name(best) + ", which does " +
                 link_text(best.max_rate, best.max_width) +
                 " for an equal card: the slowest link sets the pace of a ring",
             "move the card to a slot as good as the others', or look whether the firmware limits this one",
             std::move(mended));
  }
  rule.close("link", "the card's model, or what both ends of its link can do, is not known",
             "`lspci -vvv` (LnkCap of both ends), `nvidia-smi -L`", "equal cards have equal links");
}

void examine_slots(const Evidence& evidence, std::vector<Finding>& findings) {
  RuleFindings rule("LC-SLOT-01", findings);
  for (const int index : evidence.used_links()) {
    const Link& link = evidence.link(index);
    const auto knows = [&](const char* key) { return evidence.knows("links", link.name, key); };
    const bool known = link.device_max_rate && link.device_max_width && knows("device_max_rate") &&
                       knows("device_max_width") && knows("max_rate") && knows("max_width");
    if (!known) {
      rule.unknown(link.name);
      continue;
    }
    if (*link.device_max_rate <= link.max_rate && *link.device_max_width <= link.max_width) continue;
    Machine mended = evidence.machine;
    set_capability(mended.links[at_index(index)], std::max(link.max_rate, *link.device_max_rate),
                   std::max(link.max_width, *link.device_max_width));
    rule.add(FindingStatus::warn, link_name(link),
             "the device below can do " + link_text(*link.device_max_rate, *link.device_max_width) +
                 ", its slot or port only " + link_text(link.max_rate, link.max_width) + place_of(link),
             "move it to a wider or faster slot; where the board has none, this is its limit",
             std::move(mended));
  }
  rule.close("link", "what the device below could do in a better slot is not known",
             "`lspci -vvv` (LnkCap of the card) or `nvidia-smi -q` (Device Max)",
             "no slot is narrower or slower than its card");
}

}  // namespace

void examine_links(const Evidence& evidence, std::vector<Finding>& findings) {
  examine_degraded(evidence, findings);
  examine_sleeping(evidence, findings);
  examine_unequal(evidence, findings);
  examine_slots(evidence, findings);
}

}  // namespace lanecast
