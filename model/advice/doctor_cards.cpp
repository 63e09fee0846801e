#include <algorithm>
#include <map>
#include <utility>

#include "model/advice/doctor_rules.hpp"
#include "model/topology/routes.hpp"

namespace lanecast {
namespace {

constexpr const char* kNotComparable =
    "; the cost compares with a ring of one rank more, which may take longer for a call";

std::size_t at_index(int index) { return static_cast<std::size_t>(index); }

std::string ring_text(const Evidence& evidence) {
  return "; rings close over the other " + std::to_string(evidence.gpus.size());
}

const char* const card_mend =
    "look into `dmesg` for `fallen off the bus` and Xid 79, power the box off and on, reseat the card, check "
    "its power "
    "cables";

bool can_be_called(const Machine& machine, int gpu) {
  if (root_of(machine, {NodeKind::gpu, gpu})) return true;
  return std::any_of(machine.links.begin(), machine.links.end(), [&](const Link& link) {
    const NodeId node{NodeKind::gpu, gpu};
    return link.kind == LinkKind::nvlink && (link.from == node || link.to == node);
  });
}

void examine_absent(const Evidence& evidence, RuleFindings& rule) {
  for (std::size_t i = 0; i < evidence.machine.gpus.size(); ++i) {
    const Gpu& gpu = evidence.machine.gpus[i];
    if (gpu.present) continue;
    std::optional<Machine> mended;
    if (can_be_called(evidence.machine, static_cast<int>(i))) {
      mended = evidence.machine;
      mended->gpus[i].present = true;
    }
    rule.add(FindingStatus::fail, "gpu " + gpu.name,
             "the card is gone" + (gpu.bdf.empty() ? "" : " (it was at " + gpu.bdf + ")") +
                 ring_text(evidence) + (mended ? kNotComparable : ""),
             card_mend, std::move(mended));
  }
}

/// A name that no other item has.
template <class Item>
std::string free_name(const std::vector<Item>& items, const std::string& wanted) {
  std::string name = wanted;
  const auto taken = [&] {
    return std::any_of(items.begin(), items.end(), [&](const Item& item) { return item.name == name; });
  };
  while (taken()) name += "-back";
  return name;
}

/// Adds a card below a node, with a link like this one.
int add_card(Machine& machine, Gpu gpu, Link link, NodeId above) {
  gpu.name = free_name(machine.gpus, gpu.name);
  gpu.present = true;
  machine.gpus.push_back(std::move(gpu));
  const int index = static_cast<int>(machine.gpus.size()) - 1;
  link.name = free_name(machine.links, link.name);
  link.from = above;
  link.to = {NodeKind::gpu, index};
  machine.links.push_back(std::move(link));
  return index;
}

/// The machine with a card of an earlier dump back in its place; nothing where the place is not the same any
/// more, or where it had NVLinks, whose other ends may have changed.
std::optional<Machine> with_card_back(const Evidence& evidence, int old) {
  const Machine& earlier = *evidence.earlier;
  const auto own = link_above(earlier, {NodeKind::gpu, old});
  const bool bonded = std::any_of(earlier.links.begin(), earlier.links.end(), [&](const Link& link) {
    const NodeId node{NodeKind::gpu, old};
    return link.kind == LinkKind::nvlink && (link.from == node || link.to == node);
  });
  if (!own || bonded) return std::nullopt;
  const Link& link = earlier.links[at_index(*own)];
  const int above = evidence.since->of(link.from.kind).after_of(link.from.index);
  if (above < 0) return std::nullopt;
  Machine mended = evidence.machine;
  add_card(mended, earlier.gpus[at_index(old)], link, {link.from.kind, above});
  return check_machine(mended).empty() ? std::optional<Machine>(mended) : std::nullopt;
}

/// Whether the machine itself lists the card as gone.
bool listed_as_gone(const Machine& machine, const Gpu& card) {
  return std::any_of(machine.gpus.begin(), machine.gpus.end(), [&](const Gpu& gpu) {
    const bool addressed = !gpu.bdf.empty() && !card.bdf.empty();
    return !gpu.present && (addressed ? gpu.bdf == card.bdf : gpu.name == card.name);
  });
}

void examine_gone(const Evidence& evidence, RuleFindings& rule) {
  for (const int old : evidence.since->gpus.gone) {
    const Gpu& gpu = evidence.earlier->gpus[at_index(old)];
    if (listed_as_gone(evidence.machine, gpu)) continue;
    std::optional<Machine> mended = with_card_back(evidence, old);
    rule.add(FindingStatus::fail, "gpu " + gpu.name,
             "the earlier dump shows this card" + (gpu.bdf.empty() ? "" : " at " + gpu.bdf) +
                 ", now it is gone" + ring_text(evidence) + (mended ? kNotComparable : ""),
             card_mend, std::move(mended));
  }
}

/// Cards that hang directly at each place of one kind, absent ones included: those are found otherwise.
std::map<int, std::vector<int>> cards_by(const Machine& machine, NodeKind kind) {
  std::map<int, std::vector<int>> cards;
  for (std::size_t i = 0; i < machine.gpus.size(); ++i) {
    const NodeId node{NodeKind::gpu, static_cast<int>(i)};
    std::optional<int> place;
    if (kind == NodeKind::cpu) {
      place = cpu_of(machine, node);
    } else if (const auto own = link_above(machine, node)) {
      const NodeId above = machine.links[at_index(*own)].from;
      if (above.kind == kind) place = above.index;
    }
    if (place) cards[*place].push_back(node.index);
  }
  return cards;
}

bool one_model(const Machine& machine) {
  return std::all_of(machine.gpus.begin(), machine.gpus.end(),
                     [&](const Gpu& gpu) { return gpu.model == machine.gpus.front().model; });
}

/// The only place with one card fewer than all others; nothing where the machine is no such. Two places need
/// three cards to look alike: boxes of three are built.
std::optional<int> short_place(const std::map<int, std::vector<int>>& cards) {
  std::size_t most = 0;
  for (const auto& [place, list] : cards) most = std::max(most, list.size());
  if (cards.size() < 2 || most < (cards.size() == 2 ? 3 : 2)) return std::nullopt;
  std::optional<int> found;
  for (const auto& [place, list] : cards) {
    if (list.size() == most) continue;
    if (found || list.size() + 1 != most) return std::nullopt;
    found = place;
  }
  return found;
}

/// The machine with a card more at a place, like the last one there; nothing where NVLinks would be needed.
std::optional<Machine> with_sibling(const Machine& machine, int sibling) {
  const bool nvlinks = std::any_of(machine.links.begin(), machine.links.end(),
                                   [](const Link& link) { return link.kind == LinkKind::nvlink; });
  const auto own = link_above(machine, {NodeKind::gpu, sibling});
  if (nvlinks || !own) return std::nullopt;
  Machine mended = machine;
  const Link link = machine.links[at_index(*own)];
  Gpu card = machine.gpus[at_index(sibling)];
  card.bdf.clear();
  add_card(mended, std::move(card), link, link.from);
  return check_machine(mended).empty() ? std::optional<Machine>(mended) : std::nullopt;
}

/// Whether a rule placed some cards, since no dump shows the tree.
bool places_are_assumed(const Evidence& evidence) {
  return std::any_of(evidence.machine.links.begin(), evidence.machine.links.end(), [&](const Link& link) {
    return link.to.kind == NodeKind::gpu && !evidence.knows("links", link.name, "from");
  });
}

/// A box with the same number of cards everywhere, but for one place.
void examine_symmetry(const Evidence& evidence, RuleFindings& rule) {
  const Machine& machine = evidence.machine;
  if (!one_model(machine) || places_are_assumed(evidence)) return;
  for (const NodeKind kind : {NodeKind::pcie_switch, NodeKind::root, NodeKind::cpu}) {
    const auto cards = cards_by(machine, kind);
    const auto place = short_place(cards);
    if (!place) continue;
    const std::vector<int>& here = cards.at(*place);
    std::optional<Machine> mended = with_sibling(machine, here.back());
    rule.add(FindingStatus::warn, std::string(to_string(kind)) + " " + node_name(machine, {kind, *place}),
             "holds " + counted(here.size(), "card") + ", all others like it " +
                 std::to_string(here.size() + 1) + ": one may be missing" + (mended ? kNotComparable : ""),
             "compare with what the box was bought with and with `lspci | grep -i nvidia`; " +
                 std::string(card_mend),
             std::move(mended));
    return;
  }
}

void examine_missing(const Evidence& evidence, std::vector<Finding>& findings) {
  RuleFindings rule("LC-CARD-01", findings);
  examine_absent(evidence, rule);
  const std::size_t before = findings.size();
  if (evidence.earlier != nullptr) examine_gone(evidence, rule);
  if (findings.size() == before) examine_symmetry(evidence, rule);
  rule.close("gpu", "", "",
             evidence.earlier != nullptr ? "every card of the earlier dump is there"
                                         : "all " + counted(evidence.gpus.size(), "card") + " are there");
}

void examine_mixture(const Evidence& evidence, std::vector<Finding>& findings) {
  RuleFindings rule("LC-GPU-01", findings);
  std::map<std::string, std::size_t> models;
  for (const int index : evidence.gpus) {
    if (evidence.model_of(index).empty()) {
      rule.unknown(evidence.gpu(index).name);
    } else {
      ++models[evidence.model_of(index)];
    }
  }
  if (models.size() > 1) {
    std::string text;
    for (const auto& [model, count] : models)
      text += (text.empty() ? "" : ", ") + std::to_string(count) + " x " + model;
    rule.add(FindingStatus::warn, "gpus",
             "the cards differ (" + text +
                 "): the slowest sets the pace of every ring, and NCCL takes LL128 only "
                 "among equal compute capabilities (or all from 9.0 on); the cost is not modelled",
             "run jobs on cards of one model (`--ranks` of `lanecast predict` predicts that)");
  }
  rule.close("gpu", "the model of the card is not known", "`nvidia-smi -L`", "all cards are of one model");
}

}  // namespace

void examine_cards(const Evidence& evidence, std::vector<Finding>& findings) {
  examine_missing(evidence, findings);
  examine_mixture(evidence, findings);
}

}  // namespace lanecast
