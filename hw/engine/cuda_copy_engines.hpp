#pragma once
#include <memory>

#include "hw/engine/copy_engines.hpp"

namespace lanecast {

/// @param device  CUDA's index; the thread's current device
std::unique_ptr<CopyEngines> open_cuda_copy_engines(int device);

}  // namespace lanecast
