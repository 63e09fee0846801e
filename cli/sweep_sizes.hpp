#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "model/units.hpp"

namespace lanecast {

/// The sweep flags of nccl-tests as typed. An empty step means that the factor counts.
struct SweepOptions {
  std::string begin = "8";
  std::string end = "1G";
  std::string factor = "2";
  std::string step;
};

inline constexpr int max_sweep_points = 10000;

/// Sizes from `begin` to `end`, growing by the factor or by the step; strictly rising.
/// @throws Error  kind usage: an unreadable size, `begin` above `end`, a factor of 1 or less, a step of 0,
/// more than
///                `max_sweep_points` points, or a size above 1 PiB
std::vector<Bytes> sweep_sizes(const SweepOptions& options);

/// Each size rounded down to a multiple of `grain`, as nccl-tests does; zero and repeated sizes are left out.
std::vector<Bytes> rounded_sizes(const std::vector<Bytes>& sizes, std::uint64_t grain);

}  // namespace lanecast
