#include <array>
#include <optional>
#include <pugixml.hpp>
#include <vector>

#include "configs/dumps/nvidia_smi_values.hpp"
#include "configs/dumps/paste_lines.hpp"
#include "configs/dumps/readers.hpp"
#include "configs/dumps/xml_document.hpp"
#include "configs/reading.hpp"

namespace lanecast {
namespace {

struct PathRow {
  const char* path;  // below <gpu>
  SmiItem item;
};

constexpr std::array<PathRow, 13> path_rows{{
    {"product_name", SmiItem::model},
    {"gpu_virtualization_mode/virtualization_mode", SmiItem::virtualization},
    {"pci/pci_device_id", SmiItem::device_id},
    {"pci/pci_gpu_link_info/pcie_gen/max_link_gen", SmiItem::link_max_generation},
    {"pci/pci_gpu_link_info/pcie_gen/current_link_gen", SmiItem::link_generation},
    {"pci/pci_gpu_link_info/pcie_gen/max_device_link_gen", SmiItem::device_max_generation},
    {"pci/pci_gpu_link_info/pcie_gen/max_host_link_gen", SmiItem::host_max_generation},
    {"pci/pci_gpu_link_info/link_widths/max_link_width", SmiItem::link_max_width},
    {"pci/pci_gpu_link_info/link_widths/current_link_width", SmiItem::link_width},
    {"pci/replay_counter", SmiItem::replays},
    {"performance_state", SmiItem::performance_state},
    {"fb_memory_usage/total", SmiItem::memory},
    {"bar1_memory_usage/total", SmiItem::bar1},
}};

std::string from(const XmlDocument& document, const pugi::xml_node& node) {
  return document.place(node) + " (" + node.name() + ")";
}

void add_element(SmiItem item, const pugi::xml_node& node, const std::string& address,
                 const XmlDocument& document, MachineFacts& facts) {
  if (!node) return;
  add_smi_value(item, {node.text().get(), from(document, node)}, address, facts);
}

std::optional<std::string> address_of(const pugi::xml_node& gpu) {
  const std::string id = gpu.attribute("id").value();
  if (const auto address = pci_address(id)) return address;
  return pci_address(gpu.child("pci").child("pci_bus_id").text().get());
}

/// @return  how many of this log's GPUs have an address
int read_log(const pugi::xml_node& log, const XmlDocument& document, SmiGpus& gpus, MachineFacts& facts) {
  int with_address = 0;
  std::string without_address;
  for (const pugi::xml_node& gpu : log.children("gpu")) {
    const std::optional<std::string> address = address_of(gpu);
    if (!address) {
      if (without_address.empty()) without_address = document.place(gpu);
      continue;
    }
    if (!gpus.admit(*address, from(document, gpu), facts)) break;
    ++with_address;
    for (const PathRow& row : path_rows) {
      add_element(row.item, gpu.first_element_by_path(row.path), *address, document, facts);
    }
  }
  if (!without_address.empty()) {
    facts.notes.push_back(
        without_address +
        ": a <gpu> without a PCI address, neither as its id nor as <pci_bus_id>, was left out; "
        "mend: give the file as nvidia-smi wrote it");
  }
  if (with_address > 0) {
    add_element(SmiItem::driver, log.child("driver_version"), "", document, facts);
    add_element(SmiItem::timestamp, log.child("timestamp"), "", document, facts);
  }
  return with_address;
}

}  // namespace

int read_nvidia_smi_xml(std::string_view text, const std::string& file, MachineFacts& facts) {
  const XmlDocument document(text, file);
  SmiGpus gpus;
  int attached = -1;
  int shown = 0;
  int items = 0;
  // A file may hold one log after another, of `nvidia-smi -q -x -l`.
  for (const pugi::xml_node& log : document.root().children("nvidia_smi_log")) {
    shown = read_log(log, document, gpus, facts);
    items += shown;
    attached = small_number(trimmed(log.child("attached_gpus").text().get()));
  }
  if (items == 0) throw document.refusal("the log of `nvidia-smi -q -x` (<nvidia_smi_log> with a <gpu>)");
  if (shown == attached) gpus.number(attached, facts);  // else `-i` chose some
  gpus.note_excess(file, facts);
  if (document.problem()) facts.notes.push_back(*document.problem());
  return items;
}

}  // namespace lanecast
