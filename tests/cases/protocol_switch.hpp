#pragma once
#include <string>
#include <vector>

#include "tests/cases/all_reduce_comparison.hpp"
#include "tests/cases/logged_decisions.hpp"

namespace lanecast::cases {

/// What NCCL was recorded to decide on 2 x H200 (configs/measurements), beside the shipped machine file's
/// decisions: ring search, and from which size on an all-reduce runs Simple.
std::vector<LoggedFact> recorded_facts();

/// Where LL gives way to Simple in the measured sweeps of 2 x H200: as forced runs cross, and as the runs
/// that left the protocol to NCCL behave, beside what the model predicts and decides.
/// @param comparisons  of h200_sweeps
std::vector<LoggedFact> switch_facts(const std::vector<AllReduceComparison>& comparisons);

}  // namespace lanecast::cases
