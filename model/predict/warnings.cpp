#include "model/predict/warnings.hpp"

#include <algorithm>

namespace lanecast {

std::vector<Warning> degraded_link_warnings(const Machine& machine) {
  std::vector<Warning> warnings;
  for (const Link& link : machine.links) {
    if (link.kind != LinkKind::pcie || (link.rate == link.max_rate && link.width == link.max_width)) continue;
    warnings.push_back({"LC-LINK-01", "link `" + link.name + "` runs at " + to_string(link.rate) + " x" +
                                          std::to_string(link.width) + "; both ends can do " +
                                          to_string(link.max_rate) + " x" + std::to_string(link.max_width)});
  }
  return warnings;
}

std::vector<Warning> prior_warnings(const Profile& profile) {
  const auto& table = parameter_table();
  const bool priors_only = std::all_of(table.begin(), table.end(), [&](const ParameterInfo& p) {
    return profile.from_prior(*parameter_from_name(p.name));
  });
  if (!priors_only) return {};
  return {{"LC-PROFILE-01", "profile `" + profile.name + "` holds priors only; nothing was fitted"}};
}

}  // namespace lanecast
