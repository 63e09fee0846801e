#pragma once
#include <string>
#include <vector>

#include "tests/cases/all_reduce_comparison.hpp"

namespace lanecast::cases {

/// The all-reduce sweeps of shared/measurements/h200x2-nvlink (2 x H200, NCCL 2.28.9), each with the
/// environment that its columns name. Rows below 1 KiB, and the first row of a sweep, which is cold, are left
/// out. `case_id` says transport and protocol, `variant` the rest.
///
/// @param path  nccl-2.28.9.csv
/// @throws Error  kind usage: a file without the columns that are needed
std::vector<AllReduceSweep> h200_sweeps(const std::string& path);

}  // namespace lanecast::cases
