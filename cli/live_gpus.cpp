#include "cli/live_gpus.hpp"

#include <algorithm>

#include "configs/dumps/sysfs_device.hpp"

namespace lanecast {
namespace {

constexpr const char* kNvml = "live (NVML)";
constexpr const char* kCuda = "live (CUDA)";
constexpr std::uint32_t kNvidia = 0x10de;
constexpr int kSlowestAtWork = 3;  // from P4 on the memory clock may be down, and with it the link

template <class T, class U>
void add(Statements<T>& statements, const std::optional<U>& value, const char* from) {
  if (value) statements.add(T(*value), from);
}

template <class T>
void fill(Statements<T>& statements, const std::optional<T>& value, const char* from) {
  if (statements.empty()) add(statements, value, from);
}

void add_device(const NvmlDevice& device, int index, PciFacts& facts) {
  facts.gpu_index.add(index, kNvml);
  if (device.vendor != 0) facts.vendor.add(device.vendor, kNvml);
  if (device.device != 0) facts.device.add(device.device, kNvml);
  if (!device.name.empty()) facts.gpu_model.add(device.name, kNvml);
  add(facts.memory, device.memory, kNvml);
  fill(facts.bar1, device.bar1, kNvml);
  fill(facts.rate, device.rate, kNvml);
  fill(facts.width, device.width, kNvml);
  fill(facts.max_rate, device.device_max_rate, kNvml);
  add(facts.link_max_rate, device.max_rate, kNvml);
  add(facts.link_max_width, device.max_width, kNvml);
  add(facts.replays, device.replays, kNvml);
}

void add_nvlinks(const std::string& address, const NvmlDevice& device, MachineFacts& facts) {
  for (const NvmlNvlinks& links : device.nvlinks) {
    const auto remote = pci_address(links.remote_bus_id);
    if (!links.to_switch && !remote) continue;
    facts.nvlinks.push_back(
        {address, links.to_switch ? "" : *remote, links.count, device.nvlink_rate, kNvml});
  }
  if (device.nvlinks_down == 0 || device.nvlinks.empty()) return;
  facts.notes.push_back(std::string(kNvml) + ": NVLinks of the GPU at " + address + " that are down: " +
                        std::to_string(device.nvlinks_down) + "; `nvidia-smi nvlink -s` shows which");
}

/// As `nvidia-smi topo -m` counts them: direct ones, or through switches as many as both ends have.
int nvlinks_between(const NvmlDevice& a, const NvmlDevice& b) {
  const auto through_switches = [](const NvmlDevice& device) {
    int count = 0;
    for (const NvmlNvlinks& links : device.nvlinks) count += links.to_switch ? links.count : 0;
    return count;
  };
  for (const NvmlNvlinks& links : a.nvlinks) {
    if (!links.to_switch && pci_address(links.remote_bus_id) == pci_address(b.bus_id)) return links.count;
  }
  return std::min(through_switches(a), through_switches(b));
}

void add_matrix(const NvmlDevices& found, MachineFacts& facts) {
  TopoMatrix matrix;
  matrix.from = kNvml;
  const std::size_t count = found.devices.size();
  for (std::size_t i = 0; i < count; ++i) {
    matrix.names.push_back("GPU" + std::to_string(i));
    matrix.addresses.push_back(pci_address(found.devices[i].bus_id).value_or(""));
    std::vector<TopoCell> row(count);
    for (std::size_t j = 0; j < count; ++j) {
      row[j].distance = i == j ? Distance::loc : found.pairs[i][j].distance;
      row[j].nvlinks = i == j ? 0 : nvlinks_between(found.devices[i], found.devices[j]);
    }
    matrix.cells.push_back(std::move(row));
  }
  matrix.cores.resize(count);
  matrix.numa.resize(count);
  facts.matrices.push_back(std::move(matrix));
}

/// Of a machine whose GPUs are all of other vendors nobody wants to hear that NVIDIA's driver is not there.
bool may_have_nvidia_gpus(const MachineFacts& facts) {
  bool others = false;
  for (const auto& [address, device] : facts.devices) {
    if (device.class_code.empty() || device.vendor.empty()) continue;
    const std::uint32_t vendor = device.vendor.all().front().value;
    if (!is_accelerator(device.class_code.all().front().value, vendor)) continue;
    if (vendor == kNvidia) return true;
    others = true;
  }
  return !others;
}

}  // namespace

void add_nvml_facts(const NvmlDevices& found, MachineFacts& facts) {
  if (!found.driver.empty()) facts.driver.add(found.driver, kNvml);
  for (std::size_t i = 0; i < found.devices.size(); ++i) {
    const NvmlDevice& device = found.devices[i];
    const auto address = pci_address(device.bus_id);
    if (!address) continue;
    PciFacts& gpu = facts.devices[*address];
    add_device(device, static_cast<int>(i), gpu);
    if (device.performance_state.value_or(0) > kSlowestAtWork) gpu.asleep.add(true, kNvml);
    add_nvlinks(*address, device, facts);
    for (std::size_t j = 0; j < found.devices.size(); ++j) {
      const auto other = pci_address(found.devices[j].bus_id);
      const auto& peer_read = found.pairs[i][j].peer_read;
      if (other && peer_read) facts.peer_access.insert({{*address, *other}, {*peer_read, kNvml}});
    }
  }
  if (found.devices.size() > 1) add_matrix(found, facts);
}

void add_cuda_facts(const CudaDevices& found, const std::vector<bool>& busy, MachineFacts& facts) {
  for (std::size_t i = 0; i < found.devices.size(); ++i) {
    const CudaDevice& device = found.devices[i];
    const auto address = pci_address(device.bus_id);
    if (!address) continue;
    PciFacts& gpu = facts.devices[*address];
    if (device.sm > 0) gpu.sm.add(device.sm, kCuda);
    if (device.l2 > Bytes(0)) gpu.l2.add(device.l2, kCuda);
    if (gpu.gpu_model.empty() && !device.name.empty()) gpu.gpu_model.add(device.name, kCuda);
    if (gpu.memory.empty() && device.memory > Bytes(0)) gpu.memory.add(device.memory, kCuda);
    if (i < busy.size() && busy[i] && gpu.asleep.empty()) gpu.asleep.add(false, kCuda);
    for (std::size_t j = 0; j < found.devices.size(); ++j) {
      const auto other = pci_address(found.devices[j].bus_id);
      if (i != j && other) facts.peer_access[{*address, *other}] = {found.pairs[i][j].access, kCuda};
    }
  }
}

void add_live_gpus(const std::vector<bool>& busy, MachineFacts& facts) {
  const NvmlDevices nvml = discover_nvml_devices();
  const CudaDevices cuda = discover_cuda_devices();
  add_nvml_facts(nvml, facts);
  add_cuda_facts(cuda, busy, facts);
  if (may_have_nvidia_gpus(facts)) {
    for (const std::string& problem : {nvml.problem, cuda.problem}) {
      if (!problem.empty()) facts.notes.push_back("live: " + problem);
    }
  }
  if (!cuda.problem.empty() || cuda.devices.size() >= nvml.devices.size()) return;
  facts.notes.push_back("live: CUDA shows " + std::to_string(cuda.devices.size()) + " of " +
                        std::to_string(nvml.devices.size()) +
                        " GPUs, and only those were woken; unset CUDA_VISIBLE_DEVICES to see all");
}

}  // namespace lanecast
