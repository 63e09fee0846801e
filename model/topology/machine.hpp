#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/link/pcie_rate.hpp"
#include "model/units.hpp"

namespace lanecast {

/// Kinds of node a link can end at. A name is unique within its kind.
enum class NodeKind { gpu, pcie_switch, root, cpu, nvswitch, nic };

/// Position of a node in its kind's vector of `Machine`.
struct NodeId {
  NodeKind kind = NodeKind::gpu;
  int index = 0;
  auto operator<=>(const NodeId&) const = default;
};

/// One NUMA node of the host: a CPU socket, or a part of one (NPS4, sub-NUMA clustering), with its memory.
struct Cpu {
  std::string name;
  std::string vendor;  // "intel", "amd", "arm", "zhaoxin", "ibm", "unknown"
  std::string model;
  int socket = 0;
  BytesPerSecond memory_rate{140e9};  // both directions together, as devices see it
  std::string source;
  std::optional<int> numa = std::nullopt;  // the operating system's number of this NUMA node
  std::string cores = {};                  // as the system lists them: "0-63,128-191"

  bool operator==(const Cpu&) const = default;
};

/// A root complex (host bridge). Its root ports are the upper ends of the links that leave it.
struct RootComplex {
  std::string name;
  int cpu = 0;                                  // index into Machine::cpus
  std::optional<BytesPerSecond> p2p_rate;       // limit for all peer traffic through this root together
  std::optional<BytesPerSecond> p2p_port_rate;  // the same for one root port, per direction
  std::optional<Seconds> latency;               // traversal; the profile's prior where absent
  std::string source;
  std::string bus = {};  // its root bus, "0000:20"; may be empty

  bool operator==(const RootComplex&) const = default;
};

struct PcieSwitch {
  std::string name;
  std::string model;
  bool acs = false;  // request redirect on its downstream ports: peer traffic goes up to the root and back
  std::optional<Seconds> latency;  // cut-through, per traversal; the profile's prior where absent
  std::string source;
  std::string bdf = {};  // of its upstream port, 0000:01:00.0; may be empty

  bool operator==(const PcieSwitch&) const = default;
};

/// An accelerator of any vendor. What it can do per second is the profile's, chosen by `model` and `arch`.
struct Gpu {
  std::string name;
  std::string model;    // as the vendor prints it: "Tesla V100-PCIE-16GB"
  int sm = 0;           // compute capability x 10 (70, 80, 86, 89, 90, 120); 0 is unknown or another vendor
  bool present = true;  // false: the card is gone; rings close over the rest
  std::optional<bool> p2p;  // can take and make peer accesses; where absent, known from `model`
  std::optional<Bytes> l2;  // last-level cache
  std::string bdf;          // 0000:3b:00.0, may be empty
  std::string source;
  std::optional<Bytes> memory = std::nullopt;  // its own
  std::optional<Bytes> bar1 = std::nullopt;    // window through which others reach that memory

  bool operator==(const Gpu&) const = default;
};

struct NvSwitch {
  std::string name;
  std::string source;

  bool operator==(const NvSwitch&) const = default;
};

struct Nic {
  std::string name;
  BytesPerSecond rate{0};  // of the network port, per direction
  std::string source;
  std::string model = {};  // as `lspci` prints it
  std::string bdf = {};    // may be empty

  bool operator==(const Nic&) const = default;
};

enum class LinkKind { pcie, nvlink, socket };

/// Power state that a PCIe link may enter when idle.
enum class Aspm { off, l0s, l1 };

/// A link between two nodes. PCIe: `from` is the upstream end (root or switch), `to` the downstream end.
struct Link {
  std::string name;
  LinkKind kind = LinkKind::pcie;
  NodeId from;
  NodeId to;

  // PCIe: capability (what both ends could do) and status (what the link does)
  PcieRate max_rate = PcieRate::gen3;
  int max_width = 16;
  PcieRate rate = PcieRate::gen3;
  int width = 16;
  Bytes mps{256};          // Maximum Payload Size set at this link
  Bytes mrrs{512};         // Maximum Read Request Size of the device below
  double replay_rate = 0;  // share of packets that are replayed, 0 to 0.5
  Aspm aspm = Aspm::off;
  std::optional<Seconds> latency;  // extra one-way latency of this link (cable, retimer); socket: crossing

  // NVLink and socket links
  int count = 1;                            // NVLink: how many bonded links
  std::optional<BytesPerSecond> lane_rate;  // NVLink: of one link; socket: of the whole, per direction

  std::string source;

  // PCIe, as dumps show it; nothing where unknown. No prediction rests on these: `doctor` does.
  std::optional<PcieRate> device_max_rate = std::nullopt;  // what the device below can do in a better slot
  std::optional<int> device_max_width = std::nullopt;
  std::optional<Bytes> max_mps = std::nullopt;  // payload that both ends could take (DevCap)
  bool idle = false;      // the card slept when its link was read: `rate` is what it should do awake
  std::string port = {};  // PCI address of the port above
  std::string slot = {};  // physical slot of the device below, as the firmware numbers it
  std::optional<std::uint64_t> corrected_errors = std::nullopt;    // AER, both ends together
  std::optional<std::uint64_t> uncorrected_errors = std::nullopt;  // the same
  std::optional<std::uint64_t> replays = std::nullopt;             // packets sent again since reset

  bool operator==(const Link&) const = default;
};

/// Distance classes in `nvidia-smi topo -m`'s meaning, nearest first.
///
/// loc the same GPU; nvl NVLink; pix at most one PCIe bridge; pxb several bridges, no host bridge;
/// phb one host bridge; node several host bridges of one NUMA node; sys across NUMA nodes.
/// (NCCL's names overlap but differ: convert in NCCL importers and exporters only.)
enum class Distance { loc, nvl, pix, pxb, phb, node, sys };

/// Machine-wide settings that decide who may access whom.
struct PeerAccess {
  bool enabled = true;  // false: no peer access at all (driver, NCCL_P2P_DISABLE=1)
  std::optional<Distance>
      level;  // farthest distance that may use peer access (NCCL_P2P_LEVEL); absent: implementation's
  bool iommu = false;  // translation on (not pass-through): peer traffic goes through the root

  bool operator==(const PeerAccess&) const = default;
};

/// A whole machine: nodes and links. Built by `configs`, or by tests; checked by `check_machine`.
struct Machine {
  std::string name;
  std::string description;
  std::string source;
  std::string profile;  // name of the profile to use, empty: chosen by rule
  std::vector<Cpu> cpus;
  std::vector<RootComplex> roots;
  std::vector<PcieSwitch> switches;
  std::vector<Gpu> gpus;
  std::vector<NvSwitch> nvswitches;
  std::vector<Nic> nics;
  std::vector<Link> links;
  PeerAccess p2p;
  std::vector<std::string> assumptions;  // what the file says it could not know
  std::vector<std::string> assumed;      // paths of values that no dump stated: "links.gpu0.mps"
  std::string host;                      // name of the computer that it was read from; may be empty
  std::string taken;                     // when, 2026-11-30T06:25:03Z; may be empty
  std::string driver;                    // of the GPUs, "580.159.04"; may be empty
  std::optional<bool> virtualized;       // a virtual machine, which may hide bridges and link states

  bool operator==(const Machine&) const = default;
};

/// Whether a value was assumed by rule, since no dump stated it. @param path  "links.gpu0.mps"
bool is_assumed(const Machine& machine, const std::string& path);

/// One thing wrong with a machine. `path` addresses it as in the file: `links[2].width`.
struct MachineProblem {
  std::string path;
  std::string text;
  std::string mend;
};

/// Everything that is wrong: dangling ends, two parents, cycles, unconnected GPUs, impossible widths and
/// payload sizes, duplicate names, status above capability. Empty means that all other functions accept the
/// machine.
std::vector<MachineProblem> check_machine(const Machine& machine);

/// `gpu`'s name, root's name ... of a node.
const std::string& node_name(const Machine& machine, NodeId id);

const char* to_string(NodeKind kind);   // "gpu", "switch", "root", "cpu", "nvswitch", "nic"
const char* to_string(LinkKind kind);   // "pcie", "nvlink", "socket"
const char* to_string(Distance value);  // "LOC", "NVL", "PIX", "PXB", "PHB", "NODE", "SYS"
const char* to_string(Aspm value);      // "off", "L0s", "L1"
std::optional<Distance> distance_from_string(const std::string& text);

}  // namespace lanecast
