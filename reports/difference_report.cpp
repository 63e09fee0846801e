#include "reports/difference_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "reports/grid.hpp"
#include "reports/safe_text.hpp"

namespace lanecast {
namespace {

using Json = nlohmann::ordered_json;

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json change_as_json(const MachineChange& change) {
  return {{"change", is_change(change.kind)},
          {"kind", to_string(change.kind)},
          {"where", change.where},
          {"what", text_or_null(change.what)},
          {"a", text_or_null(change.before)},
          {"b", text_or_null(change.after)},
          {"text", change.text}};
}

std::string as_json(const DifferenceReport& report) {
  Json document = document_head(report.run);
  document["a"] = report.before;
  document["b"] = report.after;
  document["changed"] = any_change(report.differences);
  document["differences"] = Json::array();
  for (const MachineChange& change : report.differences)
    document["differences"].push_back(change_as_json(change));
  return document_text(document);
}

std::string as_csv(const DifferenceReport& report) {
  std::string text = csv_line({"change", "kind", "where", "what", "a", "b", "text"});
  for (const MachineChange& change : report.differences) {
    const Json object = change_as_json(change);
    std::vector<Json> fields;
    for (const auto& [key, field] : object.items())
      fields.push_back(field.is_string() ? Json(safe_text(field.get<std::string>())) : field);
    text += csv_line(fields);
  }
  return text;
}

/// "A is box.yaml, B is box2.yaml: 2 changes"
std::string caption(const DifferenceReport& report) {
  const auto changes = std::count_if(report.differences.begin(), report.differences.end(),
                                     [](const MachineChange& change) { return is_change(change.kind); });
  const std::string found =
      changes == 0 ? "no change" : fmt::format("{} change{}", changes, changes == 1 ? "" : "s");
  return fmt::format("A is {}, B is {}: {}", safe_text(report.before), safe_text(report.after), found);
}

Grid grid_of(const DifferenceReport& report) {
  Grid grid;
  for (const char* name : {"kind", "where", "what", "A", "B"}) grid.columns.push_back({name, "", 0, false});
  for (const MachineChange& change : report.differences) {
    if (!is_change(change.kind)) continue;
    const auto cell = [](const std::string& text) {
      return text.empty() ? std::string("-") : safe_text(text);
    };
    grid.rows.push_back({to_string(change.kind), cell(change.where), cell(change.what), cell(change.before),
                         cell(change.after)});
  }
  return grid;
}

/// Remarks as sentences; of values that only one machine states a line for each of the two.
std::vector<std::string> remarks_of(const DifferenceReport& report) {
  std::vector<std::string> lines;
  std::map<std::string, int> unknown_before, unknown_after;
  for (const MachineChange& change : report.differences) {
    if (is_change(change.kind)) continue;
    if (change.kind != ChangeKind::unknown) {
      lines.push_back(safe_text(change.text));
    } else {
      ++(change.known_before ? unknown_after : unknown_before)[change.what];
    }
  }
  const auto add = [&](const char* machine, const std::map<std::string, int>& counts) {
    std::string list;
    for (const auto& [what, count] : counts)
      list += (list.empty() ? "" : ", ") + safe_text(what) + (count == 1 ? "" : fmt::format(" ({})", count));
    if (!list.empty()) lines.push_back(fmt::format("not known in {}: {}", machine, list));
  };
  add("A", unknown_before);
  add("B", unknown_after);
  return lines;
}

std::string as_table(const DifferenceReport& report) {
  std::string text = comment_line(caption(report));
  Grid grid = grid_of(report);
  if (!grid.rows.empty()) grid.rows.insert(grid.rows.begin(), {"# kind", "where", "what", "A", "B"});
  text += left_aligned_text(grid);
  for (const std::string& line : remarks_of(report)) text += comment_line(line);
  return text;
}

std::string as_markdown(const DifferenceReport& report) {
  std::string text = markdown_text(caption(report), grid_of(report));
  const std::vector<std::string> remarks = remarks_of(report);
  if (!remarks.empty()) text += "\n";
  for (const std::string& line : remarks) text += markdown_item(line);
  return text;
}

}  // namespace

std::string difference_text(const DifferenceReport& report, Format format) {
  switch (format) {
    case Format::json:
      return as_json(report);
    case Format::csv:
      return as_csv(report);
    case Format::markdown:
      return as_markdown(report);
    case Format::table:
      break;
  }
  return as_table(report);
}

}  // namespace lanecast
