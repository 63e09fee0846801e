#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "model/implementation/nccl/path_type.hpp"
#include "model/protocol/protocol.hpp"
#include "model/topology/machine.hpp"
#include "model/units.hpp"

namespace lanecast {

/// NCCL's algorithms, in the order of its tables.
enum class NcclAlgorithm { tree, ring, collnet_direct, collnet_chain, nvls, nvls_tree, pat };
inline constexpr std::size_t kNcclAlgorithms = 7;

const char* to_string(NcclAlgorithm algorithm);  // as NCCL writes it: "Tree", "CollNetDirect", "NVLSTree"
/// NCCL's names, in any case.
std::optional<NcclAlgorithm> nccl_algorithm_from_string(const std::string& text);

/// A release of NCCL (2.18 to 2.30), or of RCCL.
struct NcclVersion {
  bool rccl = false;
  int minor = 30;  // of 2.x; RCCL: of the NCCL that it follows

  std::string name() const;  // "NCCL 2.28", "RCCL"
};

/// One figure for each protocol.
struct ByProtocol {
  double ll = 0;
  double ll128 = 0;
  double simple = 0;

  double of(Protocol protocol) const;
};

/// Columns of NCCL's tables: one node, two, more.
using ByNodes = std::array<double, 3>;

/// Rows of NCCL's tables: Volta and older, Ampere, Hopper, Blackwell (by the lowest capability of all GPUs).
using ByGpu = std::array<ByNodes, 4>;

/// One latency for each algorithm and protocol, us.
using LatencyTable = std::array<ByProtocol, kNcclAlgorithms>;

/// What a hop crosses, as NCCL's cost model tells it apart: `pci` is every path that is not NVL.
enum class NcclMedium { nvlink, pci, network };

/// Factors on the bandwidth by size: entry i for sizes from 64 B x 2^i to below the next.
struct SizeCorrection {
  std::array<std::vector<double>, 3> factors;  // LL, LL128, Simple
  bool last_holds = false;                     // past the table the last entry counts; else 1

  double of(Protocol protocol, Bytes size) const;
};

/// How a release reckons NVLS from its graph's bandwidth.
enum class NvlsRule {
  five_sixths,           // all-reduce only
  five_sixths_gathers,   // all-gather and reduce-scatter too
  whole_for_gathers,     // 5/6 for all-reduce, all of it for the others
  less_own_for_gathers,  // the others less the rank's own share
  efficiency             // by a factor of the GPU's, one channel less
};

/// What a release does when the forced lists leave no algorithm.
enum class NothingAllowed {
  ring_unless_all_reduce,  // Ring is never switched off for other collectives; all-reduce fails
  ring_any_protocol,       // Ring comes back, with protocols that were off too
  ring,                    // Ring comes back
  fail
};

/// Tables of NCCL's cost model. GB/s are 10^9 B/s.
struct NcclCostRules {
  LatencyTable base_us{};
  std::array<LatencyTable, 3> hop_us{};  // [NcclMedium]
  ByGpu ll_GBps{};                       // ceiling of LL; several nodes: row 1 for AMD, else row 0
  ByGpu ring_ll128_GBps{};               // ceilings of one channel
  ByGpu tree_ll128_GBps{};
  ByGpu tree_GBps{};
  double ring_ll_reducing = 0.5;  // LL's share of the ring's bandwidth: all-reduce, reduce, several nodes
  double ring_ll_moving = 0.5;    // the others
  bool ll128_thin_nodes = false;  // LL128 takes 0.7 instead of 0.92 below two ranks a node
  bool late_net_steps = false;    // all-reduce over n nodes waits 2n times for the network, not 2(n-1) times
  SizeCorrection tree;
  NvlsRule nvls = NvlsRule::five_sixths;
  std::array<double, 4> nvls_efficiency{};  // by GPU row
  bool pat = false;

  bool ll128_by_default = true;     // where the conditions below hold
  std::vector<int> ll128_on;        // capabilities that have it by default; empty: all from 7.0
  bool ll128_mixed_hopper = false;  // GPUs may differ if all are 9.0 or newer
  PathType ll128_farthest = PathType::nvb;

  std::optional<std::array<ByProtocol, 2>> tree_share;  // RCCL: shares of the bus, up to two nodes, more;
  std::optional<std::array<ByProtocol, 2>> ring_share;  // they replace ceilings and factors above
  SizeCorrection ring_over_nodes;                       // RCCL
};

/// Who may use peer access by default.
enum class PeerRule {
  all_but_some_cpus,  // everybody; with Intel, Arm and Zhaoxin CPUs through switches only (PXB)
  same_switches       // through switches only (PXB); everybody on AMD with at most two GPUs
};

/// What differs between releases in what they assume and decide; nothing else in the model asks for a
/// version. Which value holds in which release, and how sure that is: docs/nccl.md.
struct NcclRules {
  PeerRule peers = PeerRule::all_but_some_cpus;
  bool current_gpu_links = false;      // reads GPUs' own links as they run, not as they could
  bool registers_in_graphs = false;    // user buffers of captured calls between peers of a node
  bool shm_copy_engine = true;         // NCCL_SHM_USE_CUDA_MEMCPY
  bool lists_by_collective = false;    // NCCL_ALGO and NCCL_PROTO may hold a list for each collective
  bool ignores_foreign_lists = false;  // NCCL_ALGO without Ring, Tree and NVLS: as if it said Ring,Tree
  NothingAllowed nothing_allowed = NothingAllowed::fail;

  double blackwell_nvlink_GBps = 20.6;
  bool newer_xeons = false;  // tells Sapphire and Emerald Rapids from Skylake

  std::vector<double> speeds;            // GB/s that the search tries for one channel, below sm_90
  std::vector<double> hopper_speeds;     // from sm_90
  std::vector<double> blackwell_speeds;  // from sm_100
  int most_channels = 32;
  bool ring_second_pass = false;      // splits channels, then tries more speed for rings; AMD: equal channels
                                      // across sockets
  bool two_for_split_nvlink = false;  // NVLink islands with a slower link between: two channels at least

  int most_threads = 640;  // of a block
  Bytes min_traffic{512};  // least traffic of a channel, by which the work is split (facts.md A5.4)
  NcclCostRules cost;
};

/// Rules of a release; releases outside 2.18 to 2.30 take the nearest one's.
const NcclRules& nccl_rules(const NcclVersion& version);

/// Farthest path for peer access where NCCL_P2P_LEVEL is unset.
/// @param cpu_vendor  as Cpu::vendor
/// @param gpus        that take part, on this node
/// Source: facts.md A7.
PathType default_p2p_level(const NcclRules& rules, const std::string& cpu_vendor, int gpus);

/// Speeds for one channel that the search on one node tries, GB/s, downwards (facts.md A10).
const std::vector<double>& search_speeds(const NcclRules& rules, int min_sm);

/// One NVLink of a GPU of this capability, GB/s per direction (facts.md A8).
double nvlink_GBps(const NcclRules& rules, int sm);

/// From a CPU to another NUMA node, GB/s per direction (facts.md A8).
///
/// NCCL goes by model numbers; here an Intel CPU's name is read: "Xeon Gold 6430" is of the fourth
/// generation. Without a number it counts as Skylake, and so does a CPU of an unknown vendor.
double cpu_link_GBps(const NcclRules& rules, const Cpu& cpu);

}  // namespace lanecast
