#include "configs/dumps/host_facts.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "configs/dumps/sysfs_values.hpp"
#include "configs/reading.hpp"
#include "model/topology/cpu_ids.hpp"

namespace lanecast {
namespace {

constexpr const char* kNodes = "/sys/devices/system/node";

/// The lines "key : value" of the first block of a text, a block ending at an empty line.
std::map<std::string, std::string> first_block(const std::string& text) {
  std::map<std::string, std::string> values;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    const std::size_t colon = line.find(':');
    if (trimmed(line).empty() && !values.empty()) break;
    if (colon != std::string::npos) {
      values.emplace(trimmed(line.substr(0, colon)), trimmed(line.substr(colon + 1)));
    }
    begin = end + 1;
  }
  return values;
}

bool has_word(const std::string& text, const std::string& word) {
  return (" " + text + " ").find(" " + word + " ") != std::string::npos;
}

struct Processor {
  std::string vendor;
  std::string model;
  std::optional<bool> hypervisor;
};

/// Of /proc/cpuinfo, as x86, Arm and Power systems write it.
Processor processor_of(const std::string& cpuinfo) {
  std::map<std::string, std::string> values = first_block(cpuinfo);
  Processor processor;
  const std::string vendor = cpu_vendor_of(values["vendor_id"]);
  if (vendor != "unknown") processor.vendor = vendor;
  if (values.count("CPU implementer") != 0) processor.vendor = "arm";
  if (values["cpu"].compare(0, 5, "POWER") == 0) processor.vendor = "ibm";
  processor.model = values.count("model name") != 0 ? values["model name"] : values["cpu"];
  if (values.count("flags") != 0) processor.hypervisor = has_word(values["flags"], "hypervisor");
  return processor;
}

/// The first number of a list, "32" of "32-63,96-127".
std::optional<int> first_of(const std::string& list) {
  return whole_number(list.substr(0, list.find_first_of("-,")));
}

void add_node(const SystemText& system, int number, const std::string& list_file, const Processor& processor,
              MachineFacts& facts) {
  const std::optional<std::string> cores = system.value(list_file);
  if (!cores) return;  // memory without processors: of a GPU or an expander
  CpuFacts& node = facts.cpus[number];
  node.cores.add(*cores, system.place(list_file));
  const std::string cpuinfo = system.place("/proc/cpuinfo");
  if (!processor.vendor.empty()) node.vendor.add(processor.vendor, cpuinfo);
  if (!processor.model.empty()) node.model.add(processor.model, cpuinfo);
  const std::optional<int> first = first_of(*cores);
  if (!first) return;
  const std::string file =
      "/sys/devices/system/cpu/cpu" + std::to_string(*first) + "/topology/physical_package_id";
  const std::optional<int> socket = whole_number(system.value(file).value_or(""));
  if (socket && *socket >= 0) node.socket.add(*socket, system.place(file));
}

void add_processors(const SystemText& system, MachineFacts& facts) {
  const Processor processor = processor_of(system.files.read("/proc/cpuinfo").value_or(""));
  if (processor.hypervisor) facts.virtualized.add(*processor.hypervisor, system.place("/proc/cpuinfo"));
  bool any = false;
  for (const std::string& name : system.files.list(kNodes).value_or(std::vector<std::string>())) {
    const auto number = name.compare(0, 4, "node") == 0 ? whole_number(name.substr(4)) : std::nullopt;
    if (!number || *number < 0) continue;
    any = true;
    add_node(system, *number, std::string(kNodes) + "/" + name + "/cpulist", processor, facts);
  }
  // A kernel without NUMA has no nodes: all is one.
  if (!any) add_node(system, 0, "/sys/devices/system/cpu/online", processor, facts);
}

/// What the kernel's command line asks for; nothing where it says nothing of it.
std::optional<bool> translation_asked_for(const std::string& command_line) {
  for (const char* word :
       {"iommu=pt", "iommu.passthrough=1", "iommu=off", "intel_iommu=off", "amd_iommu=off"}) {
    if (has_word(command_line, word)) return false;
  }
  for (const char* word : {"intel_iommu=on", "iommu.passthrough=0", "iommu=nopt", "amd_iommu=on"}) {
    if (has_word(command_line, word)) return true;
  }
  return std::nullopt;
}

/// By the kind of the GPUs' groups; where the kernel does not tell kinds, by its command line.
/// Source: Linux ABI document sysfs-kernel-iommu_groups (DMA and DMA-FQ translate, identity passes through).
void add_iommu(const SystemText& system, const std::vector<std::string>& accelerators, MachineFacts& facts) {
  std::optional<std::string> passes;
  bool grouped = false;
  for (const std::string& folder : accelerators) {
    const std::optional<std::string> group = system.files.resolve(folder + "/iommu_group");
    if (!group) continue;
    grouped = true;
    const std::string type = system.value(*group + "/type").value_or("");
    if (type.compare(0, 3, "DMA") == 0)
      return facts.iommu_translation.add(true, system.place(*group + "/type"));
    if (type == "identity" && !passes) passes = *group + "/type";
  }
  if (passes) return facts.iommu_translation.add(false, system.place(*passes));
  const std::string groups = "/sys/kernel/iommu_groups";
  const auto all_groups = system.files.list(groups);
  if (all_groups && all_groups->empty()) return facts.iommu_translation.add(false, system.place(groups));
  const std::string command_line = system.value("/proc/cmdline").value_or("");
  const std::optional<bool> asked = translation_asked_for(command_line);
  if (asked && (grouped || !*asked)) facts.iommu_translation.add(*asked, system.place("/proc/cmdline"));
}

/// "580.159.04" of "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build ...".
std::optional<std::string> driver_version(const std::string& text) {
  const std::size_t module = text.find("Kernel Module");
  std::size_t begin = module == std::string::npos ? text.size() : module;
  while (begin < text.size() && text[begin] != '\n') {
    const std::size_t end = std::min(text.find_first_of(" \t\n", begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    const bool digits = word.find_first_not_of("0123456789.") == std::string::npos;
    if (digits && word.find('.') != std::string::npos && word.size() < 32) return word;
    if (end < text.size() && text[end] == '\n') break;
    begin = end + 1;
  }
  return std::nullopt;
}

void add_driver(const SystemText& system, MachineFacts& facts) {
  const std::string version_file = "/proc/driver/nvidia/version";
  if (const auto version = driver_version(system.value(version_file).value_or(""))) {
    facts.driver.add(*version, system.place(version_file));
  }
  const std::string cards = "/proc/driver/nvidia/gpus";
  for (const std::string& name : system.files.list(cards).value_or(std::vector<std::string>())) {
    const std::string file = cards + "/" + name + "/information";
    std::map<std::string, std::string> values = first_block(system.value(file).value_or(""));
    const auto address = pci_address(values["Bus Location"]);
    const std::string& model = values["Model"];
    if (address && !model.empty() && model != "Unknown") {
      facts.devices[*address].gpu_model.add(model, system.place(file));
    }
  }
}

}  // namespace

void add_host_facts(const SystemText& system, const std::vector<std::string>& accelerators,
                    MachineFacts& facts) {
  add_processors(system, facts);
  add_iommu(system, accelerators, facts);
  add_driver(system, facts);
  const std::string name_file = "/proc/sys/kernel/hostname";
  if (const auto name = system.value(name_file)) facts.host.add(*name, system.place(name_file));
}

}  // namespace lanecast
