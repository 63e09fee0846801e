#include "reports/what_if_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reports/parts_text.hpp"
#include "reports/prediction_report.hpp"
#include "reports/what_if_tables.hpp"

namespace lanecast {
namespace {

using Json = nlohmann::ordered_json;

Json common_as_json(const WhatIfReport& report) {
  const WhatIfCase& baseline = report.cases.front();
  return {{"machine", report.machine},
          {"profile", report.profile},
          {"implementation", report.implementation},
          {"ranks", baseline.ranks.size()},
          {"collective", to_string(baseline.predictions.front().call.collective)},
          {"seed", report.seed}};
}

Json change_as_json(const Prediction& before, const Prediction& after) {
  const Effect found = effect(before, after);
  Json choices = Json::array();
  for (const ChangedChoice& choice : found.choices)
    choices.push_back({{"what", choice.what}, {"before", choice.before}, {"after", choice.after}});
  return {{"before_us", number_or_null(in_us(found.before))},
          {"factor", number_or_null(found.factor())},
          {"cause", found.cause},
          {"choices", choices}};
}

Json results_as_json(const std::vector<Prediction>& predictions, const WhatIfCase& baseline, int ranks,
                     bool compare) {
  Json results = Json::array();
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    Json row = prediction_as_json(predictions[i], ranks);
    if (compare) row["change"] = change_as_json(baseline.predictions[i], predictions[i]);
    results.push_back(std::move(row));
  }
  return results;
}

Json case_as_json(const WhatIfReport& report, const WhatIfCase& one) {
  const WhatIfCase& baseline = report.cases.front();
  const bool changed = &one != &baseline;
  Json set = Json::object();
  for (const auto& [path, value] : one.sets) set[path] = value;
  return {
      {"name", one.name},
      {"set", set},
      {"ranks", one.ranks.size()},
      {"gpus", one.ranks},
      {"verdict", changed ? Json(verdict(baseline, one)) : Json()},
      {"results", results_as_json(one.predictions, baseline, static_cast<int>(one.ranks.size()), changed)}};
}

Json step_as_json(const WhatIfReport& report, const LinkStep& step) {
  const WhatIfCase& baseline = report.cases.front();
  return {{"link", step.links.front()},
          {"alike", step.links},
          {"together", step.together},
          {"before", step.before},
          {"after", step.after},
          {"factor", number_or_null(step.predictions.back().time / baseline.predictions.back().time)},
          {"results",
           results_as_json(step.predictions, baseline, static_cast<int>(baseline.ranks.size()), true)}};
}

std::string as_json(const WhatIfReport& report) {
  Json document = document_head(report.run);
  document.update(common_as_json(report));
  document["cases"] = Json::array();
  for (const WhatIfCase& one : report.cases) document["cases"].push_back(case_as_json(report, one));
  if (report.links) {
    Json links = {{"degraded", Json::array()}, {"upgraded", Json::array()}};
    for (const LinkStep& step : report.links->degraded)
      links["degraded"].push_back(step_as_json(report, step));
    for (const LinkStep& step : report.links->upgraded)
      links["upgraded"].push_back(step_as_json(report, step));
    document["links"] = links;
  }
  document["warnings"] = warnings_as_json(all_warnings(report));
  return document_text(document);
}

/// One flat row: `case` and `set` in front, what `change` holds behind.
void add_csv_row(const Json& common, const std::string& name, const std::string& set, const Json& result,
                 std::string& text) {
  std::vector<Json> names{"case", "set"};
  std::vector<Json> fields{name, set};
  add_flat(common, names, fields);
  Json flat = result;
  const Json change = result.contains("change") ? result["change"] : Json();
  flat.erase("change");
  add_flat(flat, names, fields);
  for (const char* key : {"before_us", "factor", "cause"}) {
    names.emplace_back(key);
    fields.push_back(change.is_null() ? Json() : change[key]);
  }
  if (text.empty()) text = csv_line(names);
  text += csv_line(fields);
}

/// Link steps have no shares: empty fields keep the columns.
Json with_shares(Json result) {
  if (result.contains("shares")) return result;
  const Json change = result["change"];
  result.erase("change");
  for (const char* key : {"launch_us", "latency_us", "protocol_us", "wire_us", "waiting_us"})
    result["shares"][key] = nullptr;
  result["change"] = change;
  return result;
}

std::string as_csv(const WhatIfReport& report) {
  const Json common = common_as_json(report);
  std::string text;
  for (const WhatIfCase& one : report.cases) {
    Json of_case = common;
    of_case["ranks"] = one.ranks.size();
    const Json json = case_as_json(report, one);
    for (const Json& result : json["results"]) add_csv_row(of_case, one.name, sets_text(one), result, text);
  }
  if (!report.links) return text;
  const auto add = [&](const std::string& name, const std::vector<LinkStep>& steps) {
    for (const LinkStep& step : steps) {
      const std::string what = fmt::format("{}{}: {} -> {}", step.together ? "all like " : "",
                                           step.links.front(), step.before, step.after);
      const Json json = step_as_json(report, step);
      for (const Json& result : json["results"]) add_csv_row(common, name, what, with_shares(result), text);
    }
  };
  add("degraded", report.links->degraded);
  add("upgraded", report.links->upgraded);
  return text;
}

std::vector<std::string> head_of(const WhatIfReport& report) {
  const WhatIfCase& baseline = report.cases.front();
  const Call& call = baseline.predictions.front().call;
  return {
      fmt::format("lanecast {} ({}): predicted by simulation, not measured", report.run.version,
                  report.run.commit),
      fmt::format("machine {}, profile {}, implementation {}, seed {}", report.machine, report.profile,
                  report.implementation, report.seed),
      fmt::format("{}, {} rank{}, {}, {} of {} launches", to_string(call.collective), baseline.ranks.size(),
                  baseline.ranks.size() == 1 ? "" : "s", call.in_place ? "in place" : "out of place",
                  to_string(call.launch), call.iterations),
      "limit, util: the most loaded link, and the share of its payload rate in use; +us: how that share of "
      "the time moved"};
}

/// The sentences of a case, above its table.
std::vector<std::string> case_lines(const WhatIfReport& report, const WhatIfCase& one) {
  std::vector<std::string> lines{fmt::format("case {}: {}", one.name, sets_text(one)),
                                 "  " + verdict(report.cases.front(), one)};
  if (one.ranks.size() != report.cases.front().ranks.size())
    lines.push_back(fmt::format("  ranks that take part: {}, {} before; busbw compares, times less so",
                                one.ranks.size(), report.cases.front().ranks.size()));
  for (const std::string& line : choice_lines(report.cases.front(), one)) lines.push_back("  " + line);
  return lines;
}

std::vector<ReportPart> parts_of(const WhatIfReport& report) {
  const WhatIfCase& baseline = report.cases.front();
  std::vector<ReportPart> parts;
  for (std::size_t i = 1; i < report.cases.size(); ++i) {
    parts.push_back({case_lines(report, report.cases[i]), {}});
    parts.back().tables.emplace_back("before and after", case_grid(baseline, report.cases[i]));
  }
  if (!report.links) return parts;
  const Prediction& last = baseline.predictions.back();
  parts.push_back({link_lines(*report.links, last), {}});
  const std::uint64_t size = last.call.size.value();
  parts.back().tables.emplace_back(fmt::format("one step worse, the call of {} B", size),
                                   link_grid(report.links->degraded, last));
  parts.back().tables.emplace_back(fmt::format("one step better, the call of {} B", size),
                                   link_grid(report.links->upgraded, last));
  return parts;
}

}  // namespace

std::vector<Warning> all_warnings(const WhatIfReport& report) {
  std::vector<Warning> all = unique_warnings(report.cases.front().predictions);
  for (std::size_t i = 1; i < report.cases.size(); ++i) {
    const WhatIfCase& one = report.cases[i];
    for (const Warning& warning : unique_warnings(one.predictions)) {
      const bool known = std::find(all.begin(), all.end(), warning) != all.end();
      if (!known) all.push_back({warning.code, "case " + one.name + ": " + warning.text});
    }
  }
  return all;
}

std::string what_if_text(const WhatIfReport& report, Format format) {
  switch (format) {
    case Format::json:
      return as_json(report);
    case Format::csv:
      return as_csv(report);
    case Format::markdown:
      return parts_as_markdown(head_of(report), parts_of(report));
    case Format::table:
      break;
  }
  return parts_as_table(head_of(report), parts_of(report));
}

}  // namespace lanecast
