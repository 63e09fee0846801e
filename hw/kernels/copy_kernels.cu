#include <cuda_runtime.h>

#include "hw/kernels/copy_kernels.hpp"
#include "hw/kernels/elements_device.cuh"
#include "hw/kernels/wait_device.cuh"

namespace lanecast {
namespace {

using device::BlockTrouble;
using device::BoundedWait;

__global__ void wait_kernel(const __grid_constant__ KernelCall call, const __grid_constant__ CopyWait what) {
  __shared__ BlockTrouble trouble;
  trouble.gave_up = device::load_flag(call.broken) != 0 ? 1 : 0;
  const BoundedWait wait(call, trouble);
  if (wait.gave_up()) return;
  const std::uint64_t value = *what.base + what.relative;
  const device::Place place{what.channel, what.step, what.slice, what.loop};
  wait.until([&] { return device::load_counter(what.counter) >= value; },
             static_cast<KernelFault::What>(what.what), what.peer, place);
}

__global__ void post_kernel(std::uint64_t* counter, const std::uint64_t* base, std::uint64_t relative,
                            const std::uint32_t* broken) {
  if (device::load_flag(broken) != 0) return;
  device::fence_system();
  device::store_counter(counter, *base + relative);
}

__global__ void request_kernel(const __grid_constant__ CopyRequest request, const std::uint32_t* broken) {
  if (device::load_flag(broken) != 0) return;
  const std::uint64_t epoch = *request.epoch + 1;
  *request.epoch = epoch;
  device::fence_system();
  device::store_counter(request.word, epoch << 32 | request.job);
}

__global__ void advance_kernel(const __grid_constant__ BaseAdvance advance) {
  const int i = static_cast<int>(threadIdx.x);
  if (i < advance.count) advance.bases[i] += advance.by[i];
}

template <class T>
__device__ void combine_element(ReduceOp op, T* to, const T* first, const T* second, std::uint64_t at,
                                int finish_ranks) {
  T value = device::combined(first[at], second[at], op);
  if (finish_ranks > 0) value = device::divided(value, finish_ranks);
  to[at] = value;
}

template <class T, ReduceOp Op>
__device__ device::Pack combined_packs(const device::Pack& a, const device::Pack& b, int finish_ranks) {
  device::Pack sum{device::combine_words<T, Op>(a.low, b.low), device::combine_words<T, Op>(a.high, b.high)};
  if (finish_ranks > 0) {
    sum.low = device::divide_word<T>(sum.low, finish_ranks);
    sum.high = device::divide_word<T>(sum.high, finish_ranks);
  }
  return sum;
}

template <class T, ReduceOp Op>
__global__ void combine_kernel(T* to, const T* first, const T* second, std::uint64_t count,
                               int finish_ranks) {
  const std::uint64_t thread = blockIdx.x * static_cast<std::uint64_t>(blockDim.x) + threadIdx.x;
  const std::uint64_t threads = gridDim.x * static_cast<std::uint64_t>(blockDim.x);
  const bool aligned =
      device::is_aligned(to, 16) && device::is_aligned(first, 16) && device::is_aligned(second, 16);
  constexpr std::uint64_t kPerPack = 16 / sizeof(T);
  const std::uint64_t packs = aligned ? count / kPerPack : 0;
  for (std::uint64_t i = thread; i < packs; i += threads) {
    const auto a = reinterpret_cast<const device::Pack*>(first)[i];
    const auto b = reinterpret_cast<const device::Pack*>(second)[i];
    reinterpret_cast<device::Pack*>(to)[i] = combined_packs<T, Op>(a, b, finish_ranks);
  }
  for (std::uint64_t i = packs * kPerPack + thread; i < count; i += threads)
    combine_element(Op, to, first, second, i, finish_ranks);
}

template <class T, ReduceOp Op>
void start_combine(void* to, const void* first, const void* second, std::uint64_t count, int finish_ranks,
                   cudaStream_t stream) {
  constexpr int kThreads = 512;
  const std::uint64_t wanted = count * sizeof(T) / (16 * kThreads) + 1;
  const auto blocks = static_cast<unsigned>(wanted < 64 ? wanted : 64);
  combine_kernel<T, Op><<<blocks, kThreads, 0, stream>>>(static_cast<T*>(to), static_cast<const T*>(first),
                                                         static_cast<const T*>(second), count, finish_ranks);
}

template <class T>
void start_combine(ReduceOp op, void* to, const void* first, const void* second, std::uint64_t count,
                   int finish_ranks, cudaStream_t stream) {
  switch (op) {
    case ReduceOp::prod:
      return start_combine<T, ReduceOp::prod>(to, first, second, count, 0, stream);
    case ReduceOp::max:
      return start_combine<T, ReduceOp::max>(to, first, second, count, 0, stream);
    case ReduceOp::min:
      return start_combine<T, ReduceOp::min>(to, first, second, count, 0, stream);
    case ReduceOp::sum:
      return start_combine<T, ReduceOp::sum>(to, first, second, count, 0, stream);
    case ReduceOp::avg:
      return start_combine<T, ReduceOp::sum>(to, first, second, count, finish_ranks, stream);
  }
}

template <class... Kernels>
int load_kernels(Kernels*... kernels) {
  cudaFuncAttributes attributes{};
  int code = 0;
  for (const cudaError_t each : {cudaFuncGetAttributes(&attributes, kernels)...})
    code = code == 0 ? each : code;
  return code;
}

template <class T>
int load_combine() {
  return load_kernels(&combine_kernel<T, ReduceOp::sum>, &combine_kernel<T, ReduceOp::prod>,
                      &combine_kernel<T, ReduceOp::max>, &combine_kernel<T, ReduceOp::min>);
}

__device__ std::uint64_t word_of(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t word = seed + (index + 1) * 0x9e3779b97f4a7c15ull;  // splitmix64
  word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9ull;
  word = (word ^ word >> 27) * 0x94d049bb133111ebull;
  return word ^ word >> 31;
}

__global__ void nothing_kernel() {}

__global__ void store_words_kernel(std::uint64_t* to, std::uint64_t seed, std::size_t count) {
  for (std::size_t i = threadIdx.x; i < count; i += blockDim.x)
    device::store_counter(to + i, word_of(seed, i));
  device::fence_system();
}

__global__ void compare_words_kernel(const std::uint64_t* at, std::uint64_t seed, std::size_t count,
                                     std::uint32_t* wrong) {
  for (std::size_t i = threadIdx.x; i < count; i += blockDim.x) {
    if (device::load_counter(at + i) != word_of(seed, i)) atomicAdd(wrong, 1u);
  }
}

}  // namespace

int load_copy_kernels() {
  int first = 0;
  for (const int code :
       {load_kernels(&wait_kernel, &request_kernel, &post_kernel, &advance_kernel), load_combine<float>(),
        load_combine<__half>(), load_combine<__nv_bfloat16>(), load_combine<double>(),
        load_combine<std::int32_t>(), load_combine<std::int64_t>(), load_combine<std::uint8_t>()})
    first = first == 0 ? code : first;
  return first;
}

int launch_copy_wait(const KernelCall& call, const CopyWait& wait, CUstream_st* stream) {
  wait_kernel<<<1, 1, 0, stream>>>(call, wait);
  return cudaGetLastError();
}

int launch_copy_request(const CopyRequest& request, const std::uint32_t* broken, CUstream_st* stream) {
  request_kernel<<<1, 1, 0, stream>>>(request, broken);
  return cudaGetLastError();
}

int launch_copy_post(std::uint64_t* counter, const std::uint64_t* base, std::uint64_t relative,
                     const std::uint32_t* broken, CUstream_st* stream) {
  post_kernel<<<1, 1, 0, stream>>>(counter, base, relative, broken);
  return cudaGetLastError();
}

int launch_advance(const BaseAdvance& advance, CUstream_st* stream) {
  advance_kernel<<<1, 2 * kMostEngineChannels, 0, stream>>>(advance);
  return cudaGetLastError();
}

int launch_combine(Datatype type, ReduceOp op, void* to, const void* first, const void* second,
                   std::uint64_t count, int finish_ranks, CUstream_st* stream) {
  switch (type) {
    case Datatype::float32:
      start_combine<float>(op, to, first, second, count, finish_ranks, stream);
      break;
    case Datatype::float16:
      start_combine<__half>(op, to, first, second, count, finish_ranks, stream);
      break;
    case Datatype::bfloat16:
      start_combine<__nv_bfloat16>(op, to, first, second, count, finish_ranks, stream);
      break;
    case Datatype::float64:
      start_combine<double>(op, to, first, second, count, finish_ranks, stream);
      break;
    case Datatype::int32:
      start_combine<std::int32_t>(op, to, first, second, count, finish_ranks, stream);
      break;
    case Datatype::int64:
      start_combine<std::int64_t>(op, to, first, second, count, finish_ranks, stream);
      break;
    case Datatype::uint8:
      start_combine<std::uint8_t>(op, to, first, second, count, finish_ranks, stream);
      break;
  }
  return cudaGetLastError();
}

int launch_nothing(CUstream_st* stream) {
  nothing_kernel<<<1, 32, 0, stream>>>();
  return cudaGetLastError();
}

int launch_store_words(std::uint64_t* to, std::uint64_t seed, std::size_t count, CUstream_st* stream) {
  store_words_kernel<<<1, 256, 0, stream>>>(to, seed, count);
  return cudaGetLastError();
}

int launch_compare_words(const std::uint64_t* at, std::uint64_t seed, std::size_t count, std::uint32_t* wrong,
                         CUstream_st* stream) {
  compare_words_kernel<<<1, 256, 0, stream>>>(at, seed, count, wrong);
  return cudaGetLastError();
}

}  // namespace lanecast
