#pragma once
#include <memory>

#include "hw/engine/copy_engines.hpp"

namespace lanecast {

/// @param device  CUDA's index, whatever the thread's current device is
std::unique_ptr<CopyEngines> open_cuda_copy_engines(int device);

}  // namespace lanecast
