#pragma once
#include <optional>
#include <string_view>
#include <vector>

namespace lanecast {

/// A line without what launchers put in front of it: "[1,0]<stdout>:", "0: ", "node1: ", "[0]", a time stamp.
std::string_view without_launcher(std::string_view line);

/// A line that NCCL wrote into, apart: what stood there before it, and its message with the host in front.
struct NcclSplit {
  std::string_view before;
  std::string_view message;  // empty: NCCL wrote nothing
};
NcclSplit split_nccl(std::string_view line);

/// Words between blanks.
std::vector<std::string_view> words_of(std::string_view text);

}  // namespace lanecast
