#include "reports/config_report.hpp"

#include "reports/grid.hpp"
#include "reports/parameter_rows.hpp"

namespace lanecast {
namespace {

using Json = nlohmann::ordered_json;

Json value_as_json(const ExplainedValue& value) {
  return {{"path", value.path}, {"value", value.value.empty() ? Json() : Json(value.value)},
          {"unit", nullptr},    {"origin", value.origin},
          {"low", nullptr},     {"high", nullptr},
          {"source", nullptr},  {"doc", value.doc}};
}

std::string as_json(const ConfigReport& report) {
  Json document = document_head(report.run);
  document["file"] = report.file;
  document["machine"] = report.machine;
  document["profile"] = report.profile.name;
  document["profile_reason"] = report.reason;
  document["values"] = Json::array();
  for (const ExplainedValue& value : report.values) document["values"].push_back(value_as_json(value));
  document["parameters"] = Json::array();
  for (const Param parameter : all_parameters()) {
    document["parameters"].push_back(parameter_as_json(report.profile, parameter));
  }
  return document_text(document);
}

/// Values have the first columns only.
std::string as_csv(const ConfigReport& report) {
  std::vector<Json> names;
  const Json first = parameter_as_json(report.profile, all_parameters().front());
  for (const auto& [key, field] : first.items()) names.emplace_back(key);
  std::string text = csv_line(names);
  const auto add = [&](const Json& object) {
    std::vector<Json> fields;
    for (const auto& [key, field] : object.items()) fields.push_back(field);
    fields.resize(names.size());
    text += csv_line(fields);
  };
  for (const ExplainedValue& value : report.values) add(value_as_json(value));
  for (const Param parameter : all_parameters()) add(parameter_as_json(report.profile, parameter));
  return text;
}

Grid grid_of(const std::vector<ExplainedValue>& values) {
  Grid grid;
  for (const char* name : {"path", "value", "origin", "meaning"})
    grid.columns.push_back({name, "", 0, false});
  for (const ExplainedValue& value : values) {
    grid.rows.push_back({value.path, value.value.empty() ? "-" : value.value, value.origin, value.doc});
  }
  return grid;
}

}  // namespace

std::string config_text(const ConfigReport& report, Format format) {
  if (format == Format::json) return as_json(report);
  if (format == Format::csv) return as_csv(report);
  const std::string machine = "machine " + report.machine + ", file " + report.file;
  const std::string profile = "profile " + report.profile.name + ": " + report.reason;
  const Grid parameters = parameter_grid(report.profile, all_parameters());
  if (format == Format::markdown) {
    return markdown_text(machine, grid_of(report.values)) + "\n" + markdown_text(profile, parameters);
  }
  return comment_line(machine) + left_aligned_text(grid_of(report.values)) + "\n" + comment_line(profile) +
         left_aligned_text(with_head(parameters));
}

}  // namespace lanecast
