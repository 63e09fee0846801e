// An all-reduce between the ranks of a job on one machine: mpirun -n 2 all_reduce, or torchrun, or srun.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <exception>
#include <vector>

#include "hw/engine/communicator.hpp"
#include "hw/engine/engine_device.hpp"
#include "hw/rendezvous/exchange.hpp"
#include "hw/rendezvous/launcher.hpp"
#include "model/error.hpp"

int main() try {
  using namespace lanecast;
  const LaunchedRank place = launched_rank().value_or(LaunchedRank{0, 1, 0, "alone", "alone"});
  int gpus = 0;
  if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0)
    throw Error(ErrorKind::no_hardware, "CUDA shows no GPU", "this machine", "run it where one is");
  const int gpu = place.local_rank % gpus;
  cudaSetDevice(gpu);

  const auto device = open_cuda_device(gpu);
  Communicator communicator(meet({place.job, place.rank, place.ranks}), *device);

  constexpr std::size_t kCount = 1'000'003;
  std::vector<float> host(kCount, static_cast<float>(place.rank + 1));
  void* input = nullptr;
  void* output = nullptr;
  cudaStream_t stream = nullptr;
  cudaMalloc(&input, kCount * sizeof(float));
  cudaMalloc(&output, kCount * sizeof(float));
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaMemcpyAsync(input, host.data(), kCount * sizeof(float), cudaMemcpyHostToDevice, stream);

  communicator.all_reduce(input, output, kCount, Datatype::float32, ReduceOp::sum, stream);
  communicator.synchronize(stream);  // throws if a rank is gone, late, or called something else

  cudaMemcpy(host.data(), output, kCount * sizeof(float), cudaMemcpyDeviceToHost);
  const float sum = static_cast<float>(place.ranks * (place.ranks + 1)) / 2;
  std::printf("rank %d of %d: %g, expected %g\n", place.rank, place.ranks, static_cast<double>(host.back()),
              static_cast<double>(sum));
  // cudaFree waits for the GPU: nobody's kernels should be waiting for this rank then
  communicator.barrier();
  cudaFree(input);
  cudaFree(output);
  cudaStreamDestroy(stream);
  return host.back() == sum ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
