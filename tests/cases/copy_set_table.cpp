#include <utility>

#include "tests/cases/copy_sets.hpp"

namespace lanecast::cases {
namespace {

constexpr int kHost = -1;
constexpr const char* kCollapse = "posted-write collapse (facts.md C6): not modelled";
constexpr const char* kManyDestinations =
    "many destinations a source: what ports and credits lose then is not modelled";
constexpr const char* kFabric =
    "two virtual switches on one chip: their fabric beside the uplinks cannot be described";
constexpr const char* kQuadrant =
    "both uplinks in one quadrant of the IO die: its limit on host traffic is not modelled";
constexpr const char* kHalvesInTurn = "staged by a GeForce card before Ada: as if its halves ran in turn";

using Pairs = std::vector<std::pair<int, int>>;

std::vector<CopyFlow> flows(const Pairs& pairs) {
  std::vector<CopyFlow> made;
  for (const auto& [from, to] : pairs) {
    made.push_back({from == kHost ? std::nullopt : std::optional<int>(from),
                    to == kHost ? std::nullopt : std::optional<int>(to)});
  }
  return made;
}

/// Every ordered pair of the first `gpus` GPUs.
std::vector<CopyFlow> all_to_all(int gpus) {
  std::vector<CopyFlow> made;
  for (int from = 0; from < gpus; ++from) {
    for (int to = 0; to < gpus; ++to) {
      if (from != to) made.push_back({from, to});
    }
  }
  return made;
}

/// Every GPU of 0-3 to every one of 4-7.
std::vector<CopyFlow> first_half_to_second() {
  std::vector<CopyFlow> made;
  for (int from = 0; from < 4; ++from) {
    for (int to = 4; to < 8; ++to) made.push_back({from, to});
  }
  return made;
}

/// GPU i to GPU i + distance, of eight.
std::vector<CopyFlow> staggered(int distance) {
  std::vector<CopyFlow> made;
  for (int from = 0; from < 8; ++from) made.push_back({from, (from + distance) % 8});
  return made;
}

std::vector<CopyFlow> eight_host_copies(bool to_device) {
  std::vector<CopyFlow> made;
  for (int gpu = 0; gpu < 8; ++gpu) {
    made.push_back(to_device ? CopyFlow{std::nullopt, gpu} : CopyFlow{gpu, std::nullopt});
  }
  return made;
}

/// Rows of one case that share a machine.
class Rows {
 public:
  Rows(std::vector<CopySet>& all, std::string case_id, std::string machine)
      : all_(all), case_id_(std::move(case_id)), machine_(std::move(machine)) {}

  CopySet& add(const std::string& label, std::vector<CopyFlow> copies, FigurePlace place) {
    all_.push_back(
        {case_id_, label, machine_, {}, std::move(copies), Total::sum, std::move(place), 1, {}, ""});
    return all_.back();
  }

  /// An entry of `multiflow`.
  CopySet& multiflow(int count, const std::string& config, std::vector<CopyFlow> copies,
                     const std::string& note = "") {
    CopySet& set = add(std::to_string(count) + ": " + config, std::move(copies),
                       {"multiflow", "flows=" + std::to_string(count) + ";config=" + config, "total_GBps"});
    set.note = note;
    return set;
  }

  /// @param note  for the distances that go over more than one link of a switch: 2, 3, 5 and 6
  void staggered_distances(const std::string& note) {
    for (int d = 1; d < 8; ++d) {
      CopySet& set = add("8: GPU i to i+" + std::to_string(d), staggered(d),
                         {"staggered_distance_GBps", "d=" + std::to_string(d), "avg"});
      set.scale = 8;
      if (d != 1 && d != 4 && d != 7) set.note = note;
    }
  }

  void note_last(std::size_t count, const char* note) {
    for (std::size_t i = all_.size() - count; i < all_.size(); ++i) all_[i].note = note;
  }

 private:
  std::vector<CopySet>& all_;
  std::string case_id_;
  std::string machine_;
};

void add_three_switches(std::vector<CopySet>& all) {
  Rows rows(all, "wrx90-3switch-rtxpro6000-p2p", "wrx90-3switch-rtxpro6000-p2p");
  rows.multiflow(1, "PIX same leaf", flows({{0, 1}}));
  rows.multiflow(2, "PIX, different leaves", flows({{0, 1}, {2, 3}}));
  rows.multiflow(4, "NODE 1:1", flows({{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
  rows.multiflow(16, "cross-root", first_half_to_second()).total = Total::equal_bytes;
  rows.multiflow(56, "all-to-all", all_to_all(8), kManyDestinations).total = Total::equal_bytes;
  rows.multiflow(2, "same source GPU0->4 and GPU0->2", flows({{0, 4}, {0, 2}}));
  rows.multiflow(2, "GPU0->4 and GPU1->2", flows({{0, 4}, {1, 2}}), kFabric);
  for (const auto& [text, pairs] :
       {std::pair{"0->4 + 1->6", Pairs{{0, 4}, {1, 6}}}, std::pair{"0->4 + 1->5", Pairs{{0, 4}, {1, 5}}},
        std::pair{"0->4 + 2->6", Pairs{{0, 4}, {2, 6}}}}) {
    rows.add(std::string("2: ") + text, flows(pairs),
             {"write_read", std::string("pattern=") + text, "write_GBps"});
  }
  rows.staggered_distances(kFabric);
}

void add_two_flat_switches(std::vector<CopySet>& all) {
  Rows rows(all, "wrx90-2switch-flat-rtxpro6000-p2p", "rtxpro6000x8-2switch");
  rows.multiflow(1, "PIX", flows({{0, 1}}));
  rows.multiflow(2, "PIX", flows({{0, 1}, {2, 3}}));
  rows.multiflow(1, "NODE", flows({{0, 4}}));
  rows.multiflow(2, "NODE, same source switch", flows({{0, 4}, {1, 5}}));
  rows.multiflow(4, "NODE 1:1", flows({{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
  rows.multiflow(12, "same-switch all-to-all", all_to_all(4), kManyDestinations).total = Total::equal_bytes;
  rows.multiflow(16, "cross-switch", first_half_to_second()).total = Total::equal_bytes;
  rows.multiflow(56, "all-to-all", all_to_all(8)).total = Total::equal_bytes;
  rows.add("2: 0->4 + 1->6", flows({{0, 4}, {1, 6}}), {"write_read", "pattern=0->4 + 1->6", "write_GBps"});
  rows.staggered_distances("");
  CopySet& same = rows.add("1: 0->1, uplink0 at Gen2", flows({{0, 1}}), {});
  same.sets = {"links.uplink0.rate=gen2"};
  same.carried = 54.2;
  CopySet& across = rows.add("1: 0->4, uplink0 at Gen2", flows({{0, 4}}), {});
  across.sets = same.sets;
  across.carried = 7.0;
}

void add_pex890xx(std::vector<CopySet>& all) {
  Rows rows(all, "esc8000a-e13p-pex890xx-rtxpro6000-p2p", "esc8000a-e13p-pex890xx-rtxpro6000-p2p");
  const Pairs one_to_one{{0, 4}, {1, 5}, {2, 6}, {3, 7}};
  const Pairs both{{0, 4}, {1, 5}, {2, 6}, {3, 7}, {4, 0}, {5, 1}, {6, 2}, {7, 3}};
  constexpr const char* socket = "the socket link carries several copies at more than one copy's rate";
  rows.multiflow(1, "0->1", flows({{0, 1}}));
  rows.multiflow(2, "0->1 + 2->3", flows({{0, 1}, {2, 3}}));
  rows.multiflow(4, "both pairs bidirectional", flows({{0, 1}, {1, 0}, {2, 3}, {3, 2}}));
  rows.multiflow(12, "4-GPU all-to-all one chip", all_to_all(4), kManyDestinations).total =
      Total::equal_bytes;
  rows.multiflow(1, "0->4", flows({{0, 4}}));
  rows.multiflow(2, "0->4 + 2->6 different uplinks", flows({{0, 4}, {2, 6}}), socket);
  rows.multiflow(2, "0->4 + 1->6 same uplink, two destination roots", flows({{0, 4}, {1, 6}}), kCollapse);
  rows.multiflow(4, "1:1 cross", flows(one_to_one), socket);
  rows.multiflow(8, "cross bidirectional", flows(both));
  rows.multiflow(16, "all A->B", first_half_to_second(), kCollapse).total = Total::equal_bytes;
  rows.multiflow(2, "same source 0->4 + 0->2", flows({{0, 4}, {0, 2}}));
  rows.multiflow(2, "0->4 + 1->2", flows({{0, 4}, {1, 2}}));
  rows.multiflow(2, "0->4 + 1->5 same destination root", flows({{0, 4}, {1, 5}}));
  rows.add("56: all-to-all", all_to_all(8), {"write_read", "pattern=56 all-to-all", "write_GBps"});
  all.back().total = Total::equal_bytes;
  all.back().note = kCollapse;
  CopySet& acs = rows.add("2: 0->1 + 1->0, ACS redirect on", flows({{0, 1}, {1, 0}}), {});
  acs.sets = {"switches.chip0.acs=on"};
  acs.carried = 50.0;
}

void add_virtual_switches(std::vector<CopySet>& all) {
  // SW1 to SW4 hold GPUs 0-1, 2-3, 4-5, 6-7; "SWa->SWb+SWc": the first GPU of a to b, the second to c.
  const auto two = [](int a, int b, int c) {
    return flows({{2 * (a - 1), 2 * (b - 1)}, {2 * (a - 1) + 1, 2 * (c - 1)}});
  };
  for (const auto& [column, machine] :
       {std::pair{"V1", "wrx90-2vs-per-chip-v1"}, std::pair{"V2", "wrx90-2vs-per-chip-v1"},
        std::pair{"V3", "wrx90-2vs-per-chip-v3"}}) {
    Rows rows(all, "wrx90-2vs-per-chip-rtxpro6000-multiflow", machine);
    const std::string wiring = std::string(", ") + column;
    const auto row = [&](const std::string& test, std::vector<CopyFlow> copies) -> CopySet& {
      return rows.add(test + wiring, std::move(copies), {"", "test=" + test, column});
    };
    row("single pair", flows({{0, 1}}));
    row("bidirectional intra-VS", flows({{0, 1}, {1, 0}}));
    CopySet& all_pairs = row("all-to-all 56 pairs", all_to_all(8));
    all_pairs.total = Total::equal_bytes;
    all_pairs.note = kFabric;
    for (int a = 1; a <= 4; ++a) {
      for (int b = 1; b <= 4; ++b) {
        for (int c = b + 1; c <= 4; ++c) {
          if (a == b || a == c) continue;
          const std::string test =
              "SW" + std::to_string(a) + "->SW" + std::to_string(b) + "+SW" + std::to_string(c);
          row(test, two(a, b, c));
        }
      }
    }
  }
}

void add_root_groups(std::vector<CopySet>& all) {
  const Pairs two_pairs{{0, 4}, {1, 5}};
  const Pairs four_pairs{{0, 4}, {1, 5}, {2, 6}, {3, 7}};
  for (const auto& [group, machine] :
       {std::pair{"A", "rtxpro6000x8-2switch"}, std::pair{"B", "wrx90-2switch-root-group-b"}}) {
    Rows rows(all, "wrx90-2switch-root-groups-p2p-and-host", machine);
    const std::string name = group;
    const std::string one = "gpus=1;group=" + name + (name == "A" ? " (GPU0)" : " (GPU8)");
    rows.add("host to GPU, group " + name, flows({{kHost, 0}}), {"host_dma_1gib", one, "h2d_GBps"});
    rows.add("GPU to host, group " + name, flows({{0, kHost}}), {"host_dma_1gib", one, "d2h_GBps"});
    const std::string eight = "gpus=8;group=" + name;
    rows.add("host to 8 GPUs, group " + name, eight_host_copies(true),
             {"host_dma_1gib", eight, "h2d_aggregate_GBps"});
    rows.add("8 GPUs to host, group " + name, eight_host_copies(false),
             {"host_dma_1gib", eight, "d2h_aggregate_GBps"});
    if (name == "B") rows.note_last(2, kQuadrant);
    const auto peer = [&](const std::string& test, std::vector<CopyFlow> copies) {
      rows.add(test + ", group " + name, std::move(copies), {"p2p", "test=" + test, name});
    };
    peer("single pair, any", flows({{0, 1}}));
    peer("2 pairs SWa->SWb", flows(two_pairs));
    peer("4 pairs SWa->SWb", flows(four_pairs));
    peer("bidirectional cross-switch", flows({{0, 4}, {4, 0}}));
    peer("56-pair all-to-all", all_to_all(8));
    all.back().total = Total::equal_bytes;
  }
}

void add_host_copies(std::vector<CopySet>& all) {
  for (const char* id : {"wrx90-2x-rtx6000ada-p2p", "autodl-2x2080ti-pix-p2p"}) {
    Rows rows(all, id, id);
    rows.add("host to GPU, 32 MB pinned", flows({{kHost, 0}}), {"bandwidthTest_32MB_pinned", "", "h2d"});
    rows.add("GPU to host, 32 MB pinned", flows({{0, kHost}}), {"bandwidthTest_32MB_pinned", "", "d2h"});
  }
  Rows ada(all, "esc8000a-e12-4x-rtx6000ada-p2p", "esc8000a-e12-4x-rtx6000ada-p2p");
  ada.add("host to GPU, 32 MB pinned", flows({{kHost, 0}}), {"bandwidthTest_32MB_pinned_per_gpu", "#0", ""});
  ada.add("GPU to host, 32 MB pinned", flows({{0, kHost}}), {"bandwidthTest_32MB_pinned_per_gpu", "#1", ""});
  Rows sweep(all, "a100-sxm-gen4-host-copy-sweep", "a100-sxm-gen4-host-copy-sweep");
  sweep.add("GPU to host, 1 GiB write-combined", flows({{0, kHost}}),
            {"", "host_memory=PCIe Pinned Write Combined;size_label=1.1GB", "MBps"});
  all.back().scale = 1e-3;
  all.back().note = "the host is not stated";
}

void add_single_pairs(std::vector<CopySet>& all) {
  Rows tinybox(all, "tinybox-6x4090-p2p", "tinybox-6x4090-p2p");
  tinybox.add("1: 0->1 (simpleP2P)", flows({{0, 1}}), {"simpleP2P_uni", "", "GBps"});
  Rows chipset(all, "3x3090-chipset-slot-p2p", "3x3090-chipset-slot-p2p");
  chipset.add("1: 1->2", flows({{1, 2}}), {"", "pair=GPU1-GPU2 (CPU lanes)", "GBps"});
  chipset.add("1: 0->1", flows({{0, 1}}), {"", "pair=GPU0-GPU1/2 (chipset)", "GBps"});
  CopySet& off = chipset.add("1: 1->2, P2P off", flows({{1, 2}}), {"", "pair=GPU1-GPU2, P2P off", "GBps"});
  off.sets = {"p2p.enabled=false"};
  off.note = kHalvesInTurn;
  Rows dies(all, "x399-2x3070ti-uma-vs-numa-p2p", "x399-2x3070ti-uma-vs-numa-p2p");
  dies.add("1: 0->1", flows({{0, 1}}), {"", "mode=NUMA", "uni"});
  dies.add("2: 0->1 + 1->0", flows({{0, 1}, {1, 0}}), {"", "mode=NUMA", "bidir"});
  dies.note_last(2, kHalvesInTurn);
  Rows nvlink(all, "a6000-nvlink-pair-duplex-copy", "a6000-nvlink-pair-duplex-copy");
  CopySet& duplex =
      nvlink.add("2: 0->1 + 1->0 (NVLink)", flows({{0, 1}, {1, 0}}), {"", "size_label=1.1GB", "time_us"});
  duplex.carried = 2 * 1073741824e-9 / 21044e-6;
  duplex.note = "1 GiB each way in 21044 us";
}

}  // namespace

const std::vector<CopySet>& copy_sets() {
  static const std::vector<CopySet> table = [] {
    std::vector<CopySet> all;
    add_three_switches(all);
    add_two_flat_switches(all);
    add_pex890xx(all);
    add_virtual_switches(all);
    add_root_groups(all);
    add_host_copies(all);
    add_single_pairs(all);
    return all;
  }();
  return table;
}

const std::vector<LatencyPair>& latency_pairs() {
  static const char* id = "wrx90-2switch-root-groups-p2p-and-host";
  static const std::vector<LatencyPair> table{
      {id, "0-1 same switch", "rtxpro6000x8-2switch", 0, 1},
      {id, "4-5 same switch", "rtxpro6000x8-2switch", 4, 5},
      {id, "0-4 separate roots", "rtxpro6000x8-2switch", 0, 4},
      {id, "8-9 same switch", "wrx90-2switch-root-group-b", 0, 1},
      {id, "8-12 shared root", "wrx90-2switch-root-group-b", 0, 4},
  };
  return table;
}

}  // namespace lanecast::cases
