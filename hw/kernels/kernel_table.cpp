#include "hw/kernels/kernel_table.hpp"

namespace lanecast {
namespace {

template <Protocol P>
const void* of_type(Datatype type, ReduceOp op, bool ring) {
  switch (type) {
    case Datatype::float16:
      return device::kernel_of<P, Datatype::float16>(op, ring);
    case Datatype::bfloat16:
      return device::kernel_of<P, Datatype::bfloat16>(op, ring);
    case Datatype::float64:
      return device::kernel_of<P, Datatype::float64>(op, ring);
    case Datatype::int32:
      return device::kernel_of<P, Datatype::int32>(op, ring);
    case Datatype::int64:
      return device::kernel_of<P, Datatype::int64>(op, ring);
    case Datatype::uint8:
      return device::kernel_of<P, Datatype::uint8>(op, ring);
    case Datatype::float32:
      break;
  }
  return device::kernel_of<P, Datatype::float32>(op, ring);
}

}  // namespace

const void* collective_kernel_for(Protocol protocol, Datatype type, ReduceOp op, bool ring) {
  switch (protocol) {
    case Protocol::ll:
      return of_type<Protocol::ll>(type, op, ring);
    case Protocol::ll128:
      return of_type<Protocol::ll128>(type, op, ring);
    case Protocol::simple:
      break;
  }
  return of_type<Protocol::simple>(type, op, ring);
}

}  // namespace lanecast
