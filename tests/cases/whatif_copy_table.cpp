#include <utility>

#include "tests/cases/whatif_table.hpp"

namespace lanecast::cases {
namespace {

constexpr const char* kTwoChips = "wrx90-2vs-per-chip-rtxpro6000-multiflow";
constexpr const char* kRootGroups = "wrx90-2switch-root-groups-p2p-and-host";
constexpr const char* kThreeSwitches = "wrx90-3switch-rtxpro6000-p2p";
constexpr const char* kFlatSwitches = "wrx90-2switch-flat-rtxpro6000-p2p";
constexpr const char* kBroadcom = "esc8000a-e13p-pex890xx-rtxpro6000-p2p";
constexpr const char* kRounded = "rounded by the source";
constexpr const char* kDrawnAsFound =
    "the file draws a chip's two virtual switches as one, as this very source found";
constexpr const char* kOneUplinkAChip =
    "the file draws a chip's two virtual switches as one with one uplink: all its pairs are redirected";

using Pairs = std::vector<std::pair<int, int>>;
using Sets = std::vector<std::string>;

/// Copies whose figure is given here: the case, or facts.md, has it inside a sentence.
CopySet carried(const std::string& source, const std::string& machine, Sets sets, const Pairs& pairs,
                double total_gbps) {
  CopySet set;
  set.case_id = source;
  set.machine = machine;
  set.sets = std::move(sets);
  for (const auto& [from, to] : pairs) set.flows.push_back({from, to});
  set.carried = total_gbps;
  return set;
}

/// The same copies in the machine as its file is, and with `sets`.
CopyWhatIf changed(ChangeKind kind, const std::string& source, const std::string& machine, const Sets& sets,
                   const Pairs& pairs, double before, double after) {
  CopyWhatIf pair;
  pair.kind = kind;
  pair.source = source;
  pair.before = carried(source, machine, {}, pairs, before);
  pair.after = carried(source, machine, sets, pairs, after);
  return pair;
}

/// Two copy sets of one case.
CopyWhatIf listed(ChangeKind kind, const std::string& case_id, const std::string& before,
                  const std::string& after) {
  CopyWhatIf pair;
  pair.kind = kind;
  pair.source = case_id;
  pair.before = copy_set(case_id, before);
  pair.after = copy_set(case_id, after);
  pair.note = pair.after.note;
  return pair;
}

void add_uplinks(std::vector<CopyWhatIf>& all) {
  const Sets gen2{"links.uplink0.rate=gen2"};
  const auto add = [&](const char* source, const char* machine, const Pairs& pairs, double before,
                       double after) -> CopyWhatIf& {
    return all.emplace_back(changed(ChangeKind::uplink, source, machine, gen2, pairs, before, after));
  };
  add(kFlatSwitches, "rtxpro6000x8-2switch", {{0, 1}}, 53.9, 54.2);
  add(kFlatSwitches, "rtxpro6000x8-2switch", {{0, 4}}, 53.4, 7.0);
  const char* drawn = "no effect by the file's drawing, which follows this very measurement";
  add(kThreeSwitches, kThreeSwitches, {{0, 1}}, 54.4, 54.2).note = drawn;
  add(kThreeSwitches, kThreeSwitches, {{0, 2}}, 54.2, 54.1).note = drawn;
  add(kThreeSwitches, kThreeSwitches, {{0, 4}}, 54.5, 54.7).note = drawn;
  all.push_back(listed(ChangeKind::uplink, "3x3090-chipset-slot-p2p", "1: 1->2", "1: 0->1"));
  all.back().note = "another card, behind the chipset's x4 uplink; the file takes that width from the source";
}

void add_acs(std::vector<CopyWhatIf>& all) {
  const auto add = [&](const char* machine, const Sets& sets, const Pairs& pairs, double before, double after,
                       const char* note) {
    all.push_back(changed(ChangeKind::acs, kBroadcom, machine, sets, pairs, before, after));
    all.back().note = note;
  };
  const Pairs same_switch{{0, 1}, {1, 0}};
  const Pairs same_chip{{0, 2}, {2, 0}};
  add(kBroadcom, {"switches.chip0.acs=on"}, same_switch, 103, 50, kRounded);
  add(kBroadcom, {"switches.chip0.acs=on"}, same_chip, 103, 103, kOneUplinkAChip);
  add(kBroadcom, {"switches.chip0.acs=on", "switches.chip1.acs=on"}, {{0, 4}, {4, 0}}, 95, 95, kRounded);
  const char* drawn_apart = "the same figures beside a file that draws the virtual switches apart";
  add("esc8000a-e13p-2vs-rtxpro6000", {"switches.vs0.acs=on", "switches.vs1.acs=on"}, same_switch, 103, 50,
      drawn_apart);
  add("esc8000a-e13p-2vs-rtxpro6000", {"switches.vs0.acs=on", "switches.vs1.acs=on"}, same_chip, 103, 103,
      drawn_apart);
}

void add_sharing(std::vector<CopyWhatIf>& all) {
  const auto add = [&](const char* case_id, const char* before, const char* after) -> CopyWhatIf& {
    return all.emplace_back(listed(ChangeKind::sharing, case_id, before, after));
  };
  add(kFlatSwitches, "2: PIX", "2: NODE, same source switch");
  add(kFlatSwitches, "1: NODE", "4: NODE 1:1");
  add(kRootGroups, "single pair, any, group A", "4 pairs SWa->SWb, group A");
  add(kThreeSwitches, "2: 0->4 + 2->6", "2: 0->4 + 1->5");
  add(kBroadcom, "2: 0->4 + 2->6 different uplinks", "2: 0->4 + 1->5 same destination root").note =
      "the socket link carries several copies at more than one copy's rate";
  add(kBroadcom, "2: 0->4 + 2->6 different uplinks", "2: 0->4 + 1->6 same uplink, two destination roots");
  CopyWhatIf staged =
      changed(ChangeKind::sharing, "8x2080ti-nop2p-pairs", "8x2080ti-nop2p-pairs", {}, {{0, 1}}, 8.18, 5.88);
  staged.before.flows = {{0, 2}};
  staged.note = "staged by a GeForce card before Ada: as if its halves ran in turn; the layout is inferred";
  all.push_back(staged);
}

/// Copies of the wiring V1 beside the same of V3: SW1 and SW2 become one chip, SW3 and SW4 the other.
void add_two_chips(std::vector<CopyWhatIf>& all) {
  const std::string first = ", V1";
  for (const CopySet& set : copy_sets()) {
    const std::size_t at = set.label.rfind(first);
    if (set.case_id != kTwoChips || at == std::string::npos) continue;
    CopyWhatIf pair = listed(ChangeKind::wiring, kTwoChips, set.label, set.label.substr(0, at) + ", V3");
    pair.after.machine = pair.before.machine;
    pair.after.sets = {"links.gpu2.from=chip0", "links.gpu3.from=chip0", "links.gpu4.from=chip1",
                       "links.gpu5.from=chip1"};
    if (pair.note.empty()) pair.note = kDrawnAsFound;
    all.push_back(pair);
  }
}

void add_wiring(std::vector<CopyWhatIf>& all) {
  for (const char* copies : {"host to 8 GPUs", "8 GPUs to host", "single pair, any", "4 pairs SWa->SWb",
                             "bidirectional cross-switch", "56-pair all-to-all"}) {
    CopyWhatIf pair = listed(ChangeKind::wiring, kRootGroups, std::string(copies) + ", group A",
                             std::string(copies) + ", group B");
    pair.after.machine = pair.before.machine;
    pair.after.sets = {"links.uplink1.from=root0"};
    all.push_back(pair);
  }
  add_two_chips(all);
}

}  // namespace

const std::vector<CopyWhatIf>& copy_what_ifs() {
  static const std::vector<CopyWhatIf> table = [] {
    std::vector<CopyWhatIf> all;
    all.push_back(listed(ChangeKind::peer_access, "3x3090-chipset-slot-p2p", "1: 1->2, P2P off", "1: 1->2"));
    all.back().note = all.back().before.note;
    add_uplinks(all);
    add_acs(all);
    add_sharing(all);
    add_wiring(all);
    return all;
  }();
  return table;
}

const std::vector<CopyWhatIf>& cited_what_ifs() {
  static const std::vector<CopyWhatIf> table = [] {
    const std::string broadcom = "rtx6kpro asus-esc8000a-e13p-broadcom-switches.md (facts.md C10)";
    const std::string microchip = "rtx6kpro wrx90-cpayne pages (facts.md C10)";
    const Sets gen2{"links.uplink0.rate=gen2"};
    std::vector<CopyWhatIf> all{
        changed(ChangeKind::uplink, broadcom, kBroadcom, gen2, {{0, 1}, {1, 0}}, 103, 103),
        changed(ChangeKind::uplink, broadcom, kBroadcom, gen2, {{0, 4}, {4, 0}}, 95, 14),
        changed(ChangeKind::uplink, microchip, "rtxpro6000x8-2switch", gen2, {{0, 1}}, 53, 53),
        changed(ChangeKind::uplink, microchip, "rtxpro6000x8-2switch", gen2, {{0, 4}}, 52, 7)};
    CopyWhatIf shared = changed(ChangeKind::sharing, "rtx6kpro wrx90 pages (facts.md C6)",
                                "rtxpro6000x8-2switch", {}, {{0, 4}, {1, 5}}, 112, 56.4);
    shared.before.flows = {{0, 1}, {2, 3}};
    all.push_back(shared);
    const auto add_peer = [&](const char* source, const char* machine, const Pairs& pairs, double off,
                              double on, const char* note) {
      all.push_back(changed(ChangeKind::peer_access, source, machine, {}, pairs, off, on));
      all.back().before.sets = peer_access_off();
      all.back().note = note;
    };
    const char* a40 = "NVIDIA/nccl-tests issue 74 (facts.md C4)";
    add_peer(a40, "epycx8-direct", {{0, 2}, {2, 0}}, 20, 50, "the file is a typical layout of such a host");
    add_peer(a40, "epycx8-direct", {{0, 4}, {4, 0}}, 20, 40, "the file's socket rate follows this figure");
    add_peer("NVIDIA/nccl issue 814 (facts.md C4)", "tinybox-6x4090-p2p", {{0, 1}}, 22, 10.5,
             "10 to 11 GB/s by SM stores, another host of six RTX 4090 on EPYC; nothing stated says why");
    all.back().after_engine = Engine::sm;
    return all;
  }();
  return table;
}

}  // namespace lanecast::cases
