#include "reports/parameter_rows.hpp"

#include <fmt/format.h>

#include <utility>

#include "reports/document.hpp"

namespace lanecast {
namespace {

using Json = nlohmann::ordered_json;

std::string origin_of(const Profile& profile, Param parameter) {
  return profile.from_prior(parameter) ? "prior" : profile.origin(parameter);
}

/// Six digits are more than any fit knows; what was set by hand has fewer.
std::string shown(double value) { return fmt::format("{:g}", value); }

std::string with_unit(double value, const std::string& unit) {
  return shown(value) + (unit == "1" ? "" : " " + unit);
}

std::string interval_of(const FittedParameter* fitted) {
  if (fitted == nullptr) return "-";
  const std::string ends = shown(fitted->low) + " to " + shown(fitted->high);
  return fitted->determined ? ends : ends + ", not determined";
}

}  // namespace

const FittedParameter* fitted_value(const Profile& profile, Param parameter) {
  if (!profile.fit) return nullptr;
  for (const FittedParameter& fitted : profile.fit->parameters) {
    if (fitted.parameter == parameter) return &fitted;
  }
  return nullptr;
}

Json parameter_as_json(const Profile& profile, Param parameter) {
  const ParameterInfo& about = info(parameter);
  const FittedParameter* fitted = fitted_value(profile, parameter);
  return {{"path", about.name},
          {"value", number_or_null(profile.value(parameter))},
          {"unit", about.unit},
          {"origin", origin_of(profile, parameter)},
          {"low", number_or_null(about.low)},
          {"high", number_or_null(about.high)},
          {"source", about.source},
          {"doc", about.doc},
          {"prior", number_or_null(about.prior)},
          {"interval_low", fitted != nullptr ? number_or_null(fitted->low) : Json()},
          {"interval_high", fitted != nullptr ? number_or_null(fitted->high) : Json()},
          {"determined", fitted != nullptr ? Json(fitted->determined) : Json()},
          {"note", fitted != nullptr && !fitted->note.empty() ? Json(fitted->note) : Json()}};
}

Grid parameter_grid(const Profile& profile, const std::vector<Param>& parameters) {
  Grid grid;
  for (const char* name : {"path", "value", "95 % interval", "prior", "origin", "meaning"}) {
    grid.columns.push_back({name, "", 0, false});
  }
  for (const Param parameter : parameters) {
    const ParameterInfo& about = info(parameter);
    const FittedParameter* fitted = fitted_value(profile, parameter);
    const std::string note = fitted != nullptr && !fitted->note.empty() ? "; " + fitted->note : "";
    grid.rows.push_back({about.name, with_unit(profile.value(parameter), about.unit), interval_of(fitted),
                         fmt::format("{:g}, {:g} to {:g}", about.prior, about.low, about.high),
                         origin_of(profile, parameter), about.doc + note + " [" + about.source + "]"});
  }
  return grid;
}

Grid with_head(Grid grid) {
  std::vector<std::string> names;
  for (const Column& column : grid.columns) names.push_back((names.empty() ? "# " : "") + column.name);
  grid.rows.insert(grid.rows.begin(), std::move(names));
  return grid;
}

std::vector<Param> all_parameters() {
  std::vector<Param> all;
  for (std::size_t i = 0; i < parameter_count; ++i) all.push_back(static_cast<Param>(i));
  return all;
}

}  // namespace lanecast
