#include "hw/measure/gpu_state.hpp"

#include <algorithm>
#include <cctype>

#include "hw/nvml_library.hpp"

namespace lanecast {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{200};
constexpr std::size_t kShortBusId = 12;  // "0000:3b:00.0"; NVML's domain has eight digits

std::string short_bus_id(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text.size() > kShortBusId ? text.substr(text.size() - kShortBusId) : text;
}

template <class Value>
std::optional<int> ask(nvml::Return (*function)(nvml::Device, Value*), nvml::Device device) {
  Value value{};
  if (function == nullptr || function(device, &value) != 0) return std::nullopt;
  return static_cast<int>(value);
}

std::optional<int> clock_of(const NvmlFunctions& nvml, nvml::Device device, int kind) {
  unsigned megahertz = 0;
  if (nvml.clock == nullptr || nvml.clock(device, kind, &megahertz) != 0) return std::nullopt;
  return static_cast<int>(megahertz);
}

GpuState state_of(const NvmlFunctions& nvml, nvml::Device device) {
  GpuState state;
  state.sm_clock_MHz = clock_of(nvml, device, nvml::kSmClock);
  state.memory_clock_MHz = clock_of(nvml, device, nvml::kMemoryClock);
  const auto generation = ask(nvml.generation, device);
  if (generation && *generation >= 1 && *generation <= 6) state.rate = static_cast<PcieRate>(*generation);
  state.width = ask(nvml.width, device);
  state.performance_state = ask(nvml.performance_state, device);
  return state;
}

}  // namespace

struct GpuWatch::Library {
  explicit Library(const std::string& file) : nvml(file) {}
  NvmlLibrary nvml;
  std::vector<nvml::Device> devices;  // of states_; null: not found
};

GpuWatch::GpuWatch(const std::vector<std::string>& bus_ids, const std::string& library)
    : library_(std::make_unique<Library>(library)) {
  for (const std::string& bus_id : bus_ids) states_.push_back({short_bus_id(bus_id), {}, {}, {}, {}, 0});
  library_->devices.resize(states_.size(), nullptr);
  if (!library_->nvml.problem().empty()) return;
  const NvmlFunctions& nvml = library_->nvml.functions();
  unsigned count = 0;
  if (nvml.device_count(&count) != 0) return;
  for (unsigned i = 0; i < std::min(count, nvml::kMostDevices); ++i) {
    nvml::Device device = nullptr;
    nvml::PciInfo pci{};
    if (nvml.device(i, &device) != 0 || nvml.pci_info(device, &pci) != 0) continue;
    const std::string bus_id = short_bus_id(
        std::string(std::begin(pci.bus_id), std::find(std::begin(pci.bus_id), std::end(pci.bus_id), '\0')));
    for (std::size_t each = 0; each < states_.size(); ++each) {
      if (states_[each].bus_id != bus_id) continue;
      library_->devices[each] = device;
      states_[each].before = state_of(nvml, device);
    }
  }
}

GpuWatch::~GpuWatch() = default;

void GpuWatch::look() {
  const auto now = std::chrono::steady_clock::now();
  if (last_ != std::chrono::steady_clock::time_point{} && now - last_ < kBetweenLooks) return;
  last_ = now;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (library_->devices[i] == nullptr) continue;
    GpuStates& states = states_[i];
    states.loaded = state_of(library_->nvml.functions(), library_->devices[i]);
    ++states.looks;
    const std::optional<int> clock = states.loaded.sm_clock_MHz;
    if (!clock) continue;
    states.sm_clock_MHz_min = std::min(states.sm_clock_MHz_min.value_or(*clock), *clock);
    states.sm_clock_MHz_max = std::max(states.sm_clock_MHz_max.value_or(*clock), *clock);
  }
}

}  // namespace lanecast
