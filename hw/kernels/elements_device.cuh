#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstddef>
#include <cstdint>

#include "model/predict/call.hpp"

/// Sums and the like on words of 8 bytes that hold as many elements as fit; and words from user buffers of
/// any alignment.
namespace lanecast::device {

template <class T>
__device__ inline T combined(T a, T b, ReduceOp op) {
  if (op == ReduceOp::prod) return a * b;
  if (op == ReduceOp::max) return a > b ? a : b;
  if (op == ReduceOp::min) return a < b ? a : b;
  return a + b;
}
template <>
__device__ inline float combined(float a, float b, ReduceOp op) {
  if (op == ReduceOp::prod) return a * b;
  if (op == ReduceOp::max) return fmaxf(a, b);
  if (op == ReduceOp::min) return fminf(a, b);
  return a + b;
}
template <>
__device__ inline double combined(double a, double b, ReduceOp op) {
  if (op == ReduceOp::prod) return a * b;
  if (op == ReduceOp::max) return fmax(a, b);
  if (op == ReduceOp::min) return fmin(a, b);
  return a + b;
}
// One operation on float and one rounding give what the 16-bit operation gives.
template <>
__device__ inline __half combined(__half a, __half b, ReduceOp op) {
  return __float2half_rn(combined(__half2float(a), __half2float(b), op));
}
template <>
__device__ inline __nv_bfloat16 combined(__nv_bfloat16 a, __nv_bfloat16 b, ReduceOp op) {
  return __float2bfloat16_rn(combined(__bfloat162float(a), __bfloat162float(b), op));
}

/// Divides a finished sum: integers towards zero.
template <class T>
__device__ inline T divided(T sum, int ranks) {
  return static_cast<T>(sum / static_cast<T>(ranks));
}
template <>
__device__ inline __half divided(__half sum, int ranks) {
  return __float2half_rn(__half2float(sum) / static_cast<float>(ranks));
}
template <>
__device__ inline __nv_bfloat16 divided(__nv_bfloat16 sum, int ranks) {
  return __float2bfloat16_rn(__bfloat162float(sum) / static_cast<float>(ranks));
}

/// The elements of a word.
template <class T>
union Elements {
  static constexpr int count = static_cast<int>(8 / sizeof(T));
  std::uint64_t word;
  T at[count];
  __device__ explicit Elements(std::uint64_t bits) : word(bits) {}
};

template <class T, ReduceOp Op>
__device__ inline std::uint64_t combine_words(std::uint64_t a, std::uint64_t b) {
  Elements<T> left(a);
  const Elements<T> right(b);
#pragma unroll
  for (int i = 0; i < Elements<T>::count; ++i) left.at[i] = combined(left.at[i], right.at[i], Op);
  return left.word;
}

template <class T>
__device__ inline std::uint64_t divide_word(std::uint64_t sums, int ranks) {
  Elements<T> elements(sums);
#pragma unroll
  for (int i = 0; i < Elements<T>::count; ++i) elements.at[i] = divided(elements.at[i], ranks);
  return elements.word;
}

/// An unsigned integer as large as an element: how data are moved where nothing is computed.
template <std::size_t Size>
struct BitsOf;
template <>
struct BitsOf<1> {
  using type = std::uint8_t;
};
template <>
struct BitsOf<2> {
  using type = std::uint16_t;
};
template <>
struct BitsOf<4> {
  using type = std::uint32_t;
};
template <>
struct BitsOf<8> {
  using type = std::uint64_t;
};

__device__ inline bool is_aligned(const void* pointer, std::uint64_t to) {
  return reinterpret_cast<std::uint64_t>(pointer) % to == 0;
}

/// `bytes` (1 to 8, whole elements of `Size`) as the low end of a word.
template <std::size_t Size>
__device__ inline std::uint64_t load_word(const std::byte* from, std::uint64_t bytes, bool aligned) {
  if (aligned && bytes >= 8) return *reinterpret_cast<const std::uint64_t*>(from);
  using Bits = typename BitsOf<Size>::type;
  std::uint64_t word = 0;
  for (std::uint64_t i = 0; i < bytes && i < 8; i += Size)
    word |= static_cast<std::uint64_t>(*reinterpret_cast<const Bits*>(from + i)) << (8 * i);
  return word;
}

template <std::size_t Size>
__device__ inline void store_word(std::byte* to, std::uint64_t word, std::uint64_t bytes, bool aligned) {
  if (aligned && bytes >= 8) {
    *reinterpret_cast<std::uint64_t*>(to) = word;
    return;
  }
  using Bits = typename BitsOf<Size>::type;
  for (std::uint64_t i = 0; i < bytes && i < 8; i += Size)
    *reinterpret_cast<Bits*>(to + i) = static_cast<Bits>(word >> (8 * i));
}

}  // namespace lanecast::device
