#pragma once
#include <vector>

#include "cli/codes.hpp"

namespace lanecast {

/// What reading measured data warns about.
std::vector<CodeEntry> data_codes();

}  // namespace lanecast
