#include <algorithm>
#include <map>
#include <utility>

#include "model/advice/doctor_rules.hpp"

namespace lanecast {
namespace {

constexpr const char* kCommand = "`nvidia-smi topo -m` and `nvidia-smi nvlink --status`";

std::size_t at_index(int index) { return static_cast<std::size_t>(index); }

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

/// Whether cards of this model sit on a board that joins them by NVLink. Bridges of PCIe cards are an option.
/// Source: NVIDIA's names of its boards, as nvidia-smi prints them (recalled).
bool has_nvlink_on_board(const std::string& model) {
  if (contains(model, "SXM")) return true;
  if (contains(model, "PCI") || contains(model, "NVL") || contains(model, "GH200")) return false;
  for (const char* board : {"H100 80GB HBM3", "H200", "H800", "H20", "B200", "B300"}) {
    if (contains(model, board)) return true;
  }
  return false;
}

std::vector<int> nvlinks_by_gpu(const Machine& machine) {
  std::vector<int> links(machine.gpus.size(), 0);
  for (const Link& link : machine.links) {
    if (link.kind != LinkKind::nvlink) continue;
    for (const NodeId end : {link.from, link.to}) {
      if (end.kind == NodeKind::gpu) links[at_index(end.index)] += link.count;
    }
  }
  return links;
}

/// Cards that have fewer links than they should: card -> how many are missing.
using Missing = std::map<int, int>;

int missing_at(const Missing& missing, NodeId end) {
  const auto found = end.kind == NodeKind::gpu ? missing.find(end.index) : missing.end();
  return found == missing.end() ? 0 : found->second;
}

/// The machine with these links back, where it is clear between which ends they were: links that are there
/// get wider, and two cards without a link between them get one. Else nothing.
std::optional<Machine> with_nvlinks_back(const Machine& machine, Missing missing) {
  Machine mended = machine;
  std::optional<BytesPerSecond> rate;
  for (Link& link : mended.links) {
    if (link.kind != LinkKind::nvlink) continue;
    rate = link.lane_rate;
    const bool direct = link.from.kind == NodeKind::gpu && link.to.kind == NodeKind::gpu;
    const int a = missing_at(missing, link.from), b = missing_at(missing, link.to);
    const int more = direct ? std::min(a, b) : std::max(a, b);
    link.count += more;
    for (const NodeId end : {link.from, link.to}) {
      if (more > 0 && end.kind == NodeKind::gpu) missing[end.index] -= more;
    }
  }
  std::vector<int> left;
  for (const auto& [gpu, count] : missing) {
    if (count > 0) left.push_back(gpu);
  }
  if (left.empty()) return mended;
  if (left.size() != 2 || missing[left[0]] != missing[left[1]]) return std::nullopt;
  Link link;
  link.name = "nvlink-" + machine.gpus[at_index(left[0])].name + "-" + machine.gpus[at_index(left[1])].name;
  link.kind = LinkKind::nvlink;
  link.from = {NodeKind::gpu, left[0]};
  link.to = {NodeKind::gpu, left[1]};
  link.count = missing[left[0]];
  link.lane_rate = rate;
  mended.links.push_back(std::move(link));
  return check_machine(mended).empty() ? std::optional<Machine>(mended) : std::nullopt;
}

const char* const link_mend =
    "look what `nvidia-smi nvlink --status` and `dmesg` (Xid 74) say, power the box off and on, reseat the "
    "bridge; on "
    "boards with NVSwitches, look after nvidia-fabricmanager";

/// Present cards of one model.
std::map<std::string, std::vector<int>> cards_by_model(const Evidence& evidence) {
  std::map<std::string, std::vector<int>> cards;
  for (const int gpu : evidence.gpus) cards[evidence.model_of(gpu)].push_back(gpu);
  return cards;
}

void add_fewer(const Evidence& evidence, const std::vector<int>& links, const Missing& missing,
               FindingStatus status, const std::string& than, RuleFindings& rule) {
  std::vector<std::string> names;
  for (const auto& [gpu, count] : missing) {
    const int now = links[at_index(gpu)];
    names.push_back(evidence.gpu(gpu).name + " (" + std::to_string(now) + " of " +
                    std::to_string(now + count) + ")");
  }
  rule.add(status, named("gpu", names), "fewer NVLinks are up than " + than, link_mend,
           with_nvlinks_back(evidence.machine, missing));
}

/// Cards without any NVLink, of which equal cards have `most`.
/// @return  whether they were found to lack that many
bool add_none(const Evidence& evidence, const std::string& model, const Missing& none, int most,
              RuleFindings& rule) {
  std::vector<std::string> names;
  for (const auto& [gpu, count] : none) names.push_back(evidence.gpu(gpu).name);
  const bool on_board = has_nvlink_on_board(model);
  if (model.empty()) {
    for (const std::string& name : names) rule.unknown(name);
    return false;
  }
  if (most == 0) {
    if (!on_board) return false;
    rule.add(
        FindingStatus::warn, named("gpu", names),
        "cards of this model (" + model + ") are joined by NVLink on their board; the machine shows none",
        std::string("where no dump that shows NVLink was given, read ") + kCommand + "; else " + link_mend);
    return false;
  }
  if (!on_board && none.size() == 1) return false;  // a bridge joins two
  rule.add(
      on_board ? FindingStatus::fail : FindingStatus::warn, named("gpu", names),
      "has no NVLink, while equal cards have " + std::to_string(most),
      on_board ? link_mend : "put a bridge on, or look whether one sits loose: `nvidia-smi nvlink --status`",
      with_nvlinks_back(evidence.machine, none));
  return true;
}

void examine_equals(const Evidence& evidence, const std::string& model, const std::vector<int>& gpus,
                    const std::vector<int>& links, Missing& found, RuleFindings& rule) {
  int most = 0;
  for (const int gpu : gpus) most = std::max(most, links[at_index(gpu)]);
  Missing fewer, none;
  for (const int gpu : gpus) {
    const int here = links[at_index(gpu)];
    if (here < most && here > 0) fewer[gpu] = most - here;
    if (here == 0) none[gpu] = most;
  }
  if (!fewer.empty()) {
    add_fewer(evidence, links, fewer, model.empty() ? FindingStatus::warn : FindingStatus::fail,
              model.empty() ? "others have, whose model is not known either" : "equal cards have", rule);
  }
  found.insert(fewer.begin(), fewer.end());
  if (!none.empty() && add_none(evidence, model, none, most, rule)) found.insert(none.begin(), none.end());
}

/// What the earlier dump had more of. Neighbours of a card that is gone have lost its links with it.
void examine_earlier(const Evidence& evidence, const std::vector<int>& links, const Missing& found,
                     RuleFindings& rule) {
  if (!evidence.since->gpus.gone.empty()) return;
  const std::vector<int> before = nvlinks_by_gpu(*evidence.earlier);
  Missing missing;
  for (const int gpu : evidence.gpus) {
    const auto old = evidence.earlier_part({NodeKind::gpu, gpu});
    if (!old || found.count(gpu) != 0) continue;
    const int lost = before[at_index(*old)] - links[at_index(gpu)];
    if (lost > 0) missing[gpu] = lost;
  }
  if (!missing.empty())
    add_fewer(evidence, links, missing, FindingStatus::fail, "the earlier dump shows", rule);
}

}  // namespace

void examine_nvlinks(const Evidence& evidence, std::vector<Finding>& findings) {
  RuleFindings rule("LC-NVLINK-01", findings);
  const std::vector<int> links = nvlinks_by_gpu(evidence.machine);
  const bool some = std::any_of(links.begin(), links.end(), [](int count) { return count > 0; });
  Missing found;
  for (const auto& [model, gpus] : cards_by_model(evidence)) {
    if (model.empty() && !some) {
      for (const int gpu : gpus) rule.unknown(evidence.gpu(gpu).name);
    } else {
      examine_equals(evidence, model, gpus, links, found, rule);
    }
  }
  if (evidence.earlier != nullptr) examine_earlier(evidence, links, found, rule);
  rule.close("gpu", "no NVLink of the card is known, and neither is its model", kCommand,
             some ? "equal cards have equally many NVLinks" : "cards of these models need no NVLink");
}

}  // namespace lanecast
