#include "reports/config_report.hpp"

#include <fmt/format.h>

#include "reports/grid.hpp"

namespace lanecast {
namespace {

using Json = nlohmann::ordered_json;

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }
Json bound_or_null(const std::optional<double>& bound) { return bound ? number_or_null(*bound) : Json(); }

Json value_as_json(const ExplainedValue& value) {
  return {{"path", value.path},
          {"value", value.low ? Json(std::stod(value.value)) : text_or_null(value.value)},
          {"unit", text_or_null(value.unit)},
          {"origin", value.origin},
          {"low", bound_or_null(value.low)},
          {"high", bound_or_null(value.high)},
          {"source", text_or_null(value.source)},
          {"doc", value.doc}};
}

std::string as_json(const ConfigReport& report) {
  Json document = document_head(report.run);
  document["file"] = report.file;
  document["machine"] = report.machine;
  document["profile"] = report.profile;
  document["values"] = Json::array();
  for (const ExplainedValue& value : report.values) document["values"].push_back(value_as_json(value));
  document["parameters"] = Json::array();
  for (const ExplainedValue& value : report.parameters)
    document["parameters"].push_back(value_as_json(value));
  return document_text(document);
}

std::string as_csv(const ConfigReport& report) {
  std::string text = csv_line({"path", "value", "unit", "origin", "low", "high", "source", "doc"});
  for (const auto* list : {&report.values, &report.parameters}) {
    for (const ExplainedValue& value : *list) {
      const Json object = value_as_json(value);
      std::vector<Json> fields;
      for (const auto& [key, field] : object.items()) fields.push_back(field);
      text += csv_line(fields);
    }
  }
  return text;
}

Grid grid_of(const std::vector<ExplainedValue>& values) {
  Grid grid;
  for (const char* name : {"path", "value", "origin", "meaning"})
    grid.columns.push_back({name, "", 0, false});
  for (const ExplainedValue& value : values) {
    const std::string unit = value.unit.empty() || value.unit == "1" ? "" : " " + value.unit;
    std::string origin = value.origin;
    if (value.low && value.high) origin += fmt::format(", {:g} to {:g}", *value.low, *value.high);
    const std::string source = value.source.empty() ? "" : " [" + value.source + "]";
    grid.rows.push_back(
        {value.path, value.value.empty() ? "-" : value.value + unit, origin, value.doc + source});
  }
  return grid;
}

}  // namespace

std::string config_text(const ConfigReport& report, Format format) {
  if (format == Format::json) return as_json(report);
  if (format == Format::csv) return as_csv(report);
  if (format == Format::markdown) {
    return markdown_text("machine " + report.machine + ", file " + report.file, grid_of(report.values)) +
           "\n" + markdown_text("profile " + report.profile, grid_of(report.parameters));
  }
  return comment_line("machine " + report.machine + ", file " + report.file) +
         left_aligned_text(grid_of(report.values)) + "\n" + comment_line("profile " + report.profile) +
         left_aligned_text(grid_of(report.parameters));
}

}  // namespace lanecast
