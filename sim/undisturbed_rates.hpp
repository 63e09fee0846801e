#pragma once
#include "model/predict/schedule_plan.hpp"

namespace lanecast {

/// Sets what one flow of each lane would get of the links if no other pair of ranks used them
/// (`Lane::undisturbed`): the narrowest resource, shared by the strands of all channels that take this lane.
///
/// A resource that no other lane crosses gives what it can to this call's blocks (`Resource::usable`); one
/// that others cross, its capacity.
void set_undisturbed_rates(SchedulePlan& plan);

}  // namespace lanecast
