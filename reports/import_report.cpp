#include "reports/import_report.hpp"

#include "reports/grid.hpp"

namespace lanecast {
namespace {

using Json = nlohmann::ordered_json;

Json value_as_json(const ImportReport::Value& value) {
  return {{"path", value.path}, {"value", value.value}, {"from", value.from}, {"assumed", value.assumed}};
}

std::string as_json(const ImportReport& report) {
  Json document = document_head(report.run);
  document["machine"] = report.machine;
  document["found"] = Json::array();
  for (const ImportReport::Found& found : report.found)
    document["found"].push_back({{"file", found.file}, {"kind", found.kind}, {"items", found.items}});
  document["values"] = Json::array();
  for (const ImportReport::Value& value : report.values) document["values"].push_back(value_as_json(value));
  document["unknown"] = report.unknown;
  document["contradictions"] = Json::array();
  for (const ImportReport::Contradiction& each : report.contradictions) {
    document["contradictions"].push_back({{"what", each.what},
                                          {"taken", each.taken},
                                          {"taken_from", each.taken_from},
                                          {"other", each.other},
                                          {"other_from", each.other_from}});
  }
  document["notes"] = report.notes;
  return document_text(document);
}

std::string as_csv(const ImportReport& report) {
  std::string text = csv_line({"path", "value", "from", "assumed"});
  for (const ImportReport::Value& value : report.values)
    text += csv_line({value.path, value.value, value.from, value.assumed});
  return text;
}

Grid grid_of(const std::vector<ImportReport::Value>& values) {
  Grid grid;
  for (const char* name : {"path", "value", "from"}) grid.columns.push_back({name, "", 0, false});
  for (const ImportReport::Value& value : values)
    grid.rows.push_back({value.path, value.value, (value.assumed ? "assumed: " : "") + value.from});
  return grid;
}

/// All but the values, a line each.
std::vector<std::string> remarks(const ImportReport& report) {
  std::vector<std::string> lines;
  for (const ImportReport::Found& found : report.found)
    lines.push_back("read " + found.file + ": " + found.kind + ", " + std::to_string(found.items) + " items");
  for (const ImportReport::Contradiction& each : report.contradictions)
    lines.push_back("contradiction: " + contradiction_text(each));
  for (const std::string& text : report.unknown) lines.push_back("unknown: " + text);
  for (const std::string& text : report.notes) lines.push_back("note: " + text);
  return lines;
}

}  // namespace

std::string contradiction_text(const ImportReport::Contradiction& contradiction) {
  return contradiction.what + " is " + contradiction.taken + " (" + contradiction.taken_from + "), but " +
         contradiction.other + " (" + contradiction.other_from + "); taken: " + contradiction.taken;
}

std::string import_text(const ImportReport& report, Format format) {
  if (format == Format::json) return as_json(report);
  if (format == Format::csv) return as_csv(report);
  std::string text;
  if (format == Format::markdown) {
    text = markdown_text("machine " + report.machine, grid_of(report.values)) + "\n";
    for (const std::string& line : remarks(report)) text += markdown_item(line);
    return text;
  }
  text = comment_line("machine " + report.machine);
  for (const std::string& line : remarks(report)) text += comment_line(line);
  return text + left_aligned_text(grid_of(report.values));
}

}  // namespace lanecast
