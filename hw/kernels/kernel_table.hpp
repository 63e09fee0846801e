#pragma once
#include "model/predict/call.hpp"
#include "model/protocol/protocol.hpp"

namespace lanecast {

/// The kernel for a protocol, type and operation (avg has sum's): what cudaLaunchKernel takes. One for rings,
/// one for all other schedules.
const void* collective_kernel_for(Protocol protocol, Datatype type, ReduceOp op, bool ring);

namespace device {

/// The same for one protocol and type; each is compiled by itself (collective_kernels.cu).
template <Protocol P, Datatype Type>
const void* kernel_of(ReduceOp op, bool ring);

}  // namespace device
}  // namespace lanecast
