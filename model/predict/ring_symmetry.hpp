#pragma once
#include <optional>

#include "model/predict/schedule_plan.hpp"

namespace lanecast {

/// Fewest positions that a rotation of the ring makes stand for all: the smallest divisor d of n such that
/// moving every rank on by d positions maps each lane onto an equal one and each resource onto one of the
/// same capacity.
///
/// n where no rotation does. Only rings, and collectives in which all ranks do the same (all-reduce,
/// reduce-scatter, all-gather).
int rotation_period(const SchedulePlan& plan);

/// The plan of the first `period` positions, each neighbour of the last being the first: by symmetry, what
/// happens to them is what happens to all, at the same times.
///
/// A resource of the result stands for all that the rotation maps onto each other. Shares that the ranks
/// don't divide are rounded up to the next that they do, which is why nothing is returned where this adds
/// more than 1e-4 of a share.
/// @param period  from rotation_period
/// @return        nothing where the reduced plan would not be faithful, or no smaller
std::optional<SchedulePlan> reduce_by_rotation(const SchedulePlan& plan, int period);

}  // namespace lanecast
