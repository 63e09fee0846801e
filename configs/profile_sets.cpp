#include "configs/profile_sets.hpp"

#include "configs/problem_list.hpp"
#include "configs/quantity.hpp"
#include "configs/reading.hpp"
#include "model/error.hpp"
#include "model/profile/transfer.hpp"

namespace lanecast {
namespace {

const std::string prefix = "profile.";

[[noreturn]] void refuse(const std::string& assignment, const std::string& what, const std::string& mend) {
  throw Error(ErrorKind::usage, what, "--set " + printable(assignment), mend);
}

Param parameter_of(const std::string& assignment, const std::string& name) {
  if (const auto parameter = parameter_from_name(name)) return *parameter;
  std::vector<std::string> names;
  for (const ParameterInfo& known : parameter_table()) names.push_back(known.name);
  const std::string near = nearest(name, names);
  refuse(assignment, "there is no parameter `" + printable(name) + "`",
         near.empty() ? "`lanecast config explain generic` lists the parameters"
                      : "did you mean `profile." + near + "`?");
}

/// The text without the parameter's unit behind it.
std::string without_unit(const std::string& text, const std::string& unit) {
  const bool has_unit = text.size() > unit.size() && unit != "1" &&
                        text.compare(text.size() - unit.size(), unit.size(), unit) == 0;
  return std::string(trimmed(has_unit ? text.substr(0, text.size() - unit.size()) : text));
}

void apply_profile_set(Profile& profile, const std::string& assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string::npos) {
    refuse(assignment, "`" + printable(assignment) + "` is not PATH=VALUE",
           "write it like `profile.gpu.channel_spread=0.05`");
  }
  const Param parameter = parameter_of(assignment, assignment.substr(prefix.size(), equals - prefix.size()));
  const ParameterInfo& about = info(parameter);
  const std::string unit = about.unit == "1" ? "" : " " + about.unit;
  const std::string mend =
      "take a value from " + format_number(about.low) + " to " + format_number(about.high) + unit;
  const std::string text = assignment.substr(equals + 1);
  const Reading<double> number = parse_number(without_unit(text, about.unit));
  if (!number) refuse(assignment, "`" + about.name + "` is `" + printable(text) + "`: not a number", mend);
  if (*number.value < about.low || *number.value > about.high) {
    refuse(assignment, "`" + about.name + "` is " + format_number(*number.value) + unit, mend);
  }
  profile.set(parameter, *number.value, "command line");
  if (profile.fit) keep_fitted(*profile.fit, [&](Param fitted) { return fitted != parameter; });
}

}  // namespace

bool is_profile_set(const std::string& assignment) { return assignment.rfind(prefix, 0) == 0; }

std::vector<std::string> machine_sets(const std::vector<std::string>& assignments) {
  std::vector<std::string> kept;
  for (const std::string& assignment : assignments) {
    if (!is_profile_set(assignment)) kept.push_back(assignment);
  }
  return kept;
}

void apply_profile_sets(Profile& profile, const std::vector<std::string>& assignments) {
  for (const std::string& assignment : assignments) {
    if (is_profile_set(assignment)) apply_profile_set(profile, assignment);
  }
}

}  // namespace lanecast
