#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "configs/dumps/facts.hpp"

namespace lanecast {

/// "0000:4b:00.0" from NCCL's number of a PCI function, 0x4b000: domain, 8 bits of bus, 8 of device, 4 of
/// function. Nothing for numbers that are none. Source: NVIDIA/nccl src/misc/utils.cc (`busIdToInt64`).
std::optional<std::string> address_of_nccl_id(std::uint64_t id);

/// What NCCL prints of a machine with NCCL_DEBUG_SUBSYS=GRAPH: the tree that it built,
///
///     CPU/0 (1/2/-1)
///     + PCI[24.0] - PCI/1000 (1000c0101000ffff)
///                   + PCI[24.0] - GPU/7000 (0)
///                                 + NVL[240.0] - NVS/0
///
/// and the path from each GPU to all others, "GPU/7000 :GPU/7000 (0/5000.0/LOC) GPU/8000 (2/24.0/PIX) ...".
/// Source: NVIDIA/nccl src/graph/topo.cc (`ncclTopoPrintRec`), paths.cc (`printNodePaths`).
class NcclSystemLines {
 public:
  explicit NcclSystemLines(std::string file) : file_(std::move(file)) {}

  /// One message, blanks in front kept. @param thread  who prints it: the lines of several mix
  void take(std::string_view thread, std::string_view message, int line);

  /// Adds everything to the facts, with one matrix of the distances. @return  how many devices and paths
  int add_to(MachineFacts& facts) const;

 private:
  struct Device {
    std::optional<int> numa;
    std::string ancestor;
    std::uint64_t ids = 0;  // vendor, device, and those of the subsystem, 16 bits each
    bool bridge = false;
    bool gpu = false;
    std::optional<int> net;  // number of the network behind an adapter
    double net_GBps = 0;
    int line = 0;
  };
  struct Above {
    std::size_t column = 0;
    std::string address;  // "" for a CPU
    std::optional<int> numa;
    bool bridge = false;
  };
  struct Path {
    std::string type;
    double GBps = 0;
    int line = 0;
  };
  struct NvLink {
    double GBps = 0;
    bool xgmi = false;
    int line = 0;
  };
  using Ends = std::pair<std::string, std::string>;

  void take_tree_line(std::string_view thread, std::string_view message, int line);
  void take_root(std::vector<Above>& above, std::string_view node, int line);
  void take_node(std::vector<Above>& above, std::size_t column, std::string_view node, int line);
  void take_end(const Above& above, std::string_view link, double GBps, std::string_view node, int line);
  void keep_gpu(const std::string& address);
  void take_paths(std::string_view message, int line);
  void take_path(const std::string& gpu, std::string_view entry, int line);
  void take_adapters(std::string_view message);
  std::string place(int line, const std::string& what) const;
  void add_devices(MachineFacts& facts) const;
  void add_matrix(MachineFacts& facts) const;
  void add_nvlinks(MachineFacts& facts) const;
  std::optional<Distance> distance_of(const Ends& ends, const Path& path) const;
  bool share_a_switch(const std::string& a, const std::string& b) const;

  std::string file_;
  std::map<std::string, std::vector<Above>, std::less<>> trees_;  // by thread: the way down to its last line
  std::map<std::string, Device> devices_;
  std::map<int, std::pair<int, int>> cpus_;  // NUMA node -> vendor, line
  std::map<int, int> cpu_classes_;           // NUMA node -> NCCL's class of Intel's CPUs
  std::vector<std::string> gpus_;            // those that paths lead to, in NCCL's order
  std::map<Ends, Path> paths_;               // GPU to GPU, and to "NIC0"
  std::map<Ends, NvLink> nvlinks_;           // to: address, or "" for an NVSwitch
  std::map<int, std::string> adapters_;      // number of a network -> "mlx5_0"
};

}  // namespace lanecast
