// Compiled once for each protocol and type: LANECAST_KERNEL_PROTOCOL and LANECAST_KERNEL_TYPE are
// enumerators.
#include "hw/kernels/collective_kernel.cuh"
#include "hw/kernels/kernel_table.hpp"

namespace lanecast::device {
namespace {

template <Datatype Type>
struct ElementOf;
template <>
struct ElementOf<Datatype::float32> {
  using type = float;
};
template <>
struct ElementOf<Datatype::float16> {
  using type = __half;
};
template <>
struct ElementOf<Datatype::bfloat16> {
  using type = __nv_bfloat16;
};
template <>
struct ElementOf<Datatype::float64> {
  using type = double;
};
template <>
struct ElementOf<Datatype::int32> {
  using type = std::int32_t;
};
template <>
struct ElementOf<Datatype::int64> {
  using type = std::int64_t;
};
template <>
struct ElementOf<Datatype::uint8> {
  using type = std::uint8_t;
};

constexpr Protocol kProtocol = Protocol::LANECAST_KERNEL_PROTOCOL;
constexpr Datatype kType = Datatype::LANECAST_KERNEL_TYPE;
using Element = ElementOf<kType>::type;

template <bool Sum>
const void* of_shape(KernelShape shape) {
  switch (shape) {
    case KernelShape::ring:
      return reinterpret_cast<const void*>(&collective_kernel<kProtocol, Element, Sum, KernelShape::ring>);
    case KernelShape::one_shot:
      return reinterpret_cast<const void*>(
          &collective_kernel<kProtocol, Element, Sum, KernelShape::one_shot>);
    case KernelShape::any:
      break;
  }
  return reinterpret_cast<const void*>(&collective_kernel<kProtocol, Element, Sum, KernelShape::any>);
}

}  // namespace

template <>
const void* kernel_of<kProtocol, kType>(ReduceOp op, KernelShape shape) {
  return op == ReduceOp::sum || op == ReduceOp::avg ? of_shape<true>(shape) : of_shape<false>(shape);
}

}  // namespace lanecast::device
