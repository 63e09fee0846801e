#pragma once
#include <memory>
#include <string>

namespace lanecast {

/// NVIDIA's management library, as much of it as discovery asks. The driver brings it and the CUDA toolkit
/// has no header for it on every system: these declarations are our own. Source: NVIDIA's NVML API reference
/// (docs.nvidia.com/deploy/nvml-api).
namespace nvml {

struct DeviceHandle;  // opaque
using Device = DeviceHandle*;
using Return = int;  // 0 is success

struct PciInfo {
  char bus_id_legacy[16];
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned pci_device_id;  // device's number in the upper half, vendor's in the lower
  unsigned pci_subsystem_id;
  char bus_id[32];
};

struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

struct FieldValue {
  unsigned field;
  unsigned scope;
  long long timestamp;
  long long latency;
  int value_type;
  Return result;
  union {
    unsigned as_unsigned;
    unsigned long long as_long;
  } value;
};

constexpr int kSmClock = 1;                // NVML_CLOCK_SM
constexpr int kMemoryClock = 2;            // NVML_CLOCK_MEM
constexpr int kTypeUnsigned = 1;           // NVML_VALUE_TYPE_UNSIGNED_INT
constexpr unsigned kNvlinkMegabytes = 90;  // NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON
constexpr int kRemoteGpu = 0;              // NVML_NVLINK_DEVICE_TYPE_GPU
constexpr int kRemoteSwitch = 2;           // NVML_NVLINK_DEVICE_TYPE_SWITCH
constexpr int kReadCapability = 0;         // NVML_P2P_CAPS_INDEX_READ
constexpr int kPeerOk = 0;                 // NVML_P2P_STATUS_OK
constexpr unsigned kMostNvlinks = 36;      // asked for of each GPU; H100 and B200 have 18
constexpr unsigned kMostDevices = 64;

}  // namespace nvml

/// The library's functions; those that an old driver lacks are null.
struct NvmlFunctions {
  nvml::Return (*init)() = nullptr;
  nvml::Return (*shutdown)() = nullptr;
  nvml::Return (*driver_version)(char*, unsigned) = nullptr;
  nvml::Return (*device_count)(unsigned*) = nullptr;
  nvml::Return (*device)(unsigned, nvml::Device*) = nullptr;
  nvml::Return (*pci_info)(nvml::Device, nvml::PciInfo*) = nullptr;
  nvml::Return (*name)(nvml::Device, char*, unsigned) = nullptr;
  nvml::Return (*memory)(nvml::Device, nvml::Memory*) = nullptr;
  nvml::Return (*bar1)(nvml::Device, nvml::Memory*) = nullptr;
  nvml::Return (*generation)(nvml::Device, unsigned*) = nullptr;
  nvml::Return (*width)(nvml::Device, unsigned*) = nullptr;
  nvml::Return (*device_max_generation)(nvml::Device, unsigned*) = nullptr;
  nvml::Return (*max_generation)(nvml::Device, unsigned*) = nullptr;
  nvml::Return (*max_width)(nvml::Device, unsigned*) = nullptr;
  nvml::Return (*performance_state)(nvml::Device, int*) = nullptr;
  nvml::Return (*clock)(nvml::Device, int, unsigned*) = nullptr;
  nvml::Return (*replays)(nvml::Device, unsigned*) = nullptr;
  nvml::Return (*nvlink_active)(nvml::Device, unsigned, int*) = nullptr;
  nvml::Return (*nvlink_version)(nvml::Device, unsigned, unsigned*) = nullptr;
  nvml::Return (*nvlink_remote)(nvml::Device, unsigned, nvml::PciInfo*) = nullptr;
  nvml::Return (*nvlink_remote_type)(nvml::Device, unsigned, int*) = nullptr;
  nvml::Return (*field_values)(nvml::Device, int, nvml::FieldValue*) = nullptr;
  nvml::Return (*common_ancestor)(nvml::Device, nvml::Device, int*) = nullptr;
  nvml::Return (*peer_status)(nvml::Device, nvml::Device, int, int*) = nullptr;
};

/// The library, loaded and initialised; shut down and unloaded at the end.
class NvmlLibrary {
 public:
  /// @param file  "libnvidia-ml.so.1"
  explicit NvmlLibrary(const std::string& file);
  ~NvmlLibrary();
  NvmlLibrary(const NvmlLibrary&) = delete;
  NvmlLibrary& operator=(const NvmlLibrary&) = delete;

  /// Why it cannot be used; empty where it can.
  const std::string& problem() const { return problem_; }
  const NvmlFunctions& functions() const { return functions_; }

 private:
  void load_functions();

  void* library_ = nullptr;
  bool initialised_ = false;
  std::string problem_;
  NvmlFunctions functions_;
};

}  // namespace lanecast
