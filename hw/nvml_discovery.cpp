#include "hw/nvml_discovery.hpp"

#include <algorithm>
#include <array>

#include "hw/nvml_library.hpp"

namespace lanecast {
namespace {

/// Text of a fixed field, which need not end with a zero.
template <std::size_t N>
std::string text_of(const char (&field)[N]) {
  return {field, std::find(field, field + N, '\0')};
}

/// What a function `Return f(Device, Value*)` answers; nothing where it is absent or fails.
template <class Value>
std::optional<Value> ask(nvml::Return (*function)(nvml::Device, Value*), nvml::Device device) {
  Value value{};
  if (function == nullptr || function(device, &value) != 0) return std::nullopt;
  return value;
}

std::optional<PcieRate> rate_of(std::optional<unsigned> generation) {
  if (!generation || *generation < 1 || *generation > 6) return std::nullopt;
  return static_cast<PcieRate>(*generation);
}

std::optional<int> width_of(std::optional<unsigned> width) {
  if (!width || *width > 16 || !is_pcie_width(static_cast<int>(*width))) return std::nullopt;
  return static_cast<int>(*width);
}

/// Source: nvmlGpuTopologyLevel_t.
std::optional<Distance> distance_of(int level) {
  switch (level) {
    case 0:   // two GPUs of one board
    case 10:  // one switch
      return Distance::pix;
    case 20:
      return Distance::pxb;
    case 30:
      return Distance::phb;
    case 40:
      return Distance::node;
    case 50:
      return Distance::sys;
    default:
      return std::nullopt;
  }
}

class Discovery {
 public:
  explicit Discovery(const NvmlFunctions& functions) : nvml_(functions) {}

  NvmlDevices all() const;

 private:
  NvmlDevice describe(nvml::Device device) const;
  void describe_nvlinks(nvml::Device device, NvmlDevice& described) const;
  std::optional<BytesPerSecond> nvlink_rate(nvml::Device device) const;
  NvmlPair describe_pair(nvml::Device from, nvml::Device to) const;

  const NvmlFunctions& nvml_;
};

std::optional<BytesPerSecond> Discovery::nvlink_rate(nvml::Device device) const {
  nvml::FieldValue field{};
  field.field = nvml::kNvlinkMegabytes;
  if (nvml_.field_values == nullptr || nvml_.field_values(device, 1, &field) != 0) return std::nullopt;
  const bool known =
      field.result == 0 && field.value_type == nvml::kTypeUnsigned && field.value.as_unsigned > 0;
  return known ? std::optional(BytesPerSecond(field.value.as_unsigned * 1e6)) : std::nullopt;
}

void Discovery::describe_nvlinks(nvml::Device device, NvmlDevice& described) const {
  if (nvml_.nvlink_active == nullptr) return;
  for (unsigned link = 0; link < nvml::kMostNvlinks; ++link) {
    int active = 0;
    if (nvml_.nvlink_active(device, link, &active) != 0) continue;  // there is no such link
    if (active == 0) {
      ++described.nvlinks_down;
      continue;
    }
    unsigned version = 0;
    if (nvml_.nvlink_version != nullptr && nvml_.nvlink_version(device, link, &version) == 0) {
      described.nvlink_version = static_cast<int>(version);
    }
    nvml::PciInfo remote{};
    int type = nvml::kRemoteGpu;
    if (nvml_.nvlink_remote == nullptr || nvml_.nvlink_remote(device, link, &remote) != 0) continue;
    if (nvml_.nvlink_remote_type != nullptr && nvml_.nvlink_remote_type(device, link, &type) != 0) continue;
    if (type != nvml::kRemoteGpu && type != nvml::kRemoteSwitch) continue;
    const bool to_switch = type == nvml::kRemoteSwitch;
    const std::string bus_id = to_switch ? "" : text_of(remote.bus_id);
    const auto same = [&](const NvmlNvlinks& each) {
      return each.to_switch == to_switch && each.remote_bus_id == bus_id;
    };
    auto links = std::find_if(described.nvlinks.begin(), described.nvlinks.end(), same);
    if (links == described.nvlinks.end()) links = described.nvlinks.insert(links, {to_switch, bus_id, 0});
    ++links->count;
  }
  if (!described.nvlinks.empty()) described.nvlink_rate = nvlink_rate(device);
}

NvmlDevice Discovery::describe(nvml::Device device) const {
  NvmlDevice described;
  if (const auto pci = ask(nvml_.pci_info, device)) {
    described.bus_id = text_of(pci->bus_id);
    described.vendor = pci->pci_device_id & 0xffff;
    described.device = pci->pci_device_id >> 16;
  }
  char name[96] = {};
  if (nvml_.name != nullptr && nvml_.name(device, name, sizeof name) == 0) described.name = text_of(name);
  const auto memory = ask(nvml_.memory, device);
  if (memory && memory->total > 0) described.memory = Bytes(memory->total);
  const auto bar1 = ask(nvml_.bar1, device);
  if (bar1 && bar1->total > 0) described.bar1 = Bytes(bar1->total);
  described.rate = rate_of(ask(nvml_.generation, device));
  described.width = width_of(ask(nvml_.width, device));
  described.device_max_rate = rate_of(ask(nvml_.device_max_generation, device));
  described.max_rate = rate_of(ask(nvml_.max_generation, device));
  described.max_width = width_of(ask(nvml_.max_width, device));
  const auto state = ask(nvml_.performance_state, device);
  if (state && *state >= 0 && *state <= 15) described.performance_state = state;
  if (const auto replays = ask(nvml_.replays, device)) described.replays = *replays;
  describe_nvlinks(device, described);
  return described;
}

NvmlPair Discovery::describe_pair(nvml::Device from, nvml::Device to) const {
  NvmlPair pair;
  int answer = 0;
  if (nvml_.common_ancestor != nullptr && nvml_.common_ancestor(from, to, &answer) == 0) {
    pair.distance = distance_of(answer);
  }
  if (nvml_.peer_status != nullptr && nvml_.peer_status(from, to, nvml::kReadCapability, &answer) == 0) {
    pair.peer_read = answer == nvml::kPeerOk;
  }
  return pair;
}

NvmlDevices Discovery::all() const {
  NvmlDevices found;
  char version[96] = {};
  if (nvml_.driver_version != nullptr && nvml_.driver_version(version, sizeof version) == 0) {
    found.driver = text_of(version);
  }
  unsigned count = 0;
  if (nvml_.device_count(&count) != 0 || count == 0) {
    found.problem = "NVIDIA's driver has no GPU";
    return found;
  }
  std::vector<nvml::Device> handles;
  for (unsigned i = 0; i < std::min(count, nvml::kMostDevices); ++i) {
    nvml::Device device = nullptr;
    if (nvml_.device(i, &device) == 0) handles.push_back(device);  // a card that was lost fails here
  }
  for (nvml::Device device : handles) found.devices.push_back(describe(device));
  for (nvml::Device from : handles) {
    std::vector<NvmlPair> row;
    for (nvml::Device to : handles) row.push_back(from == to ? NvmlPair() : describe_pair(from, to));
    found.pairs.push_back(std::move(row));
  }
  return found;
}

}  // namespace

NvmlDevices discover_nvml_devices(const std::string& library) {
  const NvmlLibrary nvml(library);
  if (!nvml.problem().empty()) {
    NvmlDevices none;
    none.problem = nvml.problem();
    return none;
  }
  return Discovery(nvml.functions()).all();
}

}  // namespace lanecast
