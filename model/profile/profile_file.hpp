#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/profile/profile.hpp"

namespace lanecast {

/// Profiles that lend their parameters, a group each. Names of shipped profiles, or files.
struct ProfileTransfer {
  std::string gpu;   // empty: priors
  std::string link;  // empty: priors
};

/// What a profile file says (docs/profile-file.md). Either `implementations` or `transfer` is filled.
struct ProfileFile {
  std::string name;
  std::string description;
  std::vector<std::string> gpus;  // models that it is for, "H200"; empty: none of its own accord

  /// By "nccl" (for rccl and all releases, too) or "lanecast": values, where they are from, and in
  /// `Profile::fit` how they were found. A parameter that a part does not set is the prior.
  std::map<std::string, Profile> implementations;

  std::optional<ProfileTransfer> transfer;
};

/// What a value is said to be from where its file says no more: "profile `h200-nvlink`".
inline std::string origin_of_profile(const std::string& name) { return "profile `" + name + "`"; }

}  // namespace lanecast
