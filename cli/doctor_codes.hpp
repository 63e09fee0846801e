#pragma once
#include <vector>

#include "cli/codes.hpp"

namespace lanecast {

/// The codes that only `doctor` gives; those it shares with predictions are in `code_table`'s own list.
std::vector<CodeEntry> doctor_codes();

}  // namespace lanecast
