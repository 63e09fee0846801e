#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/topology/machine.hpp"

namespace lanecast {

/// A value and the place that states it, "box.txt:41 (LnkSta)".
template <class T>
struct Statement {
  T value{};
  std::string from;
};

/// All that the dumps say about one value, in the order of reading. Equal values are kept once, with the
/// place of the first.
template <class T>
class Statements {
 public:
  void add(T value, std::string from) {
    for (const Statement<T>& each : all_) {
      if (each.value == value) return;
    }
    all_.push_back({std::move(value), std::move(from)});
  }
  bool empty() const { return all_.empty(); }
  const std::vector<Statement<T>>& all() const { return all_; }

 private:
  std::vector<Statement<T>> all_;
};

/// Role of a PCI function, as its PCI Express capability says.
enum class PciePort { root_port, upstream_port, downstream_port, endpoint, integrated_endpoint, other };

/// What dumps say about one PCI function. Absent: no dump says so.
struct PciFacts {
  // Where it sits
  Statements<std::string> parent;    // address of the bridge right above; "" on a root bus
  Statements<std::string> ancestor;  // address of some bridge above, where a dump skips bridges (NCCL's XML)
  Statements<std::string> root_bus;  // "0000:20"
  Statements<PciePort> port;
  Statements<int> secondary_bus;  // of bridges: the first bus below, and the last
  Statements<int> subordinate_bus;
  Statements<int> numa;  // NUMA node; a dump's -1 is no statement
  Statements<std::string> slot;

  // What it is
  Statements<std::uint32_t> class_code;  // 24 bits, 0x030200
  Statements<std::uint32_t> vendor;      // 0x10de
  Statements<std::uint32_t> device;
  Statements<std::string> name;  // as `lspci` prints it, without the class
  Statements<bool> present;      // false: a dump shows that it is gone (`rev ff`, "lost")

  // Its link, seen from this end
  Statements<PcieRate> max_rate;
  Statements<int> max_width;
  Statements<PcieRate> host_max_rate;  // of the port above, where its address is unknown (nvidia-smi)
  Statements<PcieRate> link_max_rate;  // what both ends can do together, where a dump does not part them
  Statements<int> link_max_width;
  Statements<PcieRate> rate;
  Statements<int> width;
  Statements<Bytes> max_payload_capability;
  Statements<Bytes> max_payload;
  Statements<Bytes> max_read_request;
  Statements<Aspm> aspm;          // in force (LnkCtl)
  Statements<Seconds> l1_exit;    // LnkCap
  Statements<bool> acs_redirect;  // ReqRedir or CmpltRedir is on
  Statements<std::uint64_t> corrected_errors;
  Statements<std::uint64_t> uncorrected_errors;
  Statements<std::uint64_t> replays;

  // As a GPU
  Statements<int> gpu_index;  // as nvidia-smi numbers it; NCCL's `dev`
  Statements<std::string> gpu_model;
  Statements<int> sm;
  Statements<Bytes> memory;
  Statements<Bytes> bar1;
  Statements<Bytes> l2;     // last-level cache
  Statements<bool> p2p;     // can take part in PCIe peer access
  Statements<bool> asleep;  // its performance state or power state says that it idles

  // As a network adapter
  Statements<std::string> nic_name;  // "mlx5_0", "eth0"
  Statements<BytesPerSecond> nic_rate;
};

/// NVLinks (or AMD's xGMI) of one GPU towards another device.
struct NvlinkFacts {
  std::string from;                    // address of the GPU
  std::string to;                      // address of the other GPU; "" for an NVSwitch, whichever
  int count = 1;                       // bonded links
  std::optional<BytesPerSecond> rate;  // of one of them, per direction
  std::string place;
};

/// One cell of `nvidia-smi topo -m`. NVLink hides the distance.
struct TopoCell {
  std::optional<Distance> distance;  // nothing: not readable, or outside of the excerpt
  int nvlinks = 0;                   // the N of `NVN`
};

/// A matrix of `nvidia-smi topo -m`, or a part of one.
struct TopoMatrix {
  std::vector<std::string> names;               // "GPU0", ..., "NIC0"
  std::vector<std::string> addresses;           // PCI address, one a name ("" unknown); empty: none is known
  std::vector<std::vector<TopoCell>> cells;     // names x names; the diagonal is `loc`
  std::vector<std::string> cores;               // CPU affinity, one a name; may be empty
  std::vector<std::optional<int>> numa;         // NUMA affinity, one a name; of several the first
  std::map<std::string, std::string> adapters;  // "NIC0" -> "mlx5_0", from the legend
  std::string from;                             // "box.txt:3 (nvidia-smi topo -m)"
};

/// One NUMA node.
struct CpuFacts {
  Statements<std::string> vendor;  // "intel", "amd", "arm", "zhaoxin", "ibm"
  Statements<std::string> model;
  Statements<std::string> cores;  // "0-63,128-191"
  Statements<int> socket;
};

/// What NCCL decided on the machine: from its logs and graph files. No part of a machine; shown with it.
struct NcclFacts {
  Statements<std::string> version;    // "2.28.9"
  Statements<std::vector<int>> ring;  // GPU indices, channel 0
  Statements<int> channels;           // of collectives
  Statements<int> search_channels;    // that its search for rings found, before it doubles them
  Statements<bool> all_peers;         // every pair of GPUs may use peer access, by NCCL's own rules
  Statements<std::string> transport;  // "p2p", "shm", "net": of all pairs alike, else "mixed"
  std::map<std::string, Statement<std::string>> environment;  // NCCL_* that were set
};

/// Everything that the dumps of one machine say. Readers add to it, `machine_from_facts` judges.
struct MachineFacts {
  std::map<std::string, PciFacts> devices;  // by address, 0000:3b:00.0
  std::map<int, CpuFacts> cpus;             // by NUMA node
  std::vector<NvlinkFacts> nvlinks;
  std::vector<TopoMatrix> matrices;
  /// GPUs that a dump numbers without an address (nvidia-smi topo -m has `matrices` for that): index ->
  /// model.
  std::map<int, Statements<std::string>> numbered_gpus;
  Statements<bool> iommu_translation;  // true: translated; false: off or passed through
  Statements<bool> virtualized;
  Statements<std::string> host;
  Statements<std::string> taken;   // 2026-11-30T06:25:03Z
  Statements<std::string> driver;  // "580.159.04"
  /// Peer access of two GPUs as the driver reports it, by address: `nvidia-smi topo -p2p`, CUDA.
  std::map<std::pair<std::string, std::string>, Statement<bool>> peer_access;
  /// The same by GPU index, where the dump has no addresses: the first GPU accesses the second one's memory.
  std::map<std::pair<int, int>, Statement<bool>> numbered_peer_access;
  NcclFacts nccl;
  std::vector<std::string> notes;  // what a reader could not take, with its place, and how to mend it
};

/// "0000:3b:00.0" from any of "3b:00.0", "0000:3b:00.0", "00000000:3B:00.0"; nothing for other texts. Domains
/// beyond four digits (virtual machines, Intel VMD: "10000:01:00.0") are kept as they are.
std::optional<std::string> pci_address(const std::string& text);

/// The bus part: "0000:3b" of "0000:3b:00.0".
std::string bus_of(const std::string& address);

}  // namespace lanecast
