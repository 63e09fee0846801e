#include <algorithm>
#include <pugixml.hpp>

#include "configs/dumps/gpu_names.hpp"
#include "configs/dumps/readers.hpp"
#include "configs/dumps/sysfs_values.hpp"
#include "configs/dumps/xml_document.hpp"
#include "configs/dumps/xml_numbers.hpp"
#include "configs/reading.hpp"
#include "model/topology/cpu_ids.hpp"

// Source of the format: facts.md A9; NVIDIA/nccl src/graph/xml.cc (`ncclTopoGetXmlFromSys` and what it
// calls), ROCm/rccl src/graph/xml.cc.

namespace lanecast {
namespace {

constexpr int kDeepest = 64;            // of nested <pci>; real trees have 8 at most
constexpr std::size_t kMostNotes = 16;  // of a file
constexpr std::uint32_t kAmd = 0x1002;
constexpr std::uint32_t kNvswitchClass = 0x068000;
constexpr std::uint32_t kCpuBridgeClass = 0x068001;  // POWER: NVLink to the CPU

using Node = pugi::xml_node;

std::string text_of(const Node& node, const char* attribute) { return node.attribute(attribute).value(); }

std::optional<int> number_of(const Node& node, const char* attribute) {
  return xml_number(node.attribute(attribute).value());
}

/// What RCCL's `gcn` says where no device id is known.
std::string model_of_gcn(const std::string& gcn) {
  if (gcn == "906" || gcn == "gfx906") return "AMD Instinct MI60 / MI50";
  if (gcn == "908" || gcn == "gfx908") return "AMD Instinct MI100";
  if (gcn == "910" || gcn.rfind("gfx90a", 0) == 0) return "AMD Instinct MI200 series";
  if (gcn == "940" || gcn == "942" || gcn.rfind("gfx94", 0) == 0) return "AMD Instinct MI300 series";
  return "";
}

/// "a, b and 3 more": no more than an eye takes in.
std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i) text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kShown) text += " and " + std::to_string(names.size() - kShown) + " more";
  return text;
}

class TopologyReader {
 public:
  TopologyReader(const XmlDocument& document, MachineFacts& facts) : document_(document), facts_(facts) {}

  void take_system(const Node& system) {
    const std::optional<int> version = number_of(system, "version");
    if (version && *version != 1 && *version != 2)
      note(system, "version " + std::to_string(*version) + " of the format is not known; read as version 1");
    take_children(system, {});
  }

  /// Notes that stand for many elements.
  void finish(const std::string& file) {
    if (!unplaced_nets_.empty()) {
      facts_.notes.push_back(file + ": network without a PCI place, no adapter (virtual or not visible): " +
                             listed(unplaced_nets_));
    }
    if (!nameless_.empty()) {
      facts_.notes.push_back(
          file + ": PCI functions without a class, GPUs or network adapters by place only: " +
          listed(nameless_) + "; mend: add `lspci -nn` or `nvidia-smi -q` of this machine");
    }
  }

  int items() const { return items_; }

 private:
  struct Above {
    std::string bridge;
    std::optional<int> numa;
    int depth = 0;
  };

  std::string from(const Node& node, const char* attribute) const {
    return document_.place(node) + " (" + attribute + ")";
  }

  void note(const Node& node, const std::string& text) {
    if (++notes_ <= kMostNotes) facts_.notes.push_back(document_.place(node) + ": " + text);
  }

  void take_children(const Node& node, const Above& above) {
    for (const Node child : node.children()) {
      const std::string_view name = child.name();
      if (name == "cpu") take_cpu(child);
      if (name == "pci") take_pci(child, above);
      if (name == "nic" && above.bridge.empty()) take_unplaced_nets(child);
    }
  }

  void take_cpu(const Node& node) {
    const std::string host = text_of(node, "host_hash");
    if (!host_) host_ = host;
    if (*host_ != host) {
      note(node,
           "a CPU of another computer (host_hash `" + printable(host) + "`) is left out with all below it");
      return;
    }
    const std::optional<int> numaid = number_of(node, "numaid");
    const bool known = numaid && *numaid >= 0;
    ++items_;
    // Without NUMA numbers, as in many virtual machines, maker and model still hold: all CPUs of a machine
    // are alike, and NCCL asks the one that it runs on.
    CpuFacts& cpu = facts_.cpus[known ? *numaid : 0];
    add_cpu_model(node, cpu);
    const std::string mask = text_of(node, "affinity");
    const auto cores = core_list_of_mask(mask, std::max(number_of(node, "affinity_offset").value_or(0), 0));
    if (!cores) note(node, "the affinity mask `" + printable(mask) + "` is not readable");
    if (known && cores && !cores->empty()) cpu.cores.add(*cores, from(node, "affinity"));
    take_children(node, {"", known ? numaid : std::nullopt, 0});
  }

  void add_cpu_model(const Node& node, CpuFacts& cpu) {
    const std::string arch = text_of(node, "arch");
    std::string vendor = cpu_vendor_of(text_of(node, "vendor"));
    if (arch == "arm64") vendor = "arm";
    if (arch == "ppc64") vendor = "ibm";
    if (vendor == "unknown") return;
    cpu.vendor.add(vendor, from(node, node.attribute("vendor") ? "vendor" : "arch"));
    const auto family = number_of(node, "familyid");
    const auto model = number_of(node, "modelid");
    if (!family || !model || *family < 0 || *model < 0) return;
    cpu.model.add(cpu_model_of(vendor, cpu_id_from_nccl(*family, *model)), from(node, "familyid, modelid"));
  }

  void take_pci(const Node& node, const Above& above) {
    if (above.depth == kDeepest) {
      note(node, "nested more than " + std::to_string(kDeepest) + " bridges deep; left out");
      return;
    }
    Above here = above;
    ++here.depth;
    const std::string busid = text_of(node, "busid");
    const std::optional<std::string> address = pci_address(busid);
    if (!address) {
      note(node, "<pci> has no usable busid (`" + printable(busid) + "`); mend: give it as 0000:3b:00.0");
      take_children(node, here);
      return;
    }
    ++items_;
    PciFacts& device = facts_.devices[*address];
    if (!above.bridge.empty()) device.ancestor.add(above.bridge, from(node, "enclosing pci"));
    if (above.numa) device.numa.add(*above.numa, from(node, "numaid of the enclosing cpu"));
    add_function(node, device);
    add_link(node, device);
    take_gpu(node, *address, device);
    take_adapter(node, device);
    const bool leaf = !node.child("pci") && !node.child("gpu") && !node.child("nic");
    if (leaf && device.class_code.empty()) nameless_.push_back(*address);
    here.bridge = *address;
    take_children(node, here);
  }

  void add_function(const Node& node, PciFacts& device) {
    if (const auto code = pci_class(text_of(node, "class")))
      device.class_code.add(*code, from(node, "class"));
    const std::optional<int> vendor = number_of(node, "vendor");
    const std::optional<int> id = number_of(node, "device");
    // Hand-written files name switches that no one sees 0xffff.
    if (!vendor || !id || *vendor <= 0 || *vendor >= 0xffff || *id < 0 || *id > 0xffff) return;
    device.vendor.add(static_cast<std::uint32_t>(*vendor), from(node, "vendor"));
    device.device.add(static_cast<std::uint32_t>(*id), from(node, "device"));
  }

  /// NCCL prints the lesser of what the two ends could do (`max_link_speed` and `max_link_width` of the
  /// function and of the port above it). A width of 0 is unknown.
  void add_link(const Node& node, PciFacts& device) {
    if (const auto rate = rate_of_link_speed(text_of(node, "link_speed")))
      device.link_max_rate.add(*rate, from(node, "link_speed"));
    const std::optional<int> width = number_of(node, "link_width");
    if (width && is_pcie_width(*width)) device.link_max_width.add(*width, from(node, "link_width"));
  }

  void take_gpu(const Node& pci, const std::string& address, PciFacts& device) {
    const Node gpu = pci.child("gpu");
    const auto vendor = number_of(pci, "vendor");
    const auto id = number_of(pci, "device");
    std::optional<KnownGpu> known;
    if (vendor && id && *vendor >= 0 && *id >= 0)
      known = known_gpu({static_cast<std::uint32_t>(*vendor), static_cast<std::uint32_t>(*id)});
    if (known) device.gpu_model.add(known->model, from(pci, "device"));
    if (!gpu) {
      if (known && known->sm > 0) device.sm.add(known->sm, from(pci, "device"));
      return;
    }
    if (const auto index = number_of(gpu, "dev"); index && *index >= 0)
      device.gpu_index.add(*index, from(gpu, "dev"));
    const std::string gcn = text_of(gpu, "gcn");
    const bool amd = !gcn.empty() || (vendor && *vendor == static_cast<int>(kAmd));
    const auto sm = number_of(gpu, "sm");  // RCCL counts compute units there
    if (sm && *sm > 0 && !amd) device.sm.add(*sm, from(gpu, "sm"));
    if (!known && !model_of_gcn(gcn).empty()) device.gpu_model.add(model_of_gcn(gcn), from(gpu, "gcn"));
    take_nvlinks(gpu, address);
    if (const Node c2c = gpu.child("c2c"))
      note(c2c, "NVLink to the CPU (C2C) has no place in a machine file; left out");
  }

  /// Links of one GPU to NVSwitches are one entry, whichever switches they go to: as `NV12` of nvidia-smi.
  void take_nvlinks(const Node& gpu, const std::string& address) {
    NvlinkFacts to_switches{address, "", 0, std::nullopt, ""};
    for (const Node link : gpu.children()) {
      const std::string_view name = link.name();
      if (name != "nvlink" && name != "xgmi") continue;
      const std::optional<int> count = number_of(link, "count");
      if (!count || *count < 1 || *count > 64) {
        note(link,
             "<" + std::string(name) + "> has no usable count (`" + printable(text_of(link, "count")) + "`)");
        continue;
      }
      if (!take_nvlink_to_switch(link, *count, to_switches)) take_nvlink(link, address, *count);
    }
    if (to_switches.count > 0) facts_.nvlinks.push_back(to_switches);
  }

  bool take_nvlink_to_switch(const Node& link, int count, NvlinkFacts& to_switches) {
    const std::string target = text_of(link, "target");
    // NVML's address of what it cannot name; 0000:0f:00.0 is none.
    const bool hidden = (target.compare(0, 4, "ffff") == 0 || target.compare(0, 4, "FFFF") == 0) &&
                        target.find_first_not_of("fF:.0") == std::string::npos;
    const std::optional<std::uint32_t> type = pci_class(text_of(link, "tclass"));
    if (type != kNvswitchClass && (!hidden || type == kCpuBridgeClass)) return false;
    if (to_switches.count == 0) to_switches.place = document_.place(link) + " (" + link.name() + ")";
    to_switches.count += count;
    return true;
  }

  void take_nvlink(const Node& link, const std::string& address, int count) {
    const std::string target = text_of(link, "target");
    const std::optional<std::string> other = pci_address(target);
    if (pci_class(text_of(link, "tclass")) == kCpuBridgeClass) {
      note(link, "NVLink to the CPU has no place in a machine file; left out");
    } else if (!other) {
      note(link, "NVLink target `" + printable(target) + "` is no PCI address; left out");
    } else if (*other == address) {
      // Clouds write this so that NCCL looks for no NVLink: it does so only where the file names none.
      note(link, std::to_string(count) + " NVLinks of " + address +
                     " lead back to itself: none is usable here, so none is taken");
    } else {
      facts_.nvlinks.push_back(
          {address, *other, count, std::nullopt, document_.place(link) + " (" + link.name() + ")"});
    }
  }

  /// The networks that a function's <nic> tags name: the first name, and the rate of all its ports together.
  /// Networks that NCCL made of several adapters ("mlx5_0+mlx5_1") count only where no other is named.
  void take_adapter(const Node& pci, PciFacts& device) {
    Node first;
    double megabits = 0;
    for (const bool fused : {false, true}) {
      for (const Node nic : pci.children("nic")) {
        for (const Node net : nic.children("net")) {
          if ((text_of(net, "name").find('+') != std::string::npos) != fused) continue;
          if (!first) first = net;
          megabits += std::max(number_of(net, "speed").value_or(0), 0);
        }
      }
      if (first) break;
    }
    if (!first) return;
    if (first.attribute("name"))
      device.nic_name.add(printable(text_of(first, "name")), from(first, "net name"));
    if (megabits > 0) device.nic_rate.add(BytesPerSecond(megabits * 1e6 / 8), from(first, "speed"));
  }

  void take_unplaced_nets(const Node& nic) {
    for (const Node net : nic.children("net")) {
      const std::string name = printable(text_of(net, "name"));
      if (std::find(unplaced_nets_.begin(), unplaced_nets_.end(), name) == unplaced_nets_.end() &&
          unplaced_nets_.size() < kMostNotes)
        unplaced_nets_.push_back(name);
    }
  }

  const XmlDocument& document_;
  MachineFacts& facts_;
  std::optional<std::string> host_;
  std::vector<std::string> unplaced_nets_;
  std::vector<std::string> nameless_;
  std::size_t notes_ = 0;
  int items_ = 0;
};

}  // namespace

int read_nccl_topology(std::string_view text, const std::string& file, MachineFacts& facts) {
  const XmlDocument document(text, file);
  const Node system = document.root().child("system");
  if (!system) throw document.refusal("an NCCL topology (<system>)");
  TopologyReader reader(document, facts);
  reader.take_system(system);
  reader.finish(file);
  if (document.problem()) facts.notes.push_back(*document.problem());
  return reader.items();
}

}  // namespace lanecast
