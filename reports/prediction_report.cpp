#include "reports/prediction_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reports/grid.hpp"
#include "reports/prediction_row.hpp"

namespace lanecast {
namespace {

using Json = nlohmann::ordered_json;

/// What holds for all results of the document.
Json common_as_json(const PredictionReport& report) {
  return {{"machine", report.machine},
          {"profile", report.profile},
          {"implementation", report.implementation},
          {"ranks", report.gpus.size()},
          {"collective", to_string(report.predictions.front().call.collective)},
          {"seed", report.seed}};
}

/// What the command forced; null: left to the implementation.
Json asked_as_json(const Call& call) {
  const auto name = [](const auto& value) { return value ? Json(to_string(*value)) : Json(); };
  const auto bytes = [](const std::optional<Bytes>& size) { return size ? Json(size->value()) : Json(); };
  const auto count = [](const std::optional<int>& number) { return number ? Json(*number) : Json(); };
  return {{"algorithm", name(call.algorithm)},     {"protocol", name(call.protocol)},
          {"transport", name(call.transport)},     {"channels", count(call.channels)},
          {"threads", count(call.threads)},        {"chunk_bytes", bytes(call.chunk)},
          {"buffsize_bytes", bytes(call.buffsize)}};
}

std::string as_json(const PredictionReport& report) {
  const int ranks = static_cast<int>(report.gpus.size());
  Json document = document_head(report.run);
  document.update(common_as_json(report));
  document["gpus"] = report.gpus;
  document["asked"] = asked_as_json(report.predictions.front().call);
  if (!report.nccl_environment.empty()) document["nccl_environment"] = report.nccl_environment;
  document["results"] = Json::array();
  for (const Prediction& p : report.predictions) document["results"].push_back(prediction_as_json(p, ranks));
  if (report.why) {
    document["decisions"] = decisions_as_json(*report.why);
    for (std::size_t i = 0; i < report.predictions.size(); ++i)
      document["results"][i]["why"] = ways_as_json(report.why->sizes[i]);
  }
  document["warnings"] = warnings_as_json(unique_warnings(report.predictions));
  return document_text(document);
}

/// What is taken and what would be fastest, in four flat fields.
void add_why_fields(const Alternatives& size, std::vector<Json>& names, std::vector<Json>& fields) {
  const auto add = [&](const std::string& prefix, const Alternative* way) {
    names.emplace_back(prefix);
    fields.push_back(way == nullptr ? Json() : Json(name_of(*way)));
    names.emplace_back(prefix + "_time_us");
    fields.push_back(way != nullptr && way->prediction ? number_or_null(in_us(way->prediction->time))
                                                       : Json());
    names.emplace_back(prefix + "_nccl_time_us");
    fields.push_back(way != nullptr && way->nccl_estimate ? number_or_null(in_us(*way->nccl_estimate))
                                                          : Json());
  };
  add("taken", size.taken());
  add("fastest", size.fastest());
}

std::string as_csv(const PredictionReport& report) {
  const Json common = common_as_json(report);
  std::string text;
  for (std::size_t i = 0; i < report.predictions.size(); ++i) {
    const Prediction& p = report.predictions[i];
    std::vector<Json> names;
    std::vector<Json> fields;
    add_flat(common, names, fields);
    add_flat(prediction_as_json(p, static_cast<int>(report.gpus.size())), names, fields);
    if (report.why) add_why_fields(report.why->sizes[i], names, fields);
    if (text.empty()) text = csv_line(names);
    text += csv_line(fields);
  }
  return text;
}

Grid as_grid(const PredictionReport& report) {
  Grid grid;
  grid.columns = {{"size", "(B)", 11},
                  {"count", "(elements)", 12},
                  {"type", "", 8, false},
                  {"redop", "", 6, false},
                  {"root", "", 5},
                  {"time", "(us)", 8},
                  {"algbw", "(GB/s)", 7},
                  {"busbw", "(GB/s)", 7},
                  {"limit", "(GB/s)", 7},
                  {"algorithm", "", 9, false},
                  {"protocol", "", 8, false},
                  {"transport", "", 9, false},
                  {"channels", "", 8},
                  {"bottleneck", "", 12, false},
                  {"util", "", 4}};
  for (const Prediction& p : report.predictions) {
    const Call& call = p.call;
    grid.rows.push_back(
        {std::to_string(call.size.value()),
         std::to_string(element_count(call, static_cast<int>(report.gpus.size()))), to_string(call.datatype),
         has_reduction(call.collective) ? to_string(call.op) : "none",
         has_root(call.collective) ? std::to_string(call.root) : "-1", time_cell(p.time),
         rate_cell(p.algbw()), rate_cell(p.busbw()), p.limit_busbw ? rate_cell(*p.limit_busbw) : "-",
         to_string(p.algorithm) + std::string(p.stands_in_for.empty() ? "" : "*"), to_string(p.protocol),
         p.transport, std::to_string(p.channels), bottleneck_cell(p.bottleneck),
         p.bottleneck ? fmt::format("{:.2f}", p.bottleneck->utilization) : "-"});
  }
  return grid;
}

std::vector<std::string> head_of(const PredictionReport& report) {
  const Call& call = report.predictions.front().call;
  std::string gpus;
  for (const int gpu : report.gpus) gpus += " " + std::to_string(gpu);
  return {fmt::format("lanecast {} ({}): {}", report.run.version, report.run.commit,
                      report.simulated ? "predicted by simulation, not measured"
                                       : "NCCL's own estimates, neither simulated nor measured"),
          fmt::format("machine {}, profile {}, implementation {}, seed {}", report.machine, report.profile,
                      report.implementation, report.seed),
          fmt::format("{}, {} rank{} (GPUs{}), {}, {} of {} launches", to_string(call.collective),
                      report.gpus.size(), report.gpus.size() == 1 ? "" : "s", gpus,
                      call.in_place ? "in place" : "out of place", to_string(call.launch), call.iterations),
          "limit: busbw that the links allow at best; util: share of the bottleneck's payload rate in use"};
}

/// A line for each way that another stands in for: "ring*: NCCL takes nvls/simple, which is not simulated".
std::vector<std::string> stand_ins(const PredictionReport& report) {
  std::vector<std::string> lines;
  for (const Prediction& p : report.predictions) {
    const std::string line = std::string(to_string(p.algorithm)) + "*: NCCL takes " + p.stands_in_for +
                             ", which is not simulated; shown is what it would take without";
    if (!p.stands_in_for.empty() && std::find(lines.begin(), lines.end(), line) == lines.end())
      lines.push_back(line);
  }
  return lines;
}

std::string as_markdown(const PredictionReport& report) {
  const std::vector<std::string> head = head_of(report);
  std::string text = markdown_text(head[0] + "; " + head[1] + "; " + head[2], as_grid(report));
  for (const std::string& line : stand_ins(report)) text += "\n" + markdown_item(line);
  if (!report.why) return text;
  text += "\n";
  for (const std::string& line : decision_lines(*report.why)) text += markdown_item(line);
  for (const std::string& line : regrets(*report.why)) text += markdown_item(line);
  text += "\n" + markdown_text("ways (* taken, + fastest by prediction)", ways_grid(*report.why)) + "\n";
  for (const std::string& line : impossible_lines(*report.why)) text += markdown_item(line);
  return text;
}

/// The lines below the table: comments, so that who reads the table by machine passes over them.
std::string why_text(const WhyReport& why) {
  std::string text;
  for (const std::string& line : decision_lines(why)) text += comment_line(line);
  text += comment_line("");
  for (const std::string& line : regrets(why)) text += comment_line(line);
  text += comment_line("ways (* taken, + fastest by prediction):");
  const std::string grid = aligned_text(ways_grid(why));
  std::size_t begin = 0;
  while (begin < grid.size()) {
    const std::size_t end = grid.find('\n', begin);
    const std::string line = grid.substr(begin, end - begin);
    text += line.rfind("#", 0) == 0 ? line + "\n" : "#" + line.substr(line.rfind(" ", 0) == 0 ? 1 : 0) + "\n";
    begin = end + 1;
  }
  for (const std::string& line : impossible_lines(why)) text += comment_line(line);
  return text;
}

std::string as_table(const PredictionReport& report) {
  std::string text;
  for (const std::string& line : head_of(report)) text += comment_line(line);
  for (const std::string& line : stand_ins(report)) text += comment_line(line);
  text += comment_line("") + aligned_text(as_grid(report));
  if (report.why) text += comment_line("") + why_text(*report.why);
  return text;
}

}  // namespace

std::vector<Warning> unique_warnings(const std::vector<Prediction>& predictions) {
  std::vector<Warning> unique;
  for (const Prediction& p : predictions) {
    for (const Warning& warning : p.warnings) {
      if (std::find(unique.begin(), unique.end(), warning) == unique.end()) unique.push_back(warning);
    }
  }
  return unique;
}

std::string prediction_text(const PredictionReport& report, Format format) {
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
