#pragma once
#include <functional>
#include <string>

#include "model/profile/profile.hpp"

namespace lanecast {

/// Removes the fitted parameters that `keep` refuses, with their rows and columns of the covariance.
void keep_fitted(FitRecord& fit, const std::function<bool(Param)>& keep);

/// The GPU's parameters of one profile beside the links' of another, each with its origin. Of the band's
/// parameters the wider ones hold.
///
/// The record of the fit joins both: covariances stand side by side, without terms across; of two spreads for
/// the same calls the larger stays; the range is what both cover, and may be empty. There are no hold-out
/// errors, since nobody has measured the pair.
Profile transferred(const std::string& name, const Profile& gpu, const Profile& link);

}  // namespace lanecast
