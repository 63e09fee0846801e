#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <type_traits>

#include "hw/measure/check.hpp"
#include "hw/measure/cuda_require.hpp"

namespace lanecast {

struct CheckTally {
  unsigned long long wrong;
  unsigned long long first;
  double got;
  unsigned long long got_integer;
};

namespace {

constexpr int kThreads = 256;
constexpr std::uint64_t kMostBlocks = 8192;

int blocks_for(std::uint64_t elements) {
  return static_cast<int>(std::min((elements + kThreads - 1) / kThreads, kMostBlocks));
}

/// An element as each type stores it: `store` from an Expectation, `load` as a number or as bits.
template <class T>
struct Element {
  static __device__ T stored(const Expectation& value) { return static_cast<T>(value.value); }
  static __device__ double number(T value) { return static_cast<double>(value); }
  static __device__ std::uint64_t bits(T) { return 0; }
};
template <>
struct Element<__half> {
  static __device__ __half stored(const Expectation& value) {
    return __float2half(static_cast<float>(value.value));
  }
  static __device__ double number(__half value) { return __half2float(value); }
  static __device__ std::uint64_t bits(__half) { return 0; }
};
template <>
struct Element<__nv_bfloat16> {
  static __device__ __nv_bfloat16 stored(const Expectation& value) {
    return __float2bfloat16(static_cast<float>(value.value));
  }
  static __device__ double number(__nv_bfloat16 value) { return __bfloat162float(value); }
  static __device__ std::uint64_t bits(__nv_bfloat16) { return 0; }
};
template <class T>
struct IntegerElement {
  static __device__ T stored(const Expectation& value) { return static_cast<T>(value.integer); }
  static __device__ double number(T) { return 0; }
  static __device__ std::uint64_t bits(T value) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  }
};
template <>
struct Element<std::int32_t> : IntegerElement<std::int32_t> {};
template <>
struct Element<std::int64_t> : IntegerElement<std::int64_t> {};
template <>
struct Element<std::uint8_t> : IntegerElement<std::uint8_t> {};

__device__ std::uint64_t first_element() {
  return static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ std::uint64_t all_threads() { return static_cast<std::uint64_t>(gridDim.x) * blockDim.x; }

template <class T>
__global__ void fill_values(T* to, ReferenceCall call, int rank, std::uint64_t elements) {
  for (std::uint64_t i = first_element(); i < elements; i += all_threads()) {
    to[i] = Element<T>::stored(input_value(call, rank, i));
  }
}

__device__ void count_wrong(CheckTally* tally, std::uint64_t element) {
  atomicAdd(&tally->wrong, 1ULL);
  atomicMin(&tally->first, static_cast<unsigned long long>(element));
}

template <class T>
__global__ void compare_values(const T* from, ReferenceCall call, int rank, std::uint64_t elements,
                               bool output, CheckTally* tally) {
  for (std::uint64_t i = first_element(); i < elements; i += all_threads()) {
    const Expectation expected = output ? output_value(call, rank, i) : input_value(call, rank, i);
    const T got = from[i];
    if (!is_right(call, expected, Element<T>::number(got), Element<T>::bits(got))) count_wrong(tally, i);
  }
}

__global__ void compare_bytes(const unsigned char* from, std::uint64_t bytes, CheckTally* tally) {
  for (std::uint64_t i = first_element(); i < bytes; i += all_threads()) {
    if (from[i] != kPoison) count_wrong(tally, i);
  }
}

template <class T>
__global__ void read_first(const T* from, CheckTally* tally) {
  tally->got = Element<T>::number(from[tally->first]);
  tally->got_integer = Element<T>::bits(from[tally->first]);
}

/// Calls `work` with a null pointer of the type's C++ type.
template <class Work>
void with_type(Datatype type, const Work& work) {
  switch (type) {
    case Datatype::float32:
      return work(static_cast<float*>(nullptr));
    case Datatype::float16:
      return work(static_cast<__half*>(nullptr));
    case Datatype::bfloat16:
      return work(static_cast<__nv_bfloat16*>(nullptr));
    case Datatype::float64:
      return work(static_cast<double*>(nullptr));
    case Datatype::int32:
      return work(static_cast<std::int32_t*>(nullptr));
    case Datatype::int64:
      return work(static_cast<std::int64_t*>(nullptr));
    case Datatype::uint8:
      return work(static_cast<std::uint8_t*>(nullptr));
  }
}

std::string text_of(const ReferenceCall& call, double number, std::uint64_t integer) {
  if (is_integer(call.type)) return std::to_string(static_cast<std::int64_t>(integer));
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", number);
  return text;
}

constexpr CheckTally kNothingWrong{0, ~0ULL, 0, 0};

void copy_tally(CheckTally* to, const CheckTally* from, cudaMemcpyKind kind, Stream stream) {
  require_cuda(cudaGetLastError(), "start the check");
  require_cuda(cudaMemcpyAsync(to, from, sizeof *to, kind, stream), "copy the check's counters");
  require_cuda(cudaStreamSynchronize(stream), "check the result");
}

/// Keeps the first message of all comparisons.
void add(WrongElements& found, std::uint64_t count, const std::string& first) {
  if (found.count == 0) found.first = first;
  found.count += count;
}

}  // namespace

ValueCheck::ValueCheck(Stream stream) : stream_(stream) {
  require_cuda(cudaMalloc(&tally_, sizeof(CheckTally)), "allocate the counters of the check");
}

ValueCheck::~ValueCheck() { cudaFree(tally_); }

void ValueCheck::fill_input(void* to, const ReferenceCall& call, int rank, std::uint64_t elements) {
  if (elements == 0) return;
  with_type(call.type, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    fill_values<<<blocks_for(elements), kThreads, 0, stream_>>>(static_cast<T*>(to), call, rank, elements);
  });
  require_cuda(cudaGetLastError(), "fill the input");
}

void ValueCheck::poison(void* to, std::uint64_t bytes) {
  require_cuda(cudaMemsetAsync(to, kPoison, bytes, stream_), "poison the output");
}

void ValueCheck::begin() { found_ = {}; }

void ValueCheck::compare_output(const void* from, const ReferenceCall& call, int rank,
                                std::uint64_t elements) {
  compare(from, call, rank, elements, true);
}

void ValueCheck::compare_input(const void* from, const ReferenceCall& call, int rank,
                               std::uint64_t elements) {
  compare(from, call, rank, elements, false);
}

void ValueCheck::compare(const void* from, const ReferenceCall& call, int rank, std::uint64_t elements,
                         bool output) {
  if (elements == 0) return;
  CheckTally tally = kNothingWrong;
  copy_tally(tally_, &tally, cudaMemcpyHostToDevice, stream_);
  with_type(call.type, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    const T* values = static_cast<const T*>(from);
    compare_values<<<blocks_for(elements), kThreads, 0, stream_>>>(values, call, rank, elements, output,
                                                                   tally_);
    copy_tally(&tally, tally_, cudaMemcpyDeviceToHost, stream_);
    if (tally.wrong == 0) return;
    read_first<<<1, 1, 0, stream_>>>(values, tally_);
    copy_tally(&tally, tally_, cudaMemcpyDeviceToHost, stream_);
  });
  if (tally.wrong == 0) return;
  const Expectation expected =
      output ? output_value(call, rank, tally.first) : input_value(call, rank, tally.first);
  add(found_, tally.wrong,
      "element " + std::to_string(tally.first) + " of the " + (output ? "output" : "input") + " is " +
          text_of(call, tally.got, tally.got_integer) + ", not " +
          text_of(call, expected.value, expected.integer));
}

void ValueCheck::compare_poison(const void* from, std::uint64_t bytes, const std::string& what) {
  if (bytes == 0) return;
  CheckTally tally = kNothingWrong;
  copy_tally(tally_, &tally, cudaMemcpyHostToDevice, stream_);
  compare_bytes<<<blocks_for(bytes), kThreads, 0, stream_>>>(static_cast<const unsigned char*>(from), bytes,
                                                             tally_);
  copy_tally(&tally, tally_, cudaMemcpyDeviceToHost, stream_);
  if (tally.wrong != 0) add(found_, tally.wrong, "byte " + std::to_string(tally.first) + " " + what);
}

}  // namespace lanecast
