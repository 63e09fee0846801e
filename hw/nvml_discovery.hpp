#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/link/pcie_rate.hpp"
#include "model/topology/machine.hpp"
#include "model/units.hpp"

namespace lanecast {

/// NVLinks of one GPU that are up and end at the same device.
struct NvmlNvlinks {
  bool to_switch = false;
  std::string remote_bus_id;  // of a GPU: "00000000:3B:00.0"
  int count = 0;
};

/// A GPU as NVIDIA's management library describes it. Absent: it does not say.
struct NvmlDevice {
  std::string bus_id;  // "00000000:3B:00.0"
  std::uint32_t vendor = 0;
  std::uint32_t device = 0;
  std::string name;
  std::optional<Bytes> memory;
  std::optional<Bytes> bar1;
  std::optional<PcieRate> rate;             // at this moment
  std::optional<int> width;                 // at this moment
  std::optional<PcieRate> device_max_rate;  // of the card, in whichever slot
  std::optional<PcieRate> max_rate;         // of the card in this slot
  std::optional<int> max_width;             // the same
  std::optional<int> performance_state;     // 0 is the fastest, 15 the most idle
  std::optional<std::uint64_t> replays;     // since reset
  std::vector<NvmlNvlinks> nvlinks;
  int nvlinks_down = 0;
  std::optional<int> nvlink_version;
  std::optional<BytesPerSecond> nvlink_rate;  // of one link, per direction
};

/// Two GPUs.
struct NvmlPair {
  std::optional<Distance> distance;  // by the PCIe tree, whether or not there are NVLinks
  std::optional<bool> peer_read;
};

/// All GPUs of the driver, in the order of nvidia-smi, also those that CUDA_VISIBLE_DEVICES hides.
struct NvmlDevices {
  std::string problem;  // why there are none; else empty
  std::string driver;   // "580.159.04"
  std::vector<NvmlDevice> devices;
  std::vector<std::vector<NvmlPair>> pairs;  // devices x devices
};

/// Never throws; what a call does not answer is left out. At most 64 GPUs with 36 NVLinks each.
///
/// @param library  file of the management library, which the driver brings
NvmlDevices discover_nvml_devices(const std::string& library = "libnvidia-ml.so.1");

}  // namespace lanecast
