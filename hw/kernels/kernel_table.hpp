#pragma once
#include "hw/engine/kernel_call.hpp"
#include "model/predict/call.hpp"
#include "model/protocol/protocol.hpp"

namespace lanecast {

/// The kernel for a protocol, type and operation (avg has sum's) and shape: what cudaLaunchKernel takes.
const void* collective_kernel_for(Protocol protocol, Datatype type, ReduceOp op, KernelShape shape);

namespace device {

/// The same for one protocol and type; each is compiled by itself (collective_kernels.cu).
template <Protocol P, Datatype Type>
const void* kernel_of(ReduceOp op, KernelShape shape);

}  // namespace device
}  // namespace lanecast
