#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "model/predict/call.hpp"

namespace lanecast::support {

inline constexpr std::array all_datatypes = {Datatype::float32, Datatype::float16, Datatype::bfloat16,
                                             Datatype::float64, Datatype::int32,   Datatype::int64,
                                             Datatype::uint8};
inline constexpr std::array all_reduce_ops = {ReduceOp::sum, ReduceOp::prod, ReduceOp::max, ReduceOp::min,
                                              ReduceOp::avg};

/// IEEE binary16, kept as bits.
struct Half {
  std::uint16_t bits = 0;
};

/// The upper half of a binary32, kept as bits.
struct Bfloat16 {
  std::uint16_t bits = 0;
};

float to_float(Half value);
float to_float(Bfloat16 value);
/// Both round to nearest, ties to even; what is too large becomes infinity; a NaN stays a (quiet) NaN.
Half half_from_float(float value);
Bfloat16 bfloat16_from_float(float value);

/// Calls `visit` with a default value of the C++ type that holds `type`.
template <class Visit>
decltype(auto) visit_datatype(Datatype type, Visit visit) {
  switch (type) {
    case Datatype::float32:
      return visit(float{});
    case Datatype::float16:
      return visit(Half{});
    case Datatype::bfloat16:
      return visit(Bfloat16{});
    case Datatype::float64:
      return visit(double{});
    case Datatype::int32:
      return visit(std::int32_t{});
    case Datatype::int64:
      return visit(std::int64_t{});
    case Datatype::uint8:
      break;
  }
  return visit(std::uint8_t{});
}

/// What a ring does to elements, for one type and operation. Pointers need no alignment.
struct ElementKernel {
  /// accumulated[i] = accumulated[i] (op) own[i]; integers wrap; 16-bit floats round after every operation.
  void (*combine)(std::byte* accumulated, const std::byte* own, std::size_t count);
  /// Post-op of the finished value: avg divides by the ranks (integers towards zero), the others do nothing.
  void (*finish)(std::byte* accumulated, std::size_t count, int ranks);
};

/// avg is a sum with a division at the end for every type. (NCCL does so for integers; it scales floats by
/// 1/ranks before it adds, src/enqueue.cc hostToDevRedOp, which can differ in the last bits.)
ElementKernel element_kernel(Datatype type, ReduceOp op);

}  // namespace lanecast::support
