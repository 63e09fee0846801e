#pragma once
#include <functional>
#include <vector>

#include "model/implementation/nccl/path_type.hpp"
#include "model/implementation/nccl/version_rules.hpp"
#include "model/topology/machine.hpp"

namespace lanecast {

/// What a release of NCCL assumes of links.
struct LinkAssumptions {
  bool current_gpu_links = false;  // a GPU's own link as it runs; else, and for all others, as it could run
  bool route_through_gpus = true;  // NVLink through another GPU (NCCL_NVB_DISABLE unset)
  std::function<double(int sm)> nvlink_GBps;             // of one link between GPUs of this capability
  std::function<double(const Cpu& from)> cpu_link_GBps;  // between two NUMA nodes
};

/// What a release assumes (`NcclRules`).
/// @param rules  must outlive the result
LinkAssumptions link_assumptions(const NcclRules& rules);

/// Directed link of NCCL's graph, with a rate in thousandths of a GB/s: NCCL rounds to these.
struct NcclLink {
  int to = 0;  // node
  bool pcie = false;
  bool nvlink = false;
  long milli_GBps = 0;
  int machine_link = -1;  // index into Machine::links; -1: a link that NCCL makes up (between NUMA nodes)
};

/// Way from a GPU to another.
struct NcclPath {
  std::vector<int> links;  // indices into NcclSystem::links
  PathType type = PathType::dis;
  long milli_GBps = 0;         // of the slowest link
  bool through_intel = false;  // passes the host bridge of an Intel CPU
  bool peer = true;            // false: peer access is refused; the path is the one through host memory
};

/// A machine as NCCL sees it: GPUs in the order in which it finds them, switches, NUMA nodes (all root
/// complexes of one are one node), one node for all NVSwitches, and the path between each two GPUs.
/// Source: facts.md A7, A8, A10.
class NcclSystem {
 public:
  /// Whether NCCL may use peer access between two GPUs (indices of the machine).
  using PeerRule = std::function<bool(int from_gpu, int to_gpu)>;

  /// @param gpus  those that take part, in rank order
  NcclSystem(const Machine& machine, const std::vector<int>& gpus, const LinkAssumptions& assumptions,
             const PeerRule& peer_rule);

  /// GPUs of the machine, in NCCL's order: NUMA node by NUMA node, then along the PCIe tree.
  const std::vector<int>& gpus() const { return gpus_; }
  const std::vector<NcclLink>& links() const { return links_; }

  /// From the a-th to the b-th of `gpus()`.
  const NcclPath& path(std::size_t a, std::size_t b) const { return paths_[a][b]; }

  /// Rate of the fastest path between two GPUs, and most that one GPU's links carry: thousandths of GB/s.
  long fastest_path() const { return fastest_path_; }
  long widest_gpu() const { return widest_gpu_; }

  /// Lowest compute capability x 10 of the GPUs, and the highest.
  int min_sm() const { return min_sm_; }
  int max_sm() const { return max_sm_; }

  /// NVLink of the narrowest GPU to the switches, thousandths of GB/s; 0 where one has none.
  long nvswitch_milli_GBps() const { return nvswitch_; }

 private:
  enum class Kind { gpu, pcie_switch, cpu, nvswitch };
  struct Node {
    Kind kind;
    int index;  // in its vector of the machine; NVSwitch: 0
    std::vector<int> links;
  };
  /// What a search from one GPU has found at a node: the way back to that GPU.
  struct Found {
    std::vector<int> links;
    PathType type = PathType::dis;
    long milli_GBps = 0;
  };

  void add_nodes(const Machine& machine, const std::vector<int>& gpus);
  void add_nvlinks(const Machine& machine, const LinkAssumptions& assumptions);
  void connect_cpus(const Machine& machine, const LinkAssumptions& assumptions);
  void connect(int a, int b, NcclLink link);
  int node_of(Kind kind, int index) const;
  std::vector<Found> search_from(int base, bool route_through_gpus) const;
  bool relax(int base, int at, int link, std::vector<Found>& found, bool route_through_gpus) const;
  void set_paths(const Machine& machine, const LinkAssumptions& assumptions, const PeerRule& peer_rule);
  NcclPath finished(const Machine& machine, const std::vector<int>& links, PathType type) const;
  void divert_through_host(const Machine& machine, const std::vector<std::vector<Found>>& to_gpu,
                           bool route_through_gpus);

  std::vector<Node> nodes_;
  std::vector<NcclLink> links_;  // links_[i ^ 1] is the other direction of links_[i]
  std::vector<int> gpus_;
  std::vector<std::vector<NcclPath>> paths_;
  long fastest_path_ = 0;
  long widest_gpu_ = 0;
  long nvswitch_ = 0;
  int min_sm_ = 0;
  int max_sm_ = 0;
};

/// Rate that NCCL counts for a PCIe link: width x class / 80 GB/s, 12 for Gen3 x16 (facts.md A8).
/// @param current  as it runs (status); else as both ends could (capability)
double nccl_pcie_GBps(const Link& link, bool current);

}  // namespace lanecast
