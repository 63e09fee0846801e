#pragma once
#include <chrono>
#include <string>
#include <vector>

namespace lanecast {

/// "rank 2", "ranks 2 and 3", "ranks 1, 2 and 3"; "no rank" of none.
std::string ranks_in_words(const std::vector<int>& ranks);

/// "10 s", "1.5 s", "300 ms".
std::string time_in_words(std::chrono::milliseconds time);

}  // namespace lanecast
