#pragma once
#include <string>

#include "model/profile/profile_file.hpp"
#include "tests/cases/family_fit.hpp"
#include "tests/cases/family_table.hpp"

namespace lanecast::cases {

/// The profile that a fit gives, with its record: what was fitted on what, spreads and hold-out errors.
Profile fitted_profile(const std::string& name, const CaseProblem& problem, const CaseFit& fit);

/// The same as the file of a family.
ProfileFile family_profile(const GpuFamily& family, const CaseProblem& problem, const CaseFit& fit);

/// Values that a fit moved away from their priors, "ll.host_poll 1.5 -> 0.9 us".
std::string moved_parameters(const FitResult& fit);

}  // namespace lanecast::cases
