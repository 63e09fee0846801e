#include "model/implementation/nccl/version_rules.hpp"

#include <algorithm>
#include <cctype>

namespace lanecast {
namespace {

constexpr int kOldest = 18;
constexpr int kNewest = 30;

// LL, LL128, Simple; in the order of NcclAlgorithm. Figures: facts.md A6 and the sources in docs/nccl.md.
constexpr ByProtocol kNone{0, 0, 0};

NcclCostRules cost_of_2_18() {
  NcclCostRules cost;
  cost.base_us = {
      {{6.8, 14.0, 0}, {6.6, 14.0, 8.4}, {6.8, 14.0, 0}, {6.8, 14.0, 0}, {0, 0, 23}, {0, 0, 23}, kNone}};
  cost.hop_us[0] = {{{0.6, 1.25, 4.0}, {0.6, 1.9, 3.4}, {0, 0, 8.0}, {0, 0, 4.75}, kNone, kNone, kNone}};
  cost.hop_us[1] = {{{1.0, 1.9, 6.0}, {1.0, 2.5, 5.7}, {0, 0, 8.0}, {0, 0, 8.0}, kNone, kNone, kNone}};
  cost.hop_us[2] = {
      {{5.0, 8.5, 14}, {2.7, 4.0, 14}, {0, 0, 10.7}, {0, 0, 14}, {0, 0, 18}, {0, 0, 19}, kNone}};
  cost.ll_GBps = {{{39.0, 39.0, 20.4}, {87.7, 22.5, 19.0}, {87.7, 22.5, 19.0}, {87.7, 22.5, 19.0}}};
  cost.ring_ll128_GBps = {{{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 36.7}, {36.7, 36.7, 36.7}}};
  cost.tree_ll128_GBps = {{{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 29.0}, {36.7, 36.7, 29.0}}};
  cost.tree_GBps = {{{26.5, 18.5, 10.0}, {24.0, 23.6, 17.8}, {38.7, 41.4, 36.0}, {38.7, 41.4, 36.0}}};
  cost.ring_ll_reducing = 1.0 / 4;
  cost.ring_ll_moving = 1.0 / 3;
  cost.ll128_thin_nodes = true;
  cost.late_net_steps = true;
  cost.tree.factors = {
      {{1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1},
       {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1},
       {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9}}};
  cost.ll128_on = {70, 80, 90};
  return cost;
}

NcclRules rules_of_2_18() {
  NcclRules rules;
  rules.ignores_foreign_lists = true;
  rules.nothing_allowed = NothingAllowed::ring_unless_all_reduce;
  rules.speeds = {40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3};
  rules.hopper_speeds = {60, 40, 30, 24, 20, 15, 12, 6, 3};
  rules.blackwell_speeds = rules.hopper_speeds;
  rules.cost = cost_of_2_18();
  return rules;
}

ByProtocol& row(LatencyTable& table, NcclAlgorithm algorithm) {
  return table[static_cast<std::size_t>(algorithm)];
}

void since_2_20(NcclRules& rules) {
  NcclCostRules& cost = rules.cost;
  for (const auto other : {NcclAlgorithm::collnet_direct, NcclAlgorithm::collnet_chain, NcclAlgorithm::nvls,
                           NcclAlgorithm::nvls_tree}) {
    row(cost.base_us, other) = kNone;
  }
  for (LatencyTable& table : cost.hop_us) row(table, NcclAlgorithm::tree).simple = 28;
  for (const std::size_t medium : {0u, 1u}) {
    row(cost.hop_us[medium], NcclAlgorithm::collnet_direct).simple = 3.7;
    row(cost.hop_us[medium], NcclAlgorithm::collnet_chain).simple = 2.8;
  }
  row(cost.hop_us[2], NcclAlgorithm::collnet_direct).simple = 31;
  row(cost.hop_us[2], NcclAlgorithm::collnet_chain).simple = 30;
  row(cost.hop_us[0], NcclAlgorithm::nvls).simple = 23;
  row(cost.hop_us[0], NcclAlgorithm::nvls_tree).simple = 23;
  row(cost.hop_us[2], NcclAlgorithm::nvls_tree).simple = 14;
  cost.nvls = NvlsRule::five_sixths_gathers;
  rules.nothing_allowed = NothingAllowed::ring_any_protocol;
  rules.hopper_speeds = {60, 50, 40, 30, 24, 20, 15, 12, 6, 3};
  rules.blackwell_speeds = rules.hopper_speeds;
  rules.ring_second_pass = true;
}

void since_2_21(NcclRules& rules) {
  NcclCostRules& cost = rules.cost;
  cost.ll_GBps[2] = cost.ll_GBps[3] = {141, 45, 35};
  cost.ring_ll_reducing = cost.ring_ll_moving = 0.5;
  row(cost.hop_us[0], NcclAlgorithm::nvls).simple = 25;
  row(cost.hop_us[0], NcclAlgorithm::nvls_tree).simple = 25;
  rules.hopper_speeds = {60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3};
  rules.blackwell_speeds = rules.hopper_speeds;
}

void since_2_23(NcclRules& rules) {
  NcclCostRules& cost = rules.cost;
  row(cost.base_us, NcclAlgorithm::tree).simple = 8.4;
  row(cost.hop_us[0], NcclAlgorithm::tree).simple = 4;
  row(cost.hop_us[1], NcclAlgorithm::tree).simple = 4;
  row(cost.hop_us[2], NcclAlgorithm::tree).simple = 14;
  row(cost.base_us, NcclAlgorithm::pat) = {8, 8, 8};
  row(cost.hop_us[0], NcclAlgorithm::pat).simple = 4;
  row(cost.hop_us[1], NcclAlgorithm::pat).simple = 4;
  row(cost.hop_us[2], NcclAlgorithm::pat).simple = 14;
  cost.ll128_thin_nodes = false;
  cost.late_net_steps = false;
  cost.nvls = NvlsRule::whole_for_gathers;
  cost.pat = true;
  rules.registers_in_graphs = true;
  rules.peers = PeerRule::same_switches;
}

void since_2_25(NcclRules& rules) {  // the first with rows for Blackwell
  NcclCostRules& cost = rules.cost;
  cost.ll_GBps[3] = {282, 90, 70};
  cost.ring_ll128_GBps[3] = {73.4, 73.4, 73.4};
  cost.tree_ll128_GBps[3] = {73.4, 73.4, 58.0};
  cost.tree_GBps[3] = {77.4, 82.8, 72.0};
  cost.ll128_on = {70, 80, 90, 100, 120};
  rules.blackwell_nvlink_GBps = 40.0;
  rules.blackwell_speeds = {90, 80, 70, 60, 50, 40, 30, 24, 20, 19};
  rules.most_channels = 64;
}

void since_2_27(NcclRules& rules) {
  rules.cost.ll128_on.clear();
  rules.cost.nvls = NvlsRule::less_own_for_gathers;
  rules.blackwell_nvlink_GBps = 40.1;
  rules.blackwell_speeds = {90, 80, 70, 60, 50, 40, 30, 24, 20, 19, 18};
}

void since_2_28(NcclRules& rules) {
  NcclCostRules& cost = rules.cost;
  cost.tree_ll128_GBps[3] = {55.6, 31.67, 20.0};
  cost.tree_GBps[3] = {70.0, 42.8, 24.0};
  cost.nvls = NvlsRule::efficiency;
  cost.nvls_efficiency = {0, 0, 0.85, 0.74};
}

void since_2_29(NcclRules& rules) {
  rules.min_traffic = Bytes(32u << 10);
  rules.cost.ring_ll128_GBps[3] = {34.5, 34.6, 34.5};
  row(rules.cost.hop_us[2], NcclAlgorithm::nvls_tree).simple = 20.9;
}

void since_2_30(NcclRules& rules) {
  rules.cost.ring_ll128_GBps[3] = {40, 40, 40};
  rules.cost.ll128_mixed_hopper = true;
  rules.blackwell_speeds = {90, 80, 70, 60, 50, 45, 40, 30, 24, 20, 19, 18};
  rules.current_gpu_links = true;
  rules.shm_copy_engine = false;
}

NcclRules nvidia_rules(int minor) {
  NcclRules rules = rules_of_2_18();
  if (minor >= 20) since_2_20(rules);
  if (minor >= 21) since_2_21(rules);
  if (minor >= 22) rules.nothing_allowed = NothingAllowed::ring;
  if (minor >= 23) since_2_23(rules);
  if (minor >= 24) {
    rules.min_traffic = Bytes(16u << 10);
    rules.lists_by_collective = true;
    rules.ignores_foreign_lists = false;
    rules.nothing_allowed = NothingAllowed::fail;
  }
  if (minor >= 25) since_2_25(rules);
  if (minor >= 26) rules.newer_xeons = rules.two_for_split_nvlink = true;
  if (minor >= 27) since_2_27(rules);
  if (minor >= 28) since_2_28(rules);
  if (minor >= 29) since_2_29(rules);
  if (minor >= 30) since_2_30(rules);
  return rules;
}

/// RCCL's tuning model 0, which it takes where no known machine matches, on top of NCCL 2.21.
NcclRules amd_rules() {
  NcclRules rules = nvidia_rules(21);
  rules.most_threads = 256;
  NcclCostRules& cost = rules.cost;
  constexpr ByProtocol base{12, 12, 17};
  cost.base_us = {{base, base, base, base, kNone, kNone, kNone}};
  cost.hop_us[0] = {{{0.8, 1.4, 2.5}, {0.8, 2.2, 3.6}, {0, 0, 0.8}, {0, 0, 1.4}, kNone, kNone, kNone}};
  cost.hop_us[1] = {{{2.2, 2.2, 5.7}, {2.2, 2.2, 5.7}, {0, 0, 5.7}, {0, 0, 5.7}, kNone, kNone, kNone}};
  cost.hop_us[2] = {{{11.8, 18.2, 20.8}, {9.5, 19.8, 15.1}, {0, 0, 11.8}, {0, 0, 18.2}, kNone, kNone, kNone}};
  cost.tree_share = {{{0.04, 0.22, 0.91}, {0.04, 0.22, 0.95}}};
  cost.ring_share = {{{0.04, 0.34, 1.0}, {0.04, 0.34, 1.0}}};
  cost.tree.last_holds = true;
  cost.tree.factors = {{{.1, .2, .1, .1, .9, .3, .4, .1, .2, .4, .2, .1, .3, .3,
                         .2, .2, .2, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1},
                        {.1, .3, 1,  .1, .5, 1,  .9, 1,  1,  1,  .3, .1, .4, .5,
                         .5, .4, .4, .3, .3, .2, .2, .2, .2, .2, .2, .2, .2},
                        {.2, 1, .1, .1, .7, .2, .4, .1, .1, .3, .4, .3, .6, .8,
                         1,  1, 1,  1,  .9, .8, .8, .8, .8, .8, .9, .9, .9}}};
  cost.ring_over_nodes.last_holds = true;
  cost.ring_over_nodes.factors = {
      {{.1, .1, .1, .1, .1, .2, .4, .2, .3, .5, .3, .1, .5, .5,
        .3, .2, .2, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1},
       {.1, .1, .1, .1, .1, .1, .1, .1, .1, .3, 1, 1, 1, 1, 1, 1, .8, .7, .5, .4, .4, .3, .3, .3, .3, .3, .3},
       {1, .8, .2, 1, 1, .3, 1, .1, .1, .2, .2, .1, .5, 1, .8, .8, 1, .9, 1, 1, 1, 1, 1, 1, 1, 1, 1}}};
  cost.ll128_by_default = false;
  return rules;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// Generation of a Xeon by its name: 1 Skylake ... 4 Sapphire Rapids, 5 Emerald Rapids, 6 "Xeon 6"; 0 before
/// Skylake ("E5-2690 v4").
int xeon_generation(const std::string& model) {
  const std::string text = lower(model);
  for (const char* old : {"e5-", "e7-", "v4", "v3"}) {
    if (text.find(old) != std::string::npos) return 0;
  }
  if (text.find("xeon 6") != std::string::npos) return 6;
  for (std::size_t i = 0; i + 4 <= text.size(); ++i) {
    const auto digit = [&](std::size_t at) {
      return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0;
    };
    if ((i > 0 && digit(i - 1)) || !digit(i) || !digit(i + 1) || !digit(i + 2) || !digit(i + 3)) continue;
    const int second = text[i + 1] - '0';
    return second >= 1 && second <= 5 ? second : 1;
  }
  return 1;
}

}  // namespace

const char* to_string(NcclAlgorithm algorithm) {
  constexpr std::array<const char*, kNcclAlgorithms> kNames = {
      "Tree", "Ring", "CollNetDirect", "CollNetChain", "NVLS", "NVLSTree", "PAT"};
  return kNames[static_cast<std::size_t>(algorithm)];
}

std::optional<NcclAlgorithm> nccl_algorithm_from_string(const std::string& text) {
  for (std::size_t i = 0; i < kNcclAlgorithms; ++i) {
    const auto algorithm = static_cast<NcclAlgorithm>(i);
    if (lower(text) == lower(to_string(algorithm))) return algorithm;
  }
  return std::nullopt;
}

std::string NcclVersion::name() const { return rccl ? "RCCL" : "NCCL 2." + std::to_string(minor); }

double ByProtocol::of(Protocol protocol) const {
  return protocol == Protocol::ll ? ll : protocol == Protocol::ll128 ? ll128 : simple;
}

double SizeCorrection::of(Protocol protocol, Bytes size) const {
  const std::vector<double>& row = factors[protocol == Protocol::ll      ? 0
                                           : protocol == Protocol::ll128 ? 1
                                                                         : 2];
  if (row.empty() || size.value() < 64) return 1;
  std::size_t index = 0;
  for (std::uint64_t rest = size.value() / 64; rest > 1; rest /= 2) ++index;
  if (index < row.size()) return row[index];
  return last_holds ? row.back() : 1;
}

const NcclRules& nccl_rules(const NcclVersion& version) {
  static const std::vector<NcclRules> kNvidia = [] {
    std::vector<NcclRules> all;
    for (int minor = kOldest; minor <= kNewest; ++minor) all.push_back(nvidia_rules(minor));
    return all;
  }();
  static const NcclRules kAmd = amd_rules();
  if (version.rccl) return kAmd;
  return kNvidia[static_cast<std::size_t>(std::clamp(version.minor, kOldest, kNewest) - kOldest)];
}

PathType default_p2p_level(const NcclRules& rules, const std::string& cpu_vendor, int gpus) {
  if (rules.peers == PeerRule::same_switches) {
    return cpu_vendor == "amd" && gpus <= 2 ? PathType::sys : PathType::pxb;
  }
  const bool careful = cpu_vendor == "intel" || cpu_vendor == "arm" || cpu_vendor == "zhaoxin";
  return careful ? PathType::pxb : PathType::sys;
}

const std::vector<double>& search_speeds(const NcclRules& rules, int min_sm) {
  if (min_sm >= 100) return rules.blackwell_speeds;
  return min_sm >= 90 ? rules.hopper_speeds : rules.speeds;
}

double nvlink_GBps(const NcclRules& rules, int sm) {
  if (sm >= 100) return rules.blackwell_nvlink_GBps;
  if (sm >= 90) return 20.6;
  if (sm == 86) return 12;
  return sm >= 60 && sm < 70 ? 18 : 20;
}

double cpu_link_GBps(const NcclRules& rules, const Cpu& cpu) {
  if (cpu.vendor == "amd") return 16;
  if (cpu.vendor == "arm") return 6;
  if (cpu.vendor == "ibm") return 32;
  if (cpu.vendor == "zhaoxin") return lower(cpu.model).find("yongfeng") != std::string::npos ? 9 : 6;
  if (cpu.vendor != "intel") return 10;  // ours, for a CPU that we do not know; NCCL would
  const int generation = xeon_generation(cpu.model);
  if (generation == 0) return 6;
  if (!rules.newer_xeons || generation < 4) return 10;
  return generation == 5 ? 40 : 22;
}

}  // namespace lanecast
