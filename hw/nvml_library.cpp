#include "hw/nvml_library.hpp"

#include <dlfcn.h>

namespace lanecast {
namespace {

template <class Function>
void load(void* library, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, symbol));
}

/// Codes of nvmlReturn_t that users meet.
std::string problem_of(nvml::Return code) {
  switch (code) {
    case 4:
      return "NVIDIA's management library may not be used by this user";
    case 9:
      return "NVIDIA's driver is not loaded";
    case 18:
      return "NVIDIA's driver and its management library are of different versions; reboot";
    default:
      return "NVIDIA's management library does not start (NVML code " + std::to_string(code) + ")";
  }
}

}  // namespace

NvmlLibrary::NvmlLibrary(const std::string& file) {
  library_ = dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (library_ == nullptr) {
    problem_ = "NVIDIA's management library (" + file + ") is not installed";
    return;
  }
  load_functions();
  if (functions_.init == nullptr || functions_.shutdown == nullptr || functions_.device_count == nullptr ||
      functions_.device == nullptr || functions_.pci_info == nullptr) {
    problem_ = "NVIDIA's management library (" + file + ") is too old";
    return;
  }
  const nvml::Return code = functions_.init();
  initialised_ = code == 0;
  if (!initialised_) problem_ = problem_of(code);
}

NvmlLibrary::~NvmlLibrary() {
  if (initialised_) functions_.shutdown();
  if (library_ != nullptr) dlclose(library_);
}

void NvmlLibrary::load_functions() {
  load(library_, "nvmlInit_v2", functions_.init);
  load(library_, "nvmlShutdown", functions_.shutdown);
  load(library_, "nvmlSystemGetDriverVersion", functions_.driver_version);
  load(library_, "nvmlDeviceGetCount_v2", functions_.device_count);
  load(library_, "nvmlDeviceGetHandleByIndex_v2", functions_.device);
  load(library_, "nvmlDeviceGetPciInfo_v3", functions_.pci_info);
  load(library_, "nvmlDeviceGetName", functions_.name);
  load(library_, "nvmlDeviceGetMemoryInfo", functions_.memory);
  load(library_, "nvmlDeviceGetBAR1MemoryInfo", functions_.bar1);
  load(library_, "nvmlDeviceGetCurrPcieLinkGeneration", functions_.generation);
  load(library_, "nvmlDeviceGetCurrPcieLinkWidth", functions_.width);
  load(library_, "nvmlDeviceGetGpuMaxPcieLinkGeneration", functions_.device_max_generation);
  load(library_, "nvmlDeviceGetMaxPcieLinkGeneration", functions_.max_generation);
  load(library_, "nvmlDeviceGetMaxPcieLinkWidth", functions_.max_width);
  load(library_, "nvmlDeviceGetPerformanceState", functions_.performance_state);
  load(library_, "nvmlDeviceGetClockInfo", functions_.clock);
  load(library_, "nvmlDeviceGetPcieReplayCounter", functions_.replays);
  load(library_, "nvmlDeviceGetNvLinkState", functions_.nvlink_active);
  load(library_, "nvmlDeviceGetNvLinkVersion", functions_.nvlink_version);
  load(library_, "nvmlDeviceGetNvLinkRemotePciInfo_v2", functions_.nvlink_remote);
  load(library_, "nvmlDeviceGetNvLinkRemoteDeviceType", functions_.nvlink_remote_type);
  load(library_, "nvmlDeviceGetFieldValues", functions_.field_values);
  load(library_, "nvmlDeviceGetTopologyCommonAncestor", functions_.common_ancestor);
  load(library_, "nvmlDeviceGetP2PStatus", functions_.peer_status);
}

}  // namespace lanecast
