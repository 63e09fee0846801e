#pragma once
#include <string>
#include <vector>

#include "model/predict/prediction.hpp"
#include "model/predict/schedule_plan.hpp"
#include "model/profile/profile.hpp"

namespace lanecast {

/// How far a prediction may be off, as factors of its time: between them lies 90 % of what is measured, as
/// far as the profile knows.
struct Band {
  double low = 1;
  double high = 1;
  std::vector<Warning> warnings;  // LC-BAND-01: what lies outside the data that the profile was fitted to
};

/// Standard deviations of a normal distribution in which 90 % lie.
inline constexpr double kBandDeviations = 1.645;

/// The band of a planned call.
///
/// Of a fitted profile: what the parameters' covariance means for this call (by derivatives of the closed
/// form), the spread that was left between measured and fitted times, and a share for each way in which the
/// call lies outside the data (docs/calibration.md lists the shares), all as variances of log time.
/// Parameters that the fit does not know count with their priors. Of a profile that was not fitted:
/// `band.latency` and `band.bandwidth`, by size.
Band band_of(const Machine& machine, const Profile& profile, const SchedulePlan& plan);

/// Derivatives of the closed form's log time by each parameter of the profile's fit, in its coordinate (the
/// logarithm of its value, or, where its range begins at 0, its value in units of its prior).
std::vector<double> log_time_derivatives(const Machine& machine, const Profile& profile,
                                         const SchedulePlan& plan, const std::vector<Param>& parameters);

}  // namespace lanecast
