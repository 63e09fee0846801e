#include "reports/profile_report.hpp"

#include <fmt/format.h>

#include "reports/grid.hpp"
#include "reports/parameter_rows.hpp"

namespace lanecast {
namespace {

using Json = nlohmann::ordered_json;

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json sources_as_json(const FitRecord& fit) {
  Json list = Json::array();
  for (const FitSource& source : fit.sources) {
    list.push_back({{"file", source.file},
                    {"machine", text_or_null(source.machine)},
                    {"rows", source.rows},
                    {"digest", text_or_null(source.digest)}});
  }
  return list;
}

Json holdout_as_json(const FitRecord& fit) {
  Json list = Json::array();
  for (const HoldoutError& error : fit.holdout) {
    list.push_back({{"kind", error.kind},
                    {"how", error.how},
                    {"rows", error.rows},
                    {"median_abs_error", number_or_null(error.median_abs_error)},
                    {"p95_abs_error", number_or_null(error.p95_abs_error)},
                    {"coverage", number_or_null(error.coverage)}});
  }
  return list;
}

Json spread_as_json(const FitRecord& fit) {
  Json list = Json::array();
  for (const ResidualSpread& spread : fit.spread) {
    list.push_back({{"protocol", to_string(spread.protocol)},
                    {"transport", to_string(spread.transport)},
                    {"launch", to_string(spread.launch)},
                    {"size_from_bytes", spread.from.value()},
                    {"size_to_bytes", spread.to.value()},
                    {"spread", number_or_null(spread.spread)},
                    {"rows", spread.rows},
                    {"held_out", spread.held_out}});
  }
  return list;
}

Json range_as_json(const CalibratedRange& range) {
  return {{"ranks_from", range.ranks_from},
          {"ranks_to", range.ranks_to},
          {"size_from_bytes", range.size_from.value()},
          {"size_to_bytes", range.size_to.value()},
          {"channels_from", range.channels_from},
          {"channels_to", range.channels_to},
          {"kinds", range.kinds},
          {"links", range.links},
          {"launches", range.launches},
          {"collectives", range.collectives}};
}

/// The parameters that the file says something about, fitted ones and those set by hand.
std::vector<Param> stated_parameters(const Profile& profile) {
  std::vector<Param> stated;
  for (const Param parameter : all_parameters()) {
    if (!profile.from_prior(parameter) || fitted_value(profile, parameter) != nullptr) {
      stated.push_back(parameter);
    }
  }
  return stated;
}

std::vector<std::string> undetermined(const Profile& profile) {
  std::vector<std::string> names;
  for (const Param parameter : stated_parameters(profile)) {
    const FittedParameter* fitted = fitted_value(profile, parameter);
    if (fitted != nullptr && !fitted->determined) names.push_back(info(parameter).name);
  }
  return names;
}

}  // namespace

Json profile_part_as_json(const ProfilePart& part) {
  const FitRecord fit = part.profile.fit.value_or(FitRecord());
  Json parameters = Json::array();
  for (const Param parameter : all_parameters()) {
    parameters.push_back(parameter_as_json(part.profile, parameter));
  }
  return {{"implementation", part.implementation},
          {"date", text_or_null(fit.date)},
          {"command", text_or_null(fit.command)},
          {"sources", sources_as_json(fit)},
          {"holdout", holdout_as_json(fit)},
          {"range", part.profile.fit ? range_as_json(fit.range) : Json()},
          {"spread", spread_as_json(fit)},
          {"undetermined", undetermined(part.profile)},
          {"parameters", parameters}};
}

namespace {

std::string as_json(const ProfileReport& report) {
  Json document = document_head(report.run);
  document["file"] = text_or_null(report.file);
  document["profile"] = report.name;
  document["description"] = text_or_null(report.description);
  document["gpus"] = report.gpus;
  document["transfer"] = text_or_null(report.transfer);
  document["implementations"] = Json::array();
  for (const ProfilePart& part : report.parts)
    document["implementations"].push_back(profile_part_as_json(part));
  return document_text(document);
}

std::string as_csv(const ProfileReport& report) {
  std::vector<Json> names{"implementation"};
  const Json first = parameter_as_json(Profile(), all_parameters().front());
  for (const auto& [key, field] : first.items()) names.emplace_back(key);
  std::string text = csv_line(names);
  for (const ProfilePart& part : report.parts) {
    for (const Param parameter : all_parameters()) {
      std::vector<Json> fields{part.implementation};
      const Json object = parameter_as_json(part.profile, parameter);
      for (const auto& [key, field] : object.items()) fields.push_back(field);
      text += csv_line(fields);
    }
  }
  return text;
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : ", ") + text;
  return all.empty() ? "-" : all;
}

Grid left_grid(const std::vector<std::string>& names) {
  Grid grid;
  for (const std::string& name : names) grid.columns.push_back({name, "", 0, false});
  return grid;
}

std::string percent(double share) { return fmt::format("{:.1f} %", share * 100); }

Grid sources_grid(const FitRecord& fit) {
  Grid grid = left_grid({"data", "machine", "rows", "digest"});
  for (const FitSource& source : fit.sources) {
    grid.rows.push_back({source.file, source.machine.empty() ? "-" : source.machine,
                         std::to_string(source.rows), source.digest.empty() ? "-" : source.digest});
  }
  return grid;
}

Grid holdout_grid(const FitRecord& fit) {
  Grid grid = left_grid({"held-out calls", "how", "rows", "median error", "95 % of errors", "in 90 % band"});
  for (const HoldoutError& error : fit.holdout) {
    grid.rows.push_back({error.kind, error.how, std::to_string(error.rows), percent(error.median_abs_error),
                         percent(error.p95_abs_error), percent(error.coverage)});
  }
  return grid;
}

Grid spread_grid(const FitRecord& fit) {
  Grid grid = left_grid({"protocol", "transport", "launch", "sizes (B)", "spread", "rows", "held out"});
  for (const ResidualSpread& spread : fit.spread) {
    grid.rows.push_back({to_string(spread.protocol), to_string(spread.transport), to_string(spread.launch),
                         fmt::format("{} to {}", spread.from.value(), spread.to.value()),
                         percent(spread.spread), std::to_string(spread.rows),
                         spread.held_out ? "yes" : "no"});
  }
  return grid;
}

std::string span_text(const std::string& from, const std::string& to) { return from + " to " + to; }

/// Of a transfer both profiles' ranges must agree, so that a part of the range may be empty.
Grid range_grid(const CalibratedRange& range) {
  const auto counts = [](int from, int to) {
    return to == 0 ? "-" : span_text(std::to_string(from), std::to_string(to));
  };
  const std::string sizes =
      range.size_to == Bytes(0)
          ? "-"
          : span_text(std::to_string(range.size_from.value()), std::to_string(range.size_to.value())) + " B";
  Grid grid = left_grid({"of", "what the data covered"});
  grid.rows = {{"ranks", counts(range.ranks_from, range.ranks_to)},
               {"sizes", sizes},
               {"channels", counts(range.channels_from, range.channels_to)},
               {"kinds of call", joined(range.kinds)},
               {"links", joined(range.links)},
               {"launches", joined(range.launches)},
               {"collectives", joined(range.collectives)}};
  return grid;
}

}  // namespace

std::string block(const std::string& heading, const Grid& grid, Format format) {
  if (grid.rows.empty()) return "";
  if (format == Format::markdown) return "\n" + markdown_text(heading, grid);
  return "\n" + comment_line(heading) + left_aligned_text(with_head(grid));
}

std::string profile_part_text(const ProfilePart& part, Format format) {
  const FitRecord fit = part.profile.fit.value_or(FitRecord());
  const std::string lead = part.implementation + ": ";
  const std::vector<Param> stated = stated_parameters(part.profile);
  std::string text;
  if (!part.profile.fit) {
    const std::string line =
        lead + (stated.empty() ? "priors only" : "values set by hand, nothing was fitted");
    text += "\n" + (format == Format::markdown ? line + "\n" : comment_line(line));
  }
  const std::string day = fit.date.empty() ? "" : " on " + fit.date;
  const std::string by = fit.command.empty() ? "" : " by `" + fit.command + "`";
  text += block(lead + "fitted" + day + by, sources_grid(fit), format);
  text += block(lead + "errors on calls that the fit did not see", holdout_grid(fit), format);
  if (part.profile.fit) text += block(lead + "calibrated range", range_grid(fit.range), format);
  text += block(lead + "spread of measured around predicted times", spread_grid(fit), format);
  const std::vector<std::string> open = undetermined(part.profile);
  text += block(lead + "parameters" + (open.empty() ? "" : "; the data can't tell " + joined(open)) +
                    "; all others are priors",
                parameter_grid(part.profile, stated), format);
  return text;
}

std::string profile_text(const ProfileReport& report, Format format) {
  if (format == Format::json) return as_json(report);
  if (format == Format::csv) return as_csv(report);
  std::vector<std::string> head{"profile " + report.name + ", " +
                                (report.file.empty() ? "built in" : "file " + report.file)};
  if (!report.description.empty()) head.push_back(report.description);
  head.push_back("for GPUs: " + joined(report.gpus));
  if (!report.transfer.empty()) head.push_back(report.transfer);
  std::string text;
  for (const std::string& line : head) {
    text += format == Format::markdown ? markdown_item(line) : comment_line(line);
  }
  for (const ProfilePart& part : report.parts) text += profile_part_text(part, format);
  return text;
}

}  // namespace lanecast
