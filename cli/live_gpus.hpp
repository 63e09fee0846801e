#pragma once
#include <vector>

#include "configs/dumps/facts.hpp"
#include "hw/device_discovery.hpp"
#include "hw/nvml_discovery.hpp"

namespace lanecast {

/// Adds what NVIDIA's management library and CUDA say about the GPUs of this machine.
///
/// @param busy  by CUDA's index: whether the GPU was kept awake meanwhile
void add_live_gpus(const std::vector<bool>& busy, MachineFacts& facts);

/// The same from what was asked already. Links as sysfs states them stay: the two are read at different
/// moments.
void add_nvml_facts(const NvmlDevices& found, MachineFacts& facts);
void add_cuda_facts(const CudaDevices& found, const std::vector<bool>& busy, MachineFacts& facts);

}  // namespace lanecast
