#include "reports/calibration_report.hpp"

#include <fmt/format.h>

#include "reports/comparison_document.hpp"
#include "reports/grid.hpp"
#include "reports/profile_report.hpp"

namespace lanecast {
namespace {

using Json = nlohmann::ordered_json;

std::string percent(double share) { return fmt::format("{:.1f} %", share * 100); }

Json errors_as_json(const CalibrationReport& report) {
  Json tables = Json::array();
  for (const ErrorTable& table : report.errors) {
    Json rows = Json::array();
    for (const ErrorTable::Row& row : table.rows) {
      Json object = {{"kind", row.kind}, {"place", row.place}};
      object.update(summary_as_json(row.summary));
      rows.push_back(object);
    }
    tables.push_back({{"title", table.title}, {"rows", rows}});
  }
  return tables;
}

Json bootstrap_as_json(const CalibrationReport& report) {
  Json list = Json::array();
  for (const ResampledInterval& one : report.bootstrap) {
    list.push_back({{"path", info(one.parameter).name},
                    {"low", number_or_null(one.low)},
                    {"high", number_or_null(one.high)}});
  }
  return list;
}

Json learning_as_json(const CalibrationReport& report) {
  Json list = Json::array();
  for (const LearningRow& row : report.learning) {
    list.push_back({{"configurations", row.configurations},
                    {"median_abs_error", number_or_null(row.median_abs_error)},
                    {"p95_abs_error", number_or_null(row.p95_abs_error)}});
  }
  return list;
}

Json left_out_as_json(const CalibrationReport& report) {
  Json list = Json::array();
  for (const LeftOutRows& rows : report.left_out)
    list.push_back({{"reason", rows.reason}, {"rows", rows.rows}, {"where", rows.where}});
  return list;
}

std::string as_json(const CalibrationReport& report) {
  Json document = document_head(report.run);
  document["machine"] = report.machine;
  document["implementation"] = report.implementation;
  document["profile_file"] = report.profile_file.empty() ? Json() : Json(report.profile_file);
  document["observations"] = report.observations;
  document["configurations"] = report.configurations;
  document["evaluations"] = report.evaluations;
  document["fit_seconds"] = number_or_null(report.fit_seconds);
  document["validation_seconds"] = number_or_null(report.validation_seconds);
  document["errors"] = errors_as_json(report);
  document["bootstrap"] = bootstrap_as_json(report);
  document["learning_curve"] = learning_as_json(report);
  document["outliers"] = report.outliers;
  document["confounded"] = report.confounded;
  document["at_edge"] = report.at_edge;
  document["verified_error"] = report.verified_error ? number_or_null(*report.verified_error) : Json();
  document["fit"] = profile_part_as_json({report.implementation, report.profile});
  document["left_out"] = left_out_as_json(report);
  document["warnings"] = warnings_as_json(report.warnings);
  return document_text(document);
}

Grid left_grid(const std::vector<std::string>& names) {
  Grid grid;
  for (const std::string& name : names) grid.columns.push_back({name, "", 0, false});
  return grid;
}

Grid errors_grid(const ErrorTable& table) {
  Grid grid =
      left_grid({"calls", "place", "rows", "median error", "95 % of errors", "largest", "in 90 % band"});
  for (const ErrorTable::Row& row : table.rows) {
    const ErrorSummary& s = row.summary;
    grid.rows.push_back({row.kind, row.place, std::to_string(s.n), percent(s.median_abs_error),
                         percent(s.p95_abs_error), percent(s.max_abs_error),
                         s.coverage ? percent(*s.coverage) : "-"});
  }
  return grid;
}

Grid bootstrap_grid(const CalibrationReport& report) {
  Grid grid = left_grid({"parameter", "low", "high", "unit"});
  for (const ResampledInterval& one : report.bootstrap) {
    const ParameterInfo& about = info(one.parameter);
    grid.rows.push_back(
        {about.name, fmt::format("{:.4g}", one.low), fmt::format("{:.4g}", one.high), about.unit});
  }
  return grid;
}

Grid learning_grid(const CalibrationReport& report) {
  Grid grid = left_grid({"configurations measured", "median error on the others", "95 % of errors"});
  for (const LearningRow& row : report.learning)
    grid.rows.push_back(
        {std::to_string(row.configurations), percent(row.median_abs_error), percent(row.p95_abs_error)});
  return grid;
}

Grid left_out_grid(const CalibrationReport& report) {
  Grid grid = left_grid({"left out", "rows", "first"});
  for (const LeftOutRows& rows : report.left_out)
    grid.rows.push_back({rows.reason, std::to_string(rows.rows), rows.where});
  return grid;
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : "; ") + text;
  return all;
}

std::vector<std::string> head_lines(const CalibrationReport& report) {
  std::vector<std::string> lines{
      fmt::format("calibrated {} on machine {}: {} measured times of {} configurations",
                  report.implementation, report.machine, report.observations, report.configurations),
      fmt::format("fit: {:.1f} s, {} evaluations; validation: {:.1f} s", report.fit_seconds,
                  report.evaluations, report.validation_seconds)};
  if (report.verified_error)
    lines.push_back(
        fmt::format("SimGrid agrees with the fit's evaluator within {:.2g} %", *report.verified_error * 100));
  if (!report.profile_file.empty()) lines.push_back("profile written to " + report.profile_file);
  if (!report.outliers.empty()) lines.push_back("configurations that stand out: " + joined(report.outliers));
  if (!report.confounded.empty())
    lines.push_back("the data tell only together: " + joined(report.confounded));
  if (!report.at_edge.empty()) lines.push_back("at the end of their range: " + joined(report.at_edge));
  return lines;
}

}  // namespace

std::string calibration_text(const CalibrationReport& report, Format format) {
  if (format == Format::json) return as_json(report);
  if (format == Format::csv) {
    ProfileReport parameters;
    parameters.parts = {{report.implementation, report.profile}};
    return profile_text(parameters, format);
  }
  std::string text;
  for (const std::string& line : head_lines(report))
    text += format == Format::markdown ? markdown_item(line) : comment_line(line);
  for (const ErrorTable& table : report.errors)
    text += block("errors, " + table.title, errors_grid(table), format);
  text += block("how much measuring is enough", learning_grid(report), format);
  text += block("95 % intervals by drawing configurations anew", bootstrap_grid(report), format);
  text += profile_part_text({report.implementation, report.profile}, format);
  return text + block("not used", left_out_grid(report), format);
}

}  // namespace lanecast
