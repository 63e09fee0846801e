#include "hw/engine/cuda_check.hpp"

#include <cuda_runtime_api.h>

#include "model/error.hpp"

namespace lanecast {

std::string cuda_words(int code) {
  const auto error = static_cast<cudaError_t>(code);
  cudaGetLastError();  // the runtime keeps it for the next caller, else
  return std::string(cudaGetErrorString(error)) + " (" + cudaGetErrorName(error) + ")";
}

void check_cuda(int code, const std::string& what, const std::string& where, const std::string& mend) {
  if (code == cudaSuccess) return;
  throw Error(ErrorKind::runtime, "can't " + what + ": " + cuda_words(code), where, mend);
}

}  // namespace lanecast
