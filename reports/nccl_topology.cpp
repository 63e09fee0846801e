#include "reports/nccl_topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <pugixml.hpp>
#include <set>
#include <sstream>
#include <utility>

#include "model/error.hpp"
#include "model/topology/cpu_ids.hpp"
#include "model/topology/gpu_ids.hpp"

namespace lanecast {
namespace {

constexpr int kMostElements = 255;      // xml.cc stops when 256 are in use
constexpr std::size_t kMostText = 251;  // 28 groups of a mask; xml.cc reads 253

using Node = pugi::xml_node;

std::size_t at_index(int index) { return static_cast<std::size_t>(index); }

/// As Linux prints them, and as topo.cc compares them.
const char* link_speed(PcieRate rate) {
  constexpr const char* kSpeeds[] = {"2.5", "5.0", "8.0", "16.0", "32.0", "64.0"};
  return kSpeeds[static_cast<int>(rate) - 1];
}

/// NCCL's parser knows no entities and ends a value at the first quote.
std::string plain(const std::string& text) {
  std::string safe;
  for (const char c : text.substr(0, kMostText)) {
    const bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      std::string_view("_.:+- ,").find(c) != std::string_view::npos;
    safe += kept ? c : '_';
  }
  return safe;
}

/// Whether a text is an address as NCCL compares it: 0000:3b:00.0, lower case.
bool is_address(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos || colon < 4 || colon > 8 || text.size() != colon + 8) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char expected = i == colon || i == colon + 3 ? ':' : i == colon + 6 ? '.' : '0';
    const bool digit = (text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'f');
    if (expected == '0' ? !digit : text[i] != expected) return false;
  }
  return text[colon + 4] <= '1' && text[colon + 7] <= '7';  // 32 devices of 8 functions
}

/// ffff:ff:01.0 and on, as clouds call switches that no one sees: device by device, then function by
/// function.
std::string invented_address(int number) {
  constexpr int kDevices = 31;
  return fmt::format("{:04x}:ff:{:02x}.{:x}", 0xffff - number / (kDevices * 8), 1 + number % kDevices,
                     number / kDevices % 8);
}

/// The cores of "0-3,8": nothing for other texts.
std::optional<std::vector<int>> cores_of(const std::string& list) {
  constexpr int kMost = 1 << 13;
  std::vector<int> cores;
  std::istringstream parts(list);
  for (std::string part; std::getline(parts, part, ',');) {
    int first = 0;
    int last = 0;
    const char* end = part.data() + part.size();
    auto read = std::from_chars(part.data(), end, first);
    last = first;
    if (read.ec == std::errc() && read.ptr != end && *read.ptr == '-')
      read = std::from_chars(read.ptr + 1, end, last);
    if (read.ec != std::errc() || read.ptr != end || first < 0 || last < first || last >= kMost)
      return std::nullopt;
    for (int core = first; core <= last; ++core) cores.push_back(core);
  }
  return cores;
}

/// "000000ff,ffff0000": groups of 32 bits, highest first. @param groups  how many
std::string mask_of(const std::vector<int>& cores, std::size_t groups) {
  std::vector<std::uint32_t> words(groups);
  for (const int core : cores) words.at(at_index(core) / 32) |= std::uint32_t{1} << (core % 32);
  std::string mask;
  for (std::size_t i = groups; i-- > 0;) mask += fmt::format("{}{:08x}", mask.empty() ? "" : ",", words[i]);
  return mask;
}

class TopologyWriter {
 public:
  explicit TopologyWriter(const Machine& machine) : machine_(machine) {
    for (std::size_t i = 0; i < machine.gpus.size(); ++i) {
      rccl_ = rccl_ || machine.gpus[i].model.find("AMD") != std::string::npos;
      if (machine.gpus[i].present) dev_.emplace(static_cast<int>(i), static_cast<int>(dev_.size()));
    }
    choose_addresses();
  }

  NcclTopologyFile write() {
    Node system = add(document_, "system");
    set(system, "version", rccl_ ? "2" : "1");
    for (std::size_t i = 0; i < machine_.cpus.size(); ++i) write_cpu(system, static_cast<int>(i));
    if (elements_ > kMostElements) {
      throw Error(
          ErrorKind::usage,
          fmt::format("the topology has {} elements; NCCL reads {} at most", elements_, kMostElements),
          "machine `" + machine_.name + "`", "leave out network adapters, or empty switches");
    }
    if (!invented_gpus_.empty()) {
      warnings_.push_back("NCCL finds GPUs by PCI address; without one (gpus.NAME.bdf) it will not find " +
                          invented_gpus_);
    }
    return {text(), std::move(warnings_)};
  }

 private:
  Node add(Node parent, const char* name) {
    ++elements_;
    return parent.append_child(name);
  }
  static void set(Node node, const char* name, const std::string& value) {
    node.append_attribute(name).set_value(value.c_str());
  }
  static void set(Node node, const char* name, long value) { set(node, name, std::to_string(value)); }

  /// NCCL takes the `/` behind a blank for an attribute.
  std::string text() const {
    std::ostringstream out;
    document_.print(out, "  ", pugi::format_indent | pugi::format_no_declaration);
    std::string text = out.str();
    for (std::size_t at = text.find(" />"); at != std::string::npos; at = text.find(" />", at))
      text.erase(at, 1);
    return text;
  }

  void choose_addresses() {
    std::vector<std::pair<NodeId, std::string>> nodes;
    for (std::size_t i = 0; i < machine_.switches.size(); ++i)
      nodes.emplace_back(NodeId{NodeKind::pcie_switch, static_cast<int>(i)}, machine_.switches[i].bdf);
    for (const auto& [gpu, dev] : dev_)
      nodes.emplace_back(NodeId{NodeKind::gpu, gpu}, machine_.gpus[at_index(gpu)].bdf);
    for (std::size_t i = 0; i < machine_.nics.size(); ++i)
      nodes.emplace_back(NodeId{NodeKind::nic, static_cast<int>(i)}, machine_.nics[i].bdf);
    std::set<std::string> used;
    for (const auto& [id, bdf] : nodes) {
      if (is_address(bdf) && used.insert(bdf).second) addresses_[id] = bdf;
    }
    int next = 0;
    for (const auto& [id, bdf] : nodes) {
      if (addresses_.count(id) != 0) continue;
      std::string invented;
      do invented = invented_address(next++);
      while (!used.insert(invented).second);
      addresses_[id] = invented;
      if (id.kind != NodeKind::gpu) continue;
      invented_gpus_ += (invented_gpus_.empty() ? "`" : ", `") + node_name(machine_, id) + "`";
    }
  }

  /// The system's numbers of the NUMA nodes, where all have different ones.
  int numaid(int cpu) const {
    std::set<int> all;
    for (const Cpu& each : machine_.cpus) {
      if (each.numa && *each.numa >= 0) all.insert(*each.numa);
    }
    return all.size() == machine_.cpus.size() ? *machine_.cpus[at_index(cpu)].numa : cpu;
  }

  void write_cpu(Node system, int index) {
    const Cpu& cpu = machine_.cpus[at_index(index)];
    Node node = add(system, "cpu");
    set(node, "numaid", numaid(index));
    write_affinity(node, cpu);
    const bool x86 = cpu.vendor == "intel" || cpu.vendor == "amd" || cpu.vendor == "zhaoxin";
    const std::string arch = x86                   ? "x86_64"
                             : cpu.vendor == "arm" ? "arm64"
                             : cpu.vendor == "ibm" ? "ppc64"
                                                   : "";
    if (!arch.empty()) set(node, "arch", arch);
    if (const auto vendor = cpuid_vendor_of(cpu.vendor)) set(node, "vendor", *vendor);
    if (const auto id = cpu_id_of(cpu.vendor, cpu.model)) {
      set(node, "familyid", nccl_familyid(*id));
      set(node, "modelid", id->model);
    }
    std::vector<int> below;
    for (std::size_t i = 0; i < machine_.links.size(); ++i) {
      const Link& link = machine_.links[i];
      const bool pcie = link.kind == LinkKind::pcie && link.from.kind == NodeKind::root;
      if (pcie && machine_.roots[at_index(link.from.index)].cpu == index)
        below.push_back(static_cast<int>(i));
    }
    write_devices(node, below);
    if (index == 0) write_gpus_without_pcie(node);
  }

  void write_affinity(Node node, const Cpu& cpu) {
    std::size_t most = 0;
    for (const Cpu& each : machine_.cpus) {
      for (const int core : cores_of(each.cores).value_or(std::vector<int>{}))
        most = std::max(most, at_index(core) + 1);
    }
    const auto cores = cores_of(cpu.cores);
    if (!cores || cores->empty()) return;
    const std::string mask = mask_of(*cores, (most + 31) / 32);
    if (mask.size() <= kMostText) return set(node, "affinity", mask);
    warnings_.push_back("the cores of `" + cpu.name +
                        "` are left out: NCCL reads no mask of more than 896 cores");
  }

  /// Devices below one node in the order in which NCCL itself would put them.
  void write_devices(Node parent, std::vector<int> links) {
    const auto address = [&](int link) { return addresses_[machine_.links[at_index(link)].to]; };
    std::sort(links.begin(), links.end(), [&](int a, int b) { return address(a) < address(b); });
    for (const int index : links) {
      const Link& link = machine_.links[at_index(index)];
      if (link.to.kind == NodeKind::gpu && dev_.count(link.to.index) == 0) continue;
      Node node = write_function(parent, link.to);
      set(node, "link_speed", std::string(link_speed(link.rate)) + " GT/s PCIe");
      set(node, "link_width", link.width);
      if (link.to.kind == NodeKind::gpu) write_gpu(node, link.to.index);
      if (link.to.kind == NodeKind::nic) write_nic(node, link.to.index);
      if (link.to.kind == NodeKind::pcie_switch) write_devices(node, links_below(link.to));
    }
  }

  std::vector<int> links_below(NodeId id) const {
    std::vector<int> below;
    for (std::size_t i = 0; i < machine_.links.size(); ++i) {
      if (machine_.links[i].kind == LinkKind::pcie && machine_.links[i].from == id)
        below.push_back(static_cast<int>(i));
    }
    return below;
  }

  Node write_function(Node parent, NodeId id) {
    Node node = add(parent, "pci");
    set(node, "busid", addresses_[id]);
    set(node, "class",
        id.kind == NodeKind::gpu   ? rccl_ ? "0x038000" : "0x030200"
        : id.kind == NodeKind::nic ? "0x020000"
                                   : "0x060400");
    if (id.kind != NodeKind::gpu) return node;
    if (const auto pci = pci_id_of_gpu(machine_.gpus[at_index(id.index)].model)) {
      set(node, "vendor", fmt::format("{:#06x}", pci->vendor));
      set(node, "device", fmt::format("{:#06x}", pci->device));
    }
    return node;
  }

  void write_gpu(Node pci, int index) {
    const Gpu& gpu = machine_.gpus[at_index(index)];
    Node node = add(pci, "gpu");
    set(node, "dev", dev_.at(index));
    if (gpu.sm > 0) set(node, "sm", gpu.sm);
    set(node, "rank", dev_.at(index));
    std::map<NodeId, int> counts;  // all NVSwitches are one target
    for (const Link& link : machine_.links) {
      const NodeId here{NodeKind::gpu, index};
      if (link.kind != LinkKind::nvlink || (link.from != here && link.to != here) || link.from == link.to)
        continue;
      NodeId there = link.from == here ? link.to : link.from;
      if (there.kind == NodeKind::nvswitch) there.index = 0;
      if (there.kind == NodeKind::gpu && dev_.count(there.index) == 0) continue;
      counts[there] += link.count;
    }
    for (const auto& [there, count] : counts) {
      const bool to_switch = there.kind == NodeKind::nvswitch;
      Node link = add(node, rccl_ ? "xgmi" : "nvlink");
      set(link, "target", to_switch ? "fffffff:ff:ff.0" : addresses_[there]);
      set(link, "count", count);
      set(link, "tclass", to_switch ? "0x068000" : rccl_ ? "0x038000" : "0x030200");
    }
  }

  void write_nic(Node pci, int index) {
    const Nic& nic = machine_.nics[at_index(index)];
    Node net = add(add(pci, "nic"), "net");
    set(net, "name", plain(nic.name));
    set(net, "dev", index);
    const long megabits = std::lround(std::min(nic.rate.value() * 8 / 1e6, 2e9));
    if (megabits > 0) set(net, "speed", megabits);
  }

  void write_gpus_without_pcie(Node cpu) {
    for (const auto& [gpu, dev] : dev_) {
      const NodeId id{NodeKind::gpu, gpu};
      const bool placed = std::any_of(machine_.links.begin(), machine_.links.end(), [&](const Link& link) {
        return link.kind == LinkKind::pcie && link.to == id;
      });
      if (placed) continue;
      Node node = write_function(cpu, id);
      set(node, "link_speed", "");
      set(node, "link_width", 0);
      write_gpu(node, gpu);
      warnings_.push_back("`" + node_name(machine_, id) +
                          "` has no PCIe link; it stands below the first NUMA node");
    }
  }

  const Machine& machine_;
  pugi::xml_document document_;
  std::vector<std::string> warnings_;
  std::map<NodeId, std::string> addresses_;
  std::map<int, int> dev_;  // GPUs that are present, by their number for NCCL
  std::string invented_gpus_;
  int elements_ = 0;
  bool rccl_ = false;
};

}  // namespace

NcclTopologyFile nccl_topology_xml(const Machine& machine) { return TopologyWriter(machine).write(); }

}  // namespace lanecast
