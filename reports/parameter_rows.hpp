#pragma once
#include <nlohmann/json.hpp>
#include <vector>

#include "model/profile/profile.hpp"
#include "reports/grid.hpp"

namespace lanecast {

/// What the fit of a profile says of a parameter; nullptr where it says nothing.
const FittedParameter* fitted_value(const Profile& profile, Param parameter);

/// A parameter as JSON: path, value, unit, origin ("prior" or where it is from), low, high (plausible range),
/// source (of the prior), doc, prior, interval_low, interval_high (95 %, of a fitted value), determined,
/// note.
nlohmann::ordered_json parameter_as_json(const Profile& profile, Param parameter);

/// The same for people: path, value, interval, prior with its range, origin, meaning.
Grid parameter_grid(const Profile& profile, const std::vector<Param>& parameters);

/// The grid with its columns' names as its first row, for a text without a head.
Grid with_head(Grid grid);

/// All parameters, in the order of the table.
std::vector<Param> all_parameters();

}  // namespace lanecast
