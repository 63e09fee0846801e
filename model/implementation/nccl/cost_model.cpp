#include "model/implementation/nccl/cost_model.hpp"

#include <algorithm>
#include <array>

#include "model/error.hpp"

namespace lanecast {
namespace {

constexpr std::array<Protocol, 3> kProtocols = {Protocol::ll, Protocol::ll128, Protocol::simple};

// Shares of the bus bandwidth, the same in all releases (facts.md A6).
constexpr double kRingLl128 = 0.92;
constexpr double kRingLl128ThinNodes = 0.7;
constexpr double kTree = 0.92;
constexpr double kTreeLl = 1 / 3.8;
constexpr double kTreeLl128OneNode = 7.0 / 9;
constexpr double kTreeLl128 = 120.0 / 128;
constexpr double kPlainTree = 0.85;
constexpr double kTreeToAlgbw = 0.5;
constexpr double kOldNvls = 5.0 / 6;
constexpr double kNvlsGatherMost = 0.9;
constexpr std::uint64_t kPlateauBytes = 64;  // for each channel and rank

bool blocks(Collective collective) {
  return collective == Collective::all_gather || collective == Collective::reduce_scatter;
}

template <class T>
bool listed(const std::optional<std::vector<T>>& list, T value) {
  return !list || std::find(list->begin(), list->end(), value) != list->end();
}

const char* nccl_name(Protocol protocol) {
  return protocol == Protocol::ll ? "LL" : protocol == Protocol::ll128 ? "LL128" : "Simple";
}

/// The bill of one call; all figures in us and GB/s, as NCCL counts.
class Bill {
 public:
  explicit Bill(const CostModelInput& input)
      : in_(input), rules_(nccl_rules(input.version)), cost_(rules_.cost), algorithms_(input.algorithms) {
    const bool foreign = algorithms_ && std::none_of(algorithms_->begin(), algorithms_->end(), [&](auto a) {
                           return a == NcclAlgorithm::ring || a == NcclAlgorithm::tree ||
                                  a == (input.nodes == 1 ? NcclAlgorithm::nvls : NcclAlgorithm::nvls_tree);
                         });
    if (foreign && rules_.ignores_foreign_lists) algorithms_ = {NcclAlgorithm::tree, NcclAlgorithm::ring};
  }

  CostEstimate estimate(NcclAlgorithm algorithm, Protocol protocol, Bytes size) const {
    CostEstimate line;
    line.algorithm = algorithm;
    line.protocol = protocol;
    line.reason = impossible(algorithm, protocol);
    if (!line.reason.empty()) return line;
    const double algbw = algbw_GBps(algorithm, protocol) * correction(algorithm, protocol, size);
    const double latency = latency_us(algorithm, protocol) * plateau(algorithm, protocol, size);
    line.latency = Seconds(latency * 1e-6);
    line.algbw = BytesPerSecond(algbw * 1e9);
    line.time = line.latency + size / line.algbw;
    line.reason = not_allowed(algorithm, protocol);
    line.possible = line.reason.empty();
    return line;
  }

  /// Ring with a protocol that may come back when the lists leave nothing.
  bool comes_back(const CostEstimate& line) const {
    if (line.algorithm != NcclAlgorithm::ring) return false;
    if (rules_.nothing_allowed == NothingAllowed::ring_any_protocol) return true;
    return rules_.nothing_allowed == NothingAllowed::ring && protocol_off(line.protocol, in_.ring).empty();
  }

 private:
  const NcclGraph& graph(NcclAlgorithm algorithm) const {
    if (algorithm == NcclAlgorithm::tree) return in_.tree;
    return algorithm == NcclAlgorithm::nvls ? *in_.nvls : in_.ring;
  }
  std::size_t gpu_row() const {
    return in_.min_sm >= 100 ? 3 : in_.min_sm >= 90 ? 2 : in_.min_sm >= 80 ? 1 : 0;
  }
  std::size_t node_column() const { return in_.nodes <= 2 ? static_cast<std::size_t>(in_.nodes - 1) : 2; }
  double limit(const ByGpu& table) const { return table[gpu_row()][node_column()]; }
  double ll_limit() const {
    if (in_.nodes == 1) return limit(cost_.ll_GBps);
    return cost_.ll_GBps[in_.cpu_vendor == "amd" ? 1 : 0][node_column()];
  }
  int steps() const {
    if (in_.collective == Collective::all_reduce) return 2 * (in_.ranks - 1);
    return blocks(in_.collective) ? in_.ranks - 1 : in_.ranks;
  }

  std::string impossible(NcclAlgorithm algorithm, Protocol protocol) const;
  std::string protocol_off(Protocol protocol, const NcclGraph& graph) const;
  std::string not_allowed(NcclAlgorithm algorithm, Protocol protocol) const;
  double algbw_GBps(NcclAlgorithm algorithm, Protocol protocol) const;
  double ring_bus_GBps(Protocol protocol) const;
  double tree_bus_GBps(Protocol protocol) const;
  double nvls_algbw_GBps() const;
  double hop_us(NcclMedium medium, NcclAlgorithm algorithm, Protocol protocol) const;
  double latency_us(NcclAlgorithm algorithm, Protocol protocol) const;
  double ring_latency_us(Protocol protocol, double near, double far) const;
  double correction(NcclAlgorithm algorithm, Protocol protocol, Bytes size) const;
  double plateau(NcclAlgorithm algorithm, Protocol protocol, Bytes size) const;

  const CostModelInput& in_;
  const NcclRules& rules_;
  const NcclCostRules& cost_;
  std::optional<std::vector<NcclAlgorithm>> algorithms_;
};

std::string Bill::impossible(NcclAlgorithm algorithm, Protocol protocol) const {
  const bool reduces_all = in_.collective == Collective::all_reduce;
  switch (algorithm) {
    case NcclAlgorithm::ring:
      return "";
    case NcclAlgorithm::tree:
      if (!reduces_all) return "Tree does all-reduce only";
      return in_.tree.channels > 0 ? "" : "no tree was found";
    case NcclAlgorithm::collnet_direct:
    case NcclAlgorithm::collnet_chain:
      return "CollNet needs a network that reduces";
    case NcclAlgorithm::nvls_tree:
      return in_.nodes == 1 ? "NVLSTree needs several nodes" : "NVLSTree is not reckoned here";
    case NcclAlgorithm::pat:
      if (!cost_.pat) return "PAT came with NCCL 2.23";
      return in_.nodes < in_.ranks ? "PAT takes one GPU a node only" : "PAT is not reckoned here";
    case NcclAlgorithm::nvls:
      break;
  }
  if (in_.nodes > 1) return "NVLS over nodes needs a network that reduces";
  if (!in_.nvls || in_.nvls->channels < 1) return "no NVLink switches that multicast";
  if (protocol != Protocol::simple) return "NVLS has Simple only";
  if (cost_.nvls == NvlsRule::efficiency &&
      (in_.nvls->channels < 2 || cost_.nvls_efficiency[gpu_row()] == 0)) {
    return "NVLS needs sm_90 and two channels";
  }
  const bool gathers = blocks(in_.collective) && cost_.nvls != NvlsRule::five_sixths;
  return reduces_all || gathers ? "" : "NVLS does not do this collective";
}

std::string Bill::protocol_off(Protocol protocol, const NcclGraph& graph) const {
  if (in_.protocols)
    return listed(in_.protocols, protocol) ? std::string() : in_.protocols_from + " leaves it out";
  if (protocol != Protocol::ll128) return "";
  if (!cost_.ll128_by_default) return "LL128 is off by default in this release";
  if (graph.type_intra > cost_.ll128_farthest) {
    return std::string("LL128 is off by default: a path is ") + to_string(graph.type_intra) +
           ", farther than " + to_string(cost_.ll128_farthest);
  }
  if (in_.min_sm != in_.max_sm && !(cost_.ll128_mixed_hopper && in_.min_sm >= 90)) {
    return "LL128 is off by default: compute capabilities differ";
  }
  const std::vector<int>& on = cost_.ll128_on;
  const bool known = on.empty() ? in_.min_sm >= 70 : std::find(on.begin(), on.end(), in_.min_sm) != on.end();
  if (known) return "";
  return "LL128 is off by default for sm_" + std::to_string(in_.min_sm) + " in this release";
}

std::string Bill::not_allowed(NcclAlgorithm algorithm, Protocol protocol) const {
  const bool kept = algorithm == NcclAlgorithm::ring && in_.collective != Collective::all_reduce &&
                    rules_.nothing_allowed == NothingAllowed::ring_unless_all_reduce;
  if (!kept && !listed(algorithms_, algorithm)) return in_.algorithms_from + " leaves it out";
  return protocol_off(protocol, graph(algorithm));
}

double Bill::ring_bus_GBps(Protocol protocol) const {
  const double bus = in_.ring.bus_GBps();
  if (cost_.ring_share) return bus * (*cost_.ring_share)[in_.nodes <= 2 ? 0 : 1].of(protocol);
  if (protocol == Protocol::ll) {
    const bool reducing =
        in_.nodes > 1 || in_.collective == Collective::all_reduce || in_.collective == Collective::reduce;
    return std::min(ll_limit(), bus * (reducing ? cost_.ring_ll_reducing : cost_.ring_ll_moving));
  }
  if (protocol == Protocol::ll128) {
    const bool thin = cost_.ll128_thin_nodes && in_.ranks < 2 * in_.nodes;
    return std::min(bus * (thin ? kRingLl128ThinNodes : kRingLl128),
                    in_.ring.channels * limit(cost_.ring_ll128_GBps));
  }
  return bus;
}

double Bill::tree_bus_GBps(Protocol protocol) const {
  if (cost_.tree_share) return in_.tree.bus_GBps() * (*cost_.tree_share)[in_.nodes <= 2 ? 0 : 1].of(protocol);
  double bus = std::min(in_.tree.bus_GBps() * kTree, in_.tree.channels * limit(cost_.tree_GBps));
  if (protocol == Protocol::ll) bus = std::min(bus * kTreeLl, ll_limit());
  if (protocol == Protocol::ll128) {
    bus = std::min(bus * (in_.nodes == 1 ? kTreeLl128OneNode : kTreeLl128),
                   in_.tree.channels * limit(cost_.tree_ll128_GBps));
  }
  return in_.tree.pattern == GraphPattern::tree ? bus * kPlainTree : bus;
}

double Bill::nvls_algbw_GBps() const {
  const double bus = in_.nvls->bus_GBps();
  const double others = (in_.ranks - 1.0) / in_.ranks;
  const bool reduces_all = in_.collective == Collective::all_reduce;
  if (cost_.nvls == NvlsRule::efficiency) {
    const double best =
        bus * cost_.nvls_efficiency[gpu_row()] * (in_.nvls->channels - 1) / in_.nvls->channels;
    return reduces_all ? 2 * best * in_.ranks / steps() : best * others;
  }
  if (reduces_all || cost_.nvls == NvlsRule::five_sixths_gathers) return bus * kOldNvls;
  return cost_.nvls == NvlsRule::whole_for_gathers ? bus : bus * std::min(others, kNvlsGatherMost);
}

double Bill::algbw_GBps(NcclAlgorithm algorithm, Protocol protocol) const {
  if (algorithm == NcclAlgorithm::tree) return tree_bus_GBps(protocol) * kTreeToAlgbw;
  if (algorithm == NcclAlgorithm::nvls) return nvls_algbw_GBps();
  return ring_bus_GBps(protocol) * in_.ranks / steps();
}

double Bill::hop_us(NcclMedium medium, NcclAlgorithm algorithm, Protocol protocol) const {
  const bool power = in_.cpu_vendor == "ibm" && medium == NcclMedium::pci && protocol == Protocol::simple;
  if (power && algorithm == NcclAlgorithm::tree) algorithm = NcclAlgorithm::ring;
  return cost_.hop_us[static_cast<std::size_t>(medium)][static_cast<std::size_t>(algorithm)].of(protocol);
}

double Bill::ring_latency_us(Protocol protocol, double near, double far) const {
  if (in_.collective == Collective::broadcast || in_.collective == Collective::reduce) {
    const auto medium = in_.nodes > 1                          ? NcclMedium::network
                        : in_.ring.type_intra == PathType::nvl ? NcclMedium::nvlink
                                                               : NcclMedium::pci;
    if (in_.ring.same_channels) return hop_us(medium, NcclAlgorithm::ring, protocol);
    const auto as = protocol == Protocol::simple ? NcclAlgorithm::tree : NcclAlgorithm::ring;
    return steps() * hop_us(medium, as, protocol);
  }
  if (in_.nodes == 1) return steps() * near;
  const double post = (in_.cpu_vendor == "amd" ? 2.0 : 1.0) * (protocol == Protocol::simple ? 3 : 1);
  int net_steps = in_.nodes - 1;
  if (in_.collective == Collective::all_reduce)
    net_steps = 2 * (cost_.late_net_steps ? in_.nodes : net_steps);
  return (steps() - net_steps) * std::max(near, post) + net_steps * far;
}

double Bill::latency_us(NcclAlgorithm algorithm, Protocol protocol) const {
  const bool nvlink = graph(algorithm).type_intra == PathType::nvl || algorithm == NcclAlgorithm::nvls;
  const double near = hop_us(nvlink ? NcclMedium::nvlink : NcclMedium::pci, algorithm, protocol);
  const bool exposed = in_.nodes > 1 && in_.ranks == in_.nodes && !cost_.late_net_steps;
  const double far = hop_us(NcclMedium::network, exposed ? NcclAlgorithm::tree : algorithm, protocol);
  const double base = cost_.base_us[static_cast<std::size_t>(algorithm)].of(protocol);
  if (algorithm == NcclAlgorithm::nvls) return base + near;
  if (algorithm == NcclAlgorithm::ring) return base + ring_latency_us(protocol, near, far);
  int levels = 0;
  for (int n = in_.nodes; n > 1; n /= 2) ++levels;
  const int depth = in_.ranks / in_.nodes - 1;  // whole ranks a node, as NCCL counts
  return base + 2 * (depth * near + levels * far);
}

double Bill::correction(NcclAlgorithm algorithm, Protocol protocol, Bytes size) const {
  if (algorithm == NcclAlgorithm::tree) return cost_.tree.of(protocol, size);
  return algorithm == NcclAlgorithm::ring && in_.nodes > 1 ? cost_.ring_over_nodes.of(protocol, size) : 1;
}

double Bill::plateau(NcclAlgorithm algorithm, Protocol protocol, Bytes size) const {
  if (in_.nodes == 1 || algorithm != NcclAlgorithm::ring || protocol != Protocol::simple) return 1;
  if (in_.collective != Collective::all_reduce || cost_.ring_share) return 1;
  const auto pieces =
      static_cast<std::uint64_t>(2 * in_.ring.channels) * static_cast<std::uint64_t>(in_.ranks);
  if (size.value() / pieces < kPlateauBytes) return 1;
  return in_.min_sm < 80 ? 1.9 : 1.4;
}

const CostEstimate* cheapest(const std::vector<CostEstimate>& lines) {
  const CostEstimate* best = nullptr;
  for (const CostEstimate& line : lines) {
    if (line.possible && (!best || line.time < best->time)) best = &line;
  }
  return best;
}

/// Why the ways that the lists do allow are none: "NVLS/Simple: no NVLink switches that multicast".
std::string reasons_of(const CostModelInput& input, const std::vector<CostEstimate>& lines) {
  std::string reasons;
  for (const CostEstimate& line : lines) {
    const bool allowed = (!input.algorithms || listed(input.algorithms, line.algorithm)) &&
                         (!input.protocols || listed(input.protocols, line.protocol));
    if (!allowed || !(input.algorithms || line.algorithm == NcclAlgorithm::ring)) continue;
    reasons +=
        std::string("; ") + to_string(line.algorithm) + "/" + nccl_name(line.protocol) + ": " + line.reason;
  }
  return reasons;
}

[[noreturn]] void refuse(const CostModelInput& input, const std::vector<CostEstimate>& lines) {
  std::string what = input.version.name() + " has no algorithm left for this call:";
  if (input.algorithms) {
    what += " " + input.algorithms_from + " allows";
    for (const NcclAlgorithm algorithm : *input.algorithms) what += std::string(" ") + to_string(algorithm);
    if (input.algorithms->empty()) what += " none";
  }
  if (input.protocols) {
    what += (input.algorithms ? ", " : " ") + input.protocols_from + " allows";
    for (const Protocol protocol : *input.protocols) what += std::string(" ") + nccl_name(protocol);
    if (input.protocols->empty()) what += " none";
  }
  throw Error(ErrorKind::usage, what + reasons_of(input, lines),
              input.algorithms_from + ", " + input.protocols_from,
              "allow Ring and Simple, which every call can take");
}

}  // namespace

std::vector<CostEstimate> nccl_costs(const CostModelInput& input, Bytes size) {
  const Bill bill(input);
  std::vector<CostEstimate> lines;
  for (std::size_t a = 0; a < kNcclAlgorithms; ++a) {
    for (const Protocol protocol : kProtocols) {
      lines.push_back(bill.estimate(static_cast<NcclAlgorithm>(a), protocol, size));
    }
  }
  return lines;
}

CostEstimate nccl_choice(const CostModelInput& input, Bytes size) {
  std::vector<CostEstimate> lines = nccl_costs(input, size);
  if (const CostEstimate* best = cheapest(lines)) return *best;
  const Bill bill(input);
  for (CostEstimate& line : lines) {
    if (!bill.comes_back(line)) continue;
    line.possible = true;
    line.reason = "the lists leave nothing: Ring comes back";
  }
  if (const CostEstimate* best = cheapest(lines)) return *best;
  refuse(input, lines);
}

}  // namespace lanecast
