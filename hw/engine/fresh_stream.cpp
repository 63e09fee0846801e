#include "hw/engine/fresh_stream.hpp"

#include <cuda_runtime_api.h>

#include <mutex>

#include "hw/kernels/copy_kernels.hpp"

namespace lanecast {

int make_stream(CUstream_st** stream, int priority) {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  int code = cudaStreamCreateWithPriority(stream, cudaStreamNonBlocking, priority);
  if (code == 0) code = launch_nothing(*stream);
  return code == 0 ? cudaStreamSynchronize(*stream) : code;
}

}  // namespace lanecast
