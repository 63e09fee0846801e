#include "hw/kernels/kernel_table.hpp"

namespace lanecast {
namespace {

template <Protocol P>
const void* of_type(Datatype type, ReduceOp op, KernelShape shape) {
  switch (type) {
    case Datatype::float16:
      return device::kernel_of<P, Datatype::float16>(op, shape);
    case Datatype::bfloat16:
      return device::kernel_of<P, Datatype::bfloat16>(op, shape);
    case Datatype::float64:
      return device::kernel_of<P, Datatype::float64>(op, shape);
    case Datatype::int32:
      return device::kernel_of<P, Datatype::int32>(op, shape);
    case Datatype::int64:
      return device::kernel_of<P, Datatype::int64>(op, shape);
    case Datatype::uint8:
      return device::kernel_of<P, Datatype::uint8>(op, shape);
    case Datatype::float32:
      break;
  }
  return device::kernel_of<P, Datatype::float32>(op, shape);
}

}  // namespace

const void* collective_kernel_for(Protocol protocol, Datatype type, ReduceOp op, KernelShape shape) {
  switch (protocol) {
    case Protocol::ll:
      return of_type<Protocol::ll>(type, op, shape);
    case Protocol::ll128:
      return of_type<Protocol::ll128>(type, op, shape);
    case Protocol::simple:
      break;
  }
  return of_type<Protocol::simple>(type, op, shape);
}

}  // namespace lanecast
