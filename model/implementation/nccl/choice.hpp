#pragma once
#include <vector>

#include "model/implementation/communicator.hpp"
#include "model/implementation/nccl/cost_model.hpp"

namespace lanecast {

/// NCCL's choice for a call, and its bill.
struct NcclChoice {
  CostEstimate taken;                     // what NCCL runs
  std::optional<CostEstimate> simulated;  // the cheapest ring or tree; absent: none is allowed
  std::vector<CostEstimate> bill;         // all that NCCL weighs
};

/// What NCCL's cost model chooses for a call on a communicator.
///
/// The call's own algorithm and protocol go before NCCL_ALGO and NCCL_PROTO. Protocols that cannot take the
/// chunk, buffer or threads that the call forces are passed over.
/// @param communicator  of NCCL or RCCL, two ranks or more
/// @throws Error        kind usage: nothing allowed is possible
NcclChoice choose(const CommunicatorSetup& communicator, const Implementation& implementation,
                  const Call& call);

/// Ring and Tree; the rest of what NCCL weighs is not simulated.
bool is_simulated(NcclAlgorithm algorithm);

/// Our name of an algorithm that works within one node: NCCL's Tree and NVLS; Ring stands for the others.
Algorithm algorithm_of(NcclAlgorithm algorithm);

/// Whether a protocol can take the chunk, buffer and threads that the call forces.
bool fits(Protocol protocol, const Call& call);

}  // namespace lanecast
