#pragma once
#include <cstdint>

#include "model/implementation/communicator.hpp"
#include "model/predict/prediction.hpp"
#include "model/predict/ring_plan.hpp"
#include "model/profile/profile.hpp"

namespace lanecast {

/// Resolves a call and plans it. Where the protocol is open, NCCL's cost model chooses for NCCL; for our
/// engine the closed form chooses among LL, Simple and, on a ring of NVLink alone, LL128.
/// @param communicator  opened for this call's ranks, order and transport
/// @throws Error  kind usage, as resolve_call
RingPlan plan_call(const Machine& machine, const Profile& profile, const Implementation& implementation,
                   const Communicator& communicator, const Call& call, std::uint64_t seed);

/// The same on a communicator of its own.
RingPlan plan_call(const Machine& machine, const Profile& profile, const Implementation& implementation,
                   const Call& call, std::uint64_t seed);

/// Fills in everything of a prediction but what the simulation says (time, folded).
Prediction describe(const Profile& profile, const RingPlan& plan);

/// Sets the time, its band, the bottleneck and the limit.
void finish(const Profile& profile, const RingPlan& plan, Seconds time, Prediction& prediction);

}  // namespace lanecast
