#include "tests/support/element.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

namespace lanecast::support {
namespace {

template <class T>
constexpr bool is_narrow_float = std::is_same_v<T, Half> || std::is_same_v<T, Bfloat16>;

/// The type that arithmetic is done in: one rounding to T follows each operation. A binary32 sum or product
/// of two 16-bit floats rounds to the same 16-bit value as the exact one (24 >= 2 * 11 + 2 bits).
template <class T>
auto widen(T value) {
  if constexpr (is_narrow_float<T>) {
    return to_float(value);
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<std::uint64_t>(value);  // unsigned: wraps instead of overflowing
  } else {
    return value;
  }
}

template <class T, class Wide>
T narrow(Wide value) {
  if constexpr (std::is_same_v<T, Half>) {
    return half_from_float(value);
  } else if constexpr (std::is_same_v<T, Bfloat16>) {
    return bfloat16_from_float(value);
  } else {
    return static_cast<T>(value);
  }
}

template <class T>
bool less(T a, T b) {
  if constexpr (is_narrow_float<T>) {
    return to_float(a) < to_float(b);
  } else {
    return a < b;
  }
}

template <class T, ReduceOp op>
T apply(T a, T b) {
  if constexpr (op == ReduceOp::prod) return narrow<T>(widen(a) * widen(b));
  if constexpr (op == ReduceOp::max) return less(a, b) ? b : a;
  if constexpr (op == ReduceOp::min) return less(b, a) ? b : a;
  return narrow<T>(widen(a) + widen(b));
}

template <class T, ReduceOp op>
void combine(std::byte* accumulated, const std::byte* own, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    T a;
    T b;
    std::memcpy(&a, accumulated + i * sizeof(T), sizeof(T));
    std::memcpy(&b, own + i * sizeof(T), sizeof(T));
    a = apply<T, op>(a, b);
    std::memcpy(accumulated + i * sizeof(T), &a, sizeof(T));
  }
}

template <class T>
T divide(T value, int ranks) {
  if constexpr (is_narrow_float<T>) {
    return narrow<T>(to_float(value) / static_cast<float>(ranks));
  } else {
    return static_cast<T>(value / static_cast<T>(ranks));
  }
}

template <class T, ReduceOp op>
void finish(std::byte* accumulated, std::size_t count, int ranks) {
  if constexpr (op == ReduceOp::avg) {
    for (std::size_t i = 0; i < count; ++i) {
      T value;
      std::memcpy(&value, accumulated + i * sizeof(T), sizeof(T));
      value = divide(value, ranks);
      std::memcpy(accumulated + i * sizeof(T), &value, sizeof(T));
    }
  }
}

template <class T, ReduceOp op>
constexpr ElementKernel kernel_of = {combine<T, op>, finish<T, op>};

}  // namespace

float to_float(Half value) {
  const std::uint32_t sign = static_cast<std::uint32_t>(value.bits & 0x8000U) << 16;
  const std::uint32_t rest = value.bits & 0x7fffU;
  if (rest < 0x0400U) {  // zero or subnormal: a multiple of 2^-24
    const float magnitude = static_cast<float>(rest) * 0x1p-24F;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign);
  }
  const std::uint32_t exponent_shift =
      rest >= 0x7c00U ? 0x70000000U : 0x38000000U;  // inf and NaN, or rebias by 112
  return std::bit_cast<float>(sign | ((rest << 13) + exponent_shift));
}

float to_float(Bfloat16 value) { return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16); }

Half half_from_float(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  std::uint32_t rest = 0;
  if (magnitude >= 0x47800000U) {  // 65536 and above
    rest = magnitude > 0x7f800000U ? 0x7e00U : 0x7c00U;
  } else if (magnitude <
             0x38800000U) {  // below 2^-14: an ulp of 0.5 is the subnormal step, so the adder rounds
    rest = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - 0x3f000000U;
  } else {
    const std::uint32_t tie_to_even = (magnitude >> 13) & 1U;
    rest = (magnitude - 0x38000000U + 0xfffU + tie_to_even) >> 13;
  }
  return Half{static_cast<std::uint16_t>(sign | rest)};
}

Bfloat16 bfloat16_from_float(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return Bfloat16{static_cast<std::uint16_t>((bits >> 16) | 0x40U)};
  const std::uint32_t tie_to_even = (bits >> 16) & 1U;
  return Bfloat16{static_cast<std::uint16_t>((bits + 0x7fffU + tie_to_even) >> 16)};
}

ElementKernel element_kernel(Datatype type, ReduceOp op) {
  return visit_datatype(type, [op](auto zero) -> ElementKernel {
    using T = decltype(zero);
    switch (op) {
      case ReduceOp::sum:
        return kernel_of<T, ReduceOp::sum>;
      case ReduceOp::prod:
        return kernel_of<T, ReduceOp::prod>;
      case ReduceOp::max:
        return kernel_of<T, ReduceOp::max>;
      case ReduceOp::min:
        return kernel_of<T, ReduceOp::min>;
      case ReduceOp::avg:
        break;
    }
    return kernel_of<T, ReduceOp::avg>;
  });
}

}  // namespace lanecast::support
