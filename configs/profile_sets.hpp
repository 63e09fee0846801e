#pragma once
#include <string>
#include <vector>

#include "model/profile/profile.hpp"

namespace lanecast {

/// Whether a `--set` is meant for the profile: it begins with `profile.`.
bool is_profile_set(const std::string& assignment);

/// The assignments that are for the machine, in their order.
std::vector<std::string> machine_sets(const std::vector<std::string>& assignments);

/// Sets parameters: `profile.gpu.channel_spread=0.05`, in the parameter's unit, which may stand behind the
/// number (`profile.latency.switch=130 ns`). Their origin is the command line, and they leave the record of
/// the fit. What is not for the profile is passed over.
/// @throws Error  kind usage: an unknown parameter, with near ones; no number; a value outside the range
void apply_profile_sets(Profile& profile, const std::vector<std::string>& assignments);

}  // namespace lanecast
