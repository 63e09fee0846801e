#pragma once
#include <string>
#include <vector>

#include "model/implementation/communicator.hpp"

namespace lanecast {

/// An algorithm with a protocol that the engine could take for a call.
struct EngineWay {
  Algorithm algorithm = Algorithm::ring;
  Protocol protocol = Protocol::simple;
  std::string refusal;  // why it is left out, in one clause; empty: it is weighed
};

/// All ways that fit the call's collective and what it forces, in the order of `Algorithm`.
///
/// Left to the engine: everything but the star (a baseline), hierarchies where nothing groups the ranks,
/// direct exchanges among more than kMostDirectRanks, and LL128 where not all that could exchange data are
/// joined by NVLink. What the call names is weighed in any case, as far as it can be.
std::vector<EngineWay> engine_ways(const Machine& machine, const CommunicatorSetup& communicator,
                                   const Call& call);

}  // namespace lanecast
