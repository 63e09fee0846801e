#pragma once
#include <string>

#include "model/profile/profile_file.hpp"

namespace lanecast {

/// The profile as YAML that `read_profile_file` reads back to the same values, bit by bit.
///
/// Only the lower triangle of a covariance is written, without parameters whose rows hold zeros alone.
std::string write_profile(const ProfileFile& file);

}  // namespace lanecast
