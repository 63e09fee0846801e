#pragma once
#include <vector>

#include "model/predict/prediction.hpp"
#include "model/profile/profile.hpp"
#include "model/topology/machine.hpp"

namespace lanecast {

/// LC-LINK-01 for each PCIe link whose status is below its capability.
std::vector<Warning> degraded_link_warnings(const Machine& machine);

/// LC-PROFILE-01 where no parameter of the profile was fitted.
std::vector<Warning> prior_warnings(const Profile& profile);

}  // namespace lanecast
