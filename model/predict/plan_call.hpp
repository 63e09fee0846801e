#pragma once
#include <cstdint>
#include <vector>

#include "model/implementation/communicator.hpp"
#include "model/predict/prediction.hpp"
#include "model/predict/schedule_plan.hpp"
#include "model/profile/profile.hpp"

namespace lanecast {

/// Resolves a call and plans every way of it that may turn out to be the fastest.
///
/// One plan where the call and the implementation leave nothing open (NCCL decides by its own cost model).
/// Where the engine may choose, the closed form puts its ways in order, and those within twice the best,
/// twelve at most, are returned: a simulation of each decides.
/// @param communicator  opened for this call's ranks, order and transport
/// @throws Error  kind usage, as resolve_call
std::vector<SchedulePlan> candidate_plans(const Machine& machine, const Profile& profile,
                                          const Implementation& implementation,
                                          const CommunicatorSetup& communicator, const Call& call,
                                          std::uint64_t seed);

/// The first of them: what the closed form calls fastest.
SchedulePlan plan_call(const Machine& machine, const Profile& profile, const Implementation& implementation,
                       const CommunicatorSetup& communicator, const Call& call, std::uint64_t seed);

/// The same on a communicator of its own.
SchedulePlan plan_call(const Machine& machine, const Profile& profile, const Implementation& implementation,
                       const Call& call, std::uint64_t seed);

/// Fills in everything of a prediction but what the simulation says (time, folded).
Prediction describe(const Profile& profile, const SchedulePlan& plan);

/// Sets the time, its band, the bottleneck and the limit.
void finish(const Machine& machine, const Profile& profile, const SchedulePlan& plan, Seconds time,
            Prediction& prediction);

}  // namespace lanecast
