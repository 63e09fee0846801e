#include <algorithm>
#include <charconv>
#include <map>
#include <pugixml.hpp>
#include <tuple>

#include "configs/dumps/hwloc_facts.hpp"
#include "configs/dumps/readers.hpp"
#include "configs/dumps/xml_document.hpp"
#include "configs/dumps/xml_numbers.hpp"
#include "configs/reading.hpp"
#include "model/topology/cpu_ids.hpp"
#include "model/topology/gpu_ids.hpp"

// Source of the format: hwloc 2.9, hwloc2.dtd and hwloc/topology-xml.c; the chapter "I/O Devices" of its
// documentation.

namespace lanecast {
namespace {

constexpr int kDeepest = 256;             // of nested objects
constexpr std::size_t kMostNodes = 1024;  // NUMA nodes, packages
constexpr std::uint32_t kNvswitchClass = 0x068000;

using Node = pugi::xml_node;

std::string text_of(const Node& node, const char* attribute) { return node.attribute(attribute).value(); }

std::string info_of(const Node& object, const char* name) {
  std::string text;
  for (const Node info : object.children("info")) {
    if (text_of(info, "name") == name) text = printable(text_of(info, "value"));
  }
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

/// Numbers of the bits of "0x00000003" or "0x1,,0x80000000"; nothing for endless sets and other texts.
std::optional<std::string> list_of_set(const std::string& set) {
  std::string mask;
  std::string group;
  for (const char c : set + ",") {
    if (c != ',') {
      group += c;
      continue;
    }
    if (group.compare(0, 2, "0x") == 0) group.erase(0, 2);
    mask += (mask.empty() ? "" : ",") + (group.empty() ? std::string("0") : group);
    group.clear();
  }
  const auto list = core_list_of_mask(mask);
  return list && !list->empty() ? list : std::nullopt;
}

/// "0302 [10de:2235] [10de:145a] a1"
struct PciType {
  std::uint32_t class_code = 0;
  PciId id;
};

std::optional<PciType> pci_type_of(const std::string& text) {
  const auto hex = [&](std::size_t at) -> std::optional<std::uint32_t> {
    std::uint32_t value = 0;
    const char* begin = text.data() + at;
    const auto [stop, error] = std::from_chars(begin, begin + 4, value, 16);
    return error == std::errc() && stop == begin + 4 ? std::optional(value) : std::nullopt;
  };
  if (text.size() < 16 || text.compare(4, 2, " [") != 0 || text[10] != ':' || text[15] != ']')
    return std::nullopt;
  const auto code = hex(0);
  const auto vendor = hex(6);
  const auto device = hex(11);
  if (!code || !vendor || !device) return std::nullopt;
  return PciType{*code << 8, {*vendor, *device}};
}

/// hwloc keeps 16 of the 24 bits. The rest is 0 for all that matters here; three kinds of which nearly every
/// machine has one would else contradict what others print.
std::uint32_t usual_class(std::uint32_t code) {
  switch (code >> 8) {
    case 0x0106:
      return 0x010601;  // AHCI
    case 0x0108:
      return 0x010802;  // NVMe
    case 0x0c03:
      return 0x0c0330;  // xHCI
    default:
      return code;
  }
}

/// The number at the end of "nvml3".
std::optional<int> number_behind(const std::string& name, std::string_view kind) {
  if (name.compare(0, kind.size(), kind) != 0) return std::nullopt;
  const auto number = xml_number(std::string_view(name).substr(kind.size()));
  return number && *number >= 0 ? number : std::nullopt;
}

class HwlocReader {
 public:
  HwlocReader(const XmlDocument& document, const std::optional<std::string>& from, MachineFacts& facts)
      : document_(document), from_(from), facts_(facts) {}

  int read(const Node& topology) {
    for (const Node object : topology.children("object")) take_object(object, {});
    for (const NumaNode& node : numa_nodes_) take_numa_node(node);
    add_second_choices();
    for (const Node matrix : topology.children()) {
      const std::string_view tag = matrix.name();
      const std::string name = text_of(matrix, "name");
      if ((tag == "distances2" || tag == "distances2hetero") &&
          (name == "NVLinkBandwidth" || name == "XGMIBandwidth"))
        take_bandwidths(matrix, name);
    }
    return functions_ + static_cast<int>(numa_nodes_.size());
  }

  int functions() const { return functions_; }

 private:
  struct Above {
    Node package;
    std::string nodeset;                // of the nearest object that has cores
    std::optional<std::string> bridge;  // address; "" for a host bridge
    std::string function;               // that an object of the system belongs to
    int depth = 0;
  };
  struct NumaNode {
    Node object;
    Node package;
  };

  std::string place(const Node& node, const std::string& what) const {
    return from_ ? *from_ + " (" + what + ")" : document_.place(node) + " (" + what + ")";
  }

  void take_object(const Node& object, Above above) {
    if (++above.depth > kDeepest) return;
    const std::string type = text_of(object, "type");
    const std::string host = type == "Machine" ? info_of(object, "HostName") : "";
    if (!host.empty()) facts_.host.add(host, place(object, "HostName"));
    if (type == "Package" || type == "Socket") {
      above.package = object;
      if (packages_.size() < kMostNodes) packages_.push_back(object);
    }
    if (type == "NUMANode" && numa_nodes_.size() < kMostNodes) numa_nodes_.push_back({object, above.package});
    if (object.attribute("nodeset") && type != "PCIDev" && type != "Bridge" && type != "OSDev")
      above.nodeset = text_of(object, "nodeset");
    const bool host_bridge = type == "Bridge" && text_of(object, "bridge_type").compare(0, 2, "0-") == 0;
    if (host_bridge) above.bridge = "";
    if (type == "PCIDev" || (type == "Bridge" && !host_bridge))
      take_function(object, type == "Bridge", above);
    if (type == "OSDev" && !above.function.empty()) take_name(object, facts_.devices[above.function]);
    if (type == "OSDev" || type == "PCIDev") by_gp_index_[text_of(object, "gp_index")] = above.function;
    for (const Node child : object.children("object")) take_object(child, above);
  }

  void take_numa_node(const NumaNode& node) {
    const std::optional<int> index = xml_number(text_of(node.object, "os_index"));
    const std::optional<std::string> cores = list_of_set(text_of(node.object, "cpuset"));
    // Memory without cores (CXL, a GPU's own) is no CPU.
    if (!index || *index < 0 || *index > 4095 || !cores) return;
    CpuFacts& cpu = facts_.cpus[*index];
    cpu.cores.add(*cores, place(node.object, "cpuset"));
    const Node package = node.package || packages_.empty() ? node.package : packages_.front();
    const std::string vendor = cpu_vendor_of(info_of(package, "CPUVendor"));
    if (vendor != "unknown") cpu.vendor.add(vendor, place(package, "CPUVendor"));
    const std::string model = info_of(package, "CPUModel");
    if (!model.empty()) cpu.model.add(model, place(package, "CPUModel"));
    if (!node.package) return;
    const auto known = std::find(packages_.begin(), packages_.end(), node.package);
    const auto socket = xml_number(text_of(node.package, "os_index"));
    cpu.socket.add(
        socket && *socket >= 0 && *socket <= 4095 ? *socket : static_cast<int>(known - packages_.begin()),
        place(node.package, "os_index"));
  }

  void take_function(const Node& object, bool bridge, Above& above) {
    above.function.clear();
    const std::optional<std::string> address = pci_address(text_of(object, "pci_busid"));
    if (!address) {
      if (bridge) above.bridge.reset();  // what is below it hangs on it, wherever it is
      return;
    }
    ++functions_;
    PciFacts& device = facts_.devices[*address];
    add_place(object, *address, device, above);
    add_identity(object, device);
    add_link(object, device);
    above.function = *address;
    if (!bridge) return;
    above.bridge = *address;
    const std::string buses = text_of(object, "bridge_pci");  // "0000:[41-45]"
    const std::size_t open = buses.find('[');
    if (open == std::string::npos || buses.size() != open + 7 || buses[open + 3] != '-') return;
    const auto secondary = xml_number("0x" + buses.substr(open + 1, 2));
    const auto subordinate = xml_number("0x" + buses.substr(open + 4, 2));
    if (secondary) device.secondary_bus.add(*secondary, place(object, "bridge_pci"));
    if (subordinate) device.subordinate_bus.add(*subordinate, place(object, "bridge_pci"));
  }

  /// Where bridges were filtered out, devices hang on cores, and nothing tells what is above.
  void add_place(const Node& object, const std::string& address, PciFacts& device, const Above& above) {
    if (above.bridge) device.parent.add(*above.bridge, place(object, "enclosing object"));
    if (above.bridge && above.bridge->empty())
      device.root_bus.add(bus_of(address), place(object, "enclosing object"));
    const auto node = list_of_set(above.nodeset);  // several nodes: their number is not known
    const auto numa = node ? xml_number(*node) : std::nullopt;
    if (numa) device.numa.add(*numa, place(object, "nodeset"));
    const std::string slot = info_of(object, "PCISlot");
    if (!slot.empty()) device.slot.add(slot, place(object, "PCISlot"));
  }

  void add_identity(const Node& object, PciFacts& device) {
    const std::string name = info_of(object, "PCIDevice");
    const std::string vendor = info_of(object, "PCIVendor");
    if (!name.empty() && !vendor.empty()) device.name.add(vendor + " " + name, place(object, "PCIDevice"));
    const auto type = pci_type_of(text_of(object, "pci_type"));
    if (!type) return;
    device.class_code.add(usual_class(type->class_code), place(object, "pci_type"));
    device.vendor.add(type->id.vendor, place(object, "pci_type"));
    device.device.add(type->id.device, place(object, "pci_type"));
    const auto known = known_gpu(type->id);
    if (!known) return;
    if (known->sm > 0) device.sm.add(known->sm, place(object, "pci_type"));
    model_by_id_.emplace_back(&device, object, known->model);
  }

  void add_link(const Node& object, PciFacts& device) {
    const auto link = link_of_hwloc_speed(object.attribute("pci_link_speed").as_double());
    if (!link) return;
    device.rate.add(link->first, place(object, "pci_link_speed"));
    device.width.add(link->second, place(object, "pci_link_speed"));
  }

  /// An object of the system: nvml0, cuda0, rsmi0, mlx5_0, eth0.
  void take_name(const Node& object, PciFacts& device) {
    const std::string name = printable(text_of(object, "name"));
    const std::string model = info_of(object, "GPUModel");
    if (!model.empty()) device.gpu_model.add(model, place(object, "GPUModel"));
    for (const char* kind : {"nvml", "rsmi"}) {
      if (const auto number = number_behind(name, kind)) device.gpu_index.add(*number, place(object, name));
    }
    if (const auto number = number_behind(name, "cuda"))
      index_by_cuda_.emplace_back(&device, object, *number);
    // An adapter has a name for RDMA and one for its network: the first is the one that NCCL and topo -m use.
    constexpr int kNetwork = 2;
    constexpr int kOpenFabrics = 3;
    const std::optional<int> type = xml_number(text_of(object, "osdev_type"));
    if (type == kOpenFabrics || !info_of(object, "NodeGUID").empty()) {
      device.nic_name.add(name, place(object, "name"));
    } else if (type == kNetwork || !info_of(object, "Address").empty()) {
      name_by_network_.emplace_back(&device, object, name);
    }
  }

  /// CUDA's own numbers, names of networks and names by PCI ids stand in where there is nothing better.
  void add_second_choices() {
    for (const auto& [device, object, number] : index_by_cuda_) {
      if (device->gpu_index.empty()) device->gpu_index.add(number, place(object, "name"));
    }
    for (const auto& [device, object, name] : name_by_network_) {
      if (device->nic_name.empty()) device->nic_name.add(name, place(object, "name"));
    }
    for (const auto& [device, object, model] : model_by_id_) {
      if (device->gpu_model.empty()) device->gpu_model.add(model, place(object, "pci_type"));
    }
  }

  /// The words in the content of all children of a name.
  static std::vector<std::string> words_of(const Node& node, const char* child) {
    std::vector<std::string> words;
    for (const Node part : node.children(child)) {
      const std::string_view text = part.child_value();
      for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find_first_of(" \t\r\n", at), text.size());
        if (end > at) words.emplace_back(text.substr(at, end - at));
        at = end + 1;
      }
    }
    return words;
  }

  /// Matrix of MB/s between GPUs, and to NVSwitches, which are PCI functions of their own.
  void take_bandwidths(const Node& matrix, const std::string& name) {
    std::vector<std::string> ends;  // addresses; "-" for others
    for (const std::string& word : words_of(matrix, "indexes")) {
      const std::size_t colon = word.rfind(':');
      const auto known = by_gp_index_.find(colon == std::string::npos ? word : word.substr(colon + 1));
      ends.push_back(known == by_gp_index_.end() || known->second.empty() ? "-" : known->second);
    }
    const std::vector<std::string> values = words_of(matrix, "u64values");
    if (ends.size() > 256 || values.size() != ends.size() * ends.size()) return;
    for (std::size_t a = 0; a < ends.size(); ++a) {
      if (ends[a] == "-" || is_nvswitch(ends[a])) continue;
      std::uint64_t to_switches = 0;
      for (std::size_t b = 0; b < ends.size(); ++b) {
        const std::string& value = values[a * ends.size() + b];
        std::uint64_t megabytes = 0;
        const auto [stop, error] = std::from_chars(value.data(), value.data() + value.size(), megabytes);
        const bool read =
            error == std::errc() && stop == value.data() + value.size() && megabytes < 100'000'000;
        if (!read || megabytes == 0 || ends[b] == "-" || ends[a] == ends[b]) continue;
        if (is_nvswitch(ends[b])) {
          to_switches += megabytes;
        } else {
          add_nvlink(matrix, ends[a], ends[b], megabytes, name);
        }
      }
      if (to_switches > 0) add_nvlink(matrix, ends[a], "", to_switches, name);
    }
  }

  bool is_nvswitch(const std::string& address) const {
    const auto& codes = facts_.devices.at(address).class_code.all();
    return !codes.empty() && codes.front().value == kNvswitchClass;
  }

  /// NVLinks of 25 GB/s (the second to the fourth kind) or 20 (the first); other sums stay one link.
  void add_nvlink(const Node& matrix, const std::string& from, const std::string& to, std::uint64_t megabytes,
                  const std::string& name) {
    NvlinkFacts link{from, to, 1, BytesPerSecond(static_cast<double>(megabytes) * 1e6), place(matrix, name)};
    for (const std::uint64_t one : {25000u, 20000u}) {
      if (name != "NVLinkBandwidth" || megabytes % one != 0 || megabytes / one > 18) continue;
      link.count = static_cast<int>(megabytes / one);
      link.rate = BytesPerSecond(static_cast<double>(one) * 1e6);
      break;
    }
    facts_.nvlinks.push_back(link);
  }

  template <class T>
  using SecondChoices = std::vector<std::tuple<PciFacts*, Node, T>>;  // std::map keeps its elements in place

  const XmlDocument& document_;
  const std::optional<std::string>& from_;
  MachineFacts& facts_;
  std::vector<NumaNode> numa_nodes_;
  std::vector<Node> packages_;
  std::map<std::string, std::string> by_gp_index_;  // hwloc's number of an object -> address
  SecondChoices<int> index_by_cuda_;
  SecondChoices<std::string> name_by_network_;
  SecondChoices<std::string> model_by_id_;
  int functions_ = 0;
};

}  // namespace

int add_hwloc_document(const XmlDocument& document, const std::optional<std::string>& from,
                       MachineFacts& facts) {
  const Node topology = document.root().child("topology");
  if (!topology) throw document.refusal("an hwloc topology (<topology>)");
  HwlocReader reader(document, from, facts);
  const int items = reader.read(topology);
  const std::string where = from ? *from : document.place(topology);
  const std::string version = text_of(topology, "version");
  if (version.compare(0, 1, "3") == 0) {
    facts.notes.push_back(where +
                          ": written by hwloc 3, read as the form of hwloc 2; mend, if something is missing: "
                          "`lstopo --export-xml-flags v2 box.xml`");
  }
  if (reader.functions() == 0)
    facts.notes.push_back(where +
                          ": no PCI device is in it; mend: write it with `lstopo --whole-io box.xml`");
  if (document.problem()) facts.notes.push_back(*document.problem());
  return items;
}

int read_hwloc_xml(std::string_view text, const std::string& file, MachineFacts& facts) {
  return add_hwloc_document(XmlDocument(text, file), std::nullopt, facts);
}

}  // namespace lanecast
