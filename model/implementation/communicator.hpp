#pragma once
#include <optional>
#include <string>
#include <vector>

#include "model/implementation/implementation.hpp"
#include "model/implementation/nccl/graph.hpp"

namespace lanecast {

/// GPUs of one machine beyond which NCCL has no search (facts.md A9).
inline constexpr std::size_t kMostNcclGpus = 256;

/// What NCCL's search found for a set of ranks, and what its cost model looks at.
struct NcclSetup {
  NcclGraph ring;
  NcclGraph tree;
  NcclGraph nvls;  // channels 0: no multicast
  int min_sm = 0;  // compute capability x 10
  int max_sm = 0;
  std::string cpu_vendor;  // of the first NUMA node
};

/// What an implementation sets up once for a set of ranks: who is whose neighbour on which channel, over
/// which transport.
struct CommunicatorSetup {
  std::vector<int> ranks;    // GPU indices, by rank
  std::vector<Ring> rings;   // distinct ones; the first is channel 0's
  std::vector<int> ring_of;  // [channel] -> ring; as many channels as a call may use
  std::optional<NcclSetup> nccl;

  int channels() const { return static_cast<int>(ring_of.size()); }
};

/// Sets up the ranks of a call.
///
/// NCCL: channels, orders and classes of path by its search (`search_graph`), each search channel twice, at
/// most and at least as many as its environment says. The engine: rings by GPU index. `call.order_given`
/// keeps the ranks' own order on every channel. Looks at the call's ranks, order and transport only.
/// @throws Error  kind usage: ranks that cannot be, or neighbours that no transport joins
CommunicatorSetup open_communicator(const Machine& machine, const Implementation& implementation,
                                    const Call& call);

/// `resolve_call` on a communicator that is open already: it must have been opened for this call's ranks,
/// order and transport.
ResolvedCall resolve_call(const Machine& machine, const Implementation& implementation,
                          const CommunicatorSetup& communicator, const Call& call);

}  // namespace lanecast
