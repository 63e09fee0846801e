#pragma once
#include <cuda_runtime_api.h>

#include <string>

namespace lanecast {

/// Goes on where the call succeeded.
/// @param doing  completes "CUDA could not ...": "allocate 8 MiB for the input"
/// @throws Error  kind runtime, naming the current GPU; kind no_hardware where there is none
void require_cuda(cudaError_t error, const std::string& doing);

}  // namespace lanecast
