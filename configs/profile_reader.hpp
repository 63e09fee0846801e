#pragma once
#include <string>

#include "model/profile/profile_file.hpp"

namespace lanecast {

/// Reads a profile file (docs/profile-file.md).
///
/// @param text  the whole file
/// @param name  how messages name it
/// @throws Error  kind usage, with everything that is wrong, by line: another format, unknown or doubled
/// keys, unknown parameters with near ones, values outside their parameter's range, a covariance of the wrong
/// shape or one that is not positive definite
ProfileFile read_profile_file(const std::string& text, const std::string& name);

}  // namespace lanecast
