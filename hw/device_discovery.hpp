#pragma once
#include <optional>
#include <string>
#include <vector>

#include "model/units.hpp"

namespace lanecast {

/// A GPU as CUDA's runtime describes it.
struct CudaDevice {
  std::string bus_id;  // "0000:3B:00.0"
  std::string name;
  int sm = 0;  // compute capability x 10
  Bytes memory{0};
  Bytes l2{0};
};

/// What CUDA says about accesses of one GPU to another's memory.
struct CudaPair {
  bool access = false;
  std::optional<int> performance_rank;  // lower is better; only to be compared within a machine
  std::optional<bool> native_atomics;
};

/// The GPUs that CUDA shows to this process: CUDA_VISIBLE_DEVICES may hide some, and changes their order.
struct CudaDevices {
  std::string problem;  // why there are none: no GPU, no driver, an old driver; else empty
  std::vector<CudaDevice> devices;
  std::vector<std::vector<CudaPair>> pairs;  // devices x devices, from row to column
};

/// Never throws, and creates no context: nothing is left on the GPUs.
CudaDevices discover_cuda_devices();

}  // namespace lanecast
