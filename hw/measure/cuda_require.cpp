#include "hw/measure/cuda_require.hpp"

#include "model/error.hpp"

namespace lanecast {
namespace {

std::string mend_of(cudaError_t error) {
  if (error == cudaErrorMemoryAllocation)
    return "end at a smaller size (-e), or close what else uses this GPU (`nvidia-smi` shows it)";
  if (error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver)
    return "run it where NVIDIA's driver and a GPU are";
  return "`dmesg` and `nvidia-smi -q` say whether the GPU has a fault";
}

}  // namespace

void require_cuda(cudaError_t error, const std::string& doing) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // the runtime keeps it for the next caller, else
  int device = -1;
  const bool known = cudaGetDevice(&device) == cudaSuccess;
  const bool absent = error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver;
  throw Error(absent ? ErrorKind::no_hardware : ErrorKind::runtime,
              "CUDA could not " + doing + ": " + cudaGetErrorString(error),
              known ? "GPU " + std::to_string(device) : "this machine", mend_of(error));
}

}  // namespace lanecast
