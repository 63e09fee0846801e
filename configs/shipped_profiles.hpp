#pragma once
#include <string>
#include <vector>

#include "model/profile/profile_file.hpp"

namespace lanecast {

/// Names of the profiles in data_directory(), sorted, with `generic`, which is built in: priors and nothing
/// else.
std::vector<std::string> shipped_profiles();

/// A profile file by the name of a shipped one or by a path ("-": standard input).
///
/// A text that ends in .yaml or .yml, or that holds a `/`, is a path.
/// @param where  what asks for it, for messages: "--profile", "box.yaml (profile)"
/// @throws Error  kind usage: an unknown name, with near ones; a faulty file
ProfileFile load_profile_file(const std::string& name_or_path, const std::string& where);

/// The file that `load_profile_file` reads; empty for `generic`.
std::string profile_path(const std::string& name_or_path, const std::string& where);

}  // namespace lanecast
