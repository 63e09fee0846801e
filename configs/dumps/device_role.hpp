#pragma once
#include <string>

#include "configs/dumps/facts.hpp"

namespace lanecast {

enum class DeviceRole {
  gpu,
  nvswitch,
  adapter,  // of a network
  bridge,
  other,
  unknown,  // no dump says what it is
};

/// Whether a dump speaks of it as of a GPU: nvidia-smi or NCCL number it or name its model.
bool is_stated_gpu(const PciFacts& facts);

/// What a PCI function is: by what dumps say of it as a GPU or adapter, by its class and vendor, and where
/// neither is stated (`lspci -tv`) by its name.
///
/// GPUs are display and accelerator functions of NVIDIA and AMD, and Intel's without a display (class 0380):
/// the VGA functions of management controllers and of emulators are not.
DeviceRole role_of(const PciFacts& facts);

/// "nvidia", "amd", "intel"; "" where neither vendor nor name tells.
std::string gpu_vendor(const PciFacts& facts);

}  // namespace lanecast
