#include "reports/measure_report.hpp"

#include <fmt/format.h>

#include <functional>

#include "reports/grid.hpp"
#include "reports/measure_table.hpp"
#include "reports/prediction_report.hpp"

namespace lanecast {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}
Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }
template <class T>
Json name_or_null(const std::optional<T>& value) {
  return value ? Json(to_string(*value)) : Json();
}
Json bytes_or_null(const std::optional<Bytes>& value) { return value ? Json(value->value()) : Json(); }

/// What a call is about, before how it runs.
Json call_as_json(const Call& call, int ranks) {
  Json row;
  row["size_bytes"] = call.size.value();
  row["count"] = counted_elements(call, ranks);
  row["collective"] = to_string(call.collective);
  row["datatype"] = to_string(call.datatype);
  row["op"] = has_reduction(call.collective) ? Json(to_string(call.op)) : Json();
  row["root"] = has_root(call.collective) ? Json(call.root) : Json();
  row["in_place"] = call.in_place;
  return row;
}

Json gpu_as_json(const MeasuredGpu& gpu) {
  return {{"index", gpu.index},
          {"name", gpu.name},
          {"bus_id", gpu.bus_id},
          {"sm", gpu.sm},
          {"memory_bytes", gpu.memory.value()},
          {"before",
           {{"sm_clock_MHz", or_null(gpu.sm_clock_MHz_before)},
            {"memory_clock_MHz", or_null(gpu.memory_clock_MHz_before)}}},
          {"under_load",
           {{"sm_clock_MHz_min", or_null(gpu.sm_clock_MHz_min)},
            {"sm_clock_MHz_max", or_null(gpu.sm_clock_MHz_max)},
            {"memory_clock_MHz", or_null(gpu.memory_clock_MHz)},
            {"pcie_generation", or_null(gpu.pcie_generation)},
            {"pcie_width", or_null(gpu.pcie_width)},
            {"performance_state", or_null(gpu.performance_state)}}}};
}

Json machine_as_json(const MeasuredMachine& machine) {
  Json gpus = Json::array();
  for (const MeasuredGpu& gpu : machine.gpus) gpus.push_back(gpu_as_json(gpu));
  return {{"host", machine.host},
          {"kernel", text_or_null(machine.kernel)},
          {"cpu", text_or_null(machine.cpu)},
          {"captured", text_or_null(machine.captured)},
          {"driver", text_or_null(machine.driver)},
          {"cuda_driver", or_null(machine.cuda_driver)},
          {"cuda_runtime", or_null(machine.cuda_runtime)},
          {"gpus", gpus},
          {"paths", machine.paths},
          {"machine_file", text_or_null(machine.machine_file)}};
}

std::string as_json(const MeasureReport& report) {
  Json document = document_head(report.run);
  document["machine"] = machine_as_json(report.machine);
  document["complete"] = report.ended.empty();
  document["ended"] = text_or_null(report.ended);
  document["runs"] = Json::array();
  for (const MeasuredRun& run : report.runs) document["runs"].push_back(run_as_json(report, run));
  document["micro"] = Json::array();
  for (const MicroRow& row : report.micro) document["micro"].push_back(micro_as_json(row));
  document["left_out"] = report.left_out;
  return document_text(document);
}

void add_csv(std::string& text, const Json& row) {
  std::vector<Json> names;
  std::vector<Json> fields;
  for (const auto& [key, value] : row.items()) {
    names.emplace_back(key);
    fields.push_back(value);
  }
  if (text.empty()) text = csv_line(names);
  text += csv_line(fields);
}

std::string as_csv(const MeasureReport& report) {
  std::string text;
  for (const MeasuredRun& run : report.runs) add_csv(text, run_as_json(report, run));
  if (!report.runs.empty()) return text;
  for (const MicroRow& row : report.micro) add_csv(text, micro_as_json(row));
  return text;
}

std::string caption_of(const MeasureReport& report) {
  return fmt::format("lanecast {} ({}): measured; {} ranks as {} on {}", report.run.version,
                     report.run.commit, report.ranks, report.ranks_as, report.run.host);
}

std::string as_markdown(const MeasureReport& report) {
  std::string text;
  if (!report.runs.empty()) text = markdown_text(caption_of(report), measured_grid(report));
  if (!report.micro.empty()) {
    if (!text.empty()) text += "\n";
    text += markdown_text(caption_of(report) + ", micro-benchmarks", micro_grid(report));
  }
  for (const std::string& reason : report.left_out)
    text += markdown_item("left out: " + reason.substr(0, reason.find('\n')));
  if (!report.ended.empty()) text += markdown_item("not complete: " + report.ended);
  return text;
}

std::string as_table(const MeasureReport& report) {
  std::string text = MeasureTable::head(report);
  MeasureTable table;
  for (const MeasuredRun& run : report.runs) text += table.add(run, true);
  text += table.flush();
  if (!report.micro.empty()) text += "#\n" + aligned_text(micro_grid(report));
  return text + MeasureTable::foot(report);
}

/// A planned call with what it leaves open as null.
Json planned_as_json(const PlannedRun& planned, int ranks) {
  const Call& call = planned.call;
  Json row = call_as_json(call, ranks);
  row["algorithm"] = name_or_null(call.algorithm);
  row["protocol"] = name_or_null(call.protocol);
  row["transport"] = name_or_null(call.transport);
  row["staging"] = text_or_null(planned.staging);
  row["channels"] = or_null(call.channels);
  row["threads"] = or_null(call.threads);
  row["chunk_bytes"] = bytes_or_null(call.chunk);
  row["buffsize_bytes"] = bytes_or_null(call.buffsize);
  row["launch"] = to_string(call.launch);
  row["iterations"] = call.iterations;
  row["ranks"] = ranks;
  return row;
}

Grid planned_grid(const std::vector<PlannedRun>& planned, int ranks) {
  Grid grid;
  for (const PlannedRun& each : planned) {
    std::vector<std::string> cells;
    const Json row = planned_as_json(each, ranks);
    for (const auto& [key, value] : row.items()) {
      if (grid.rows.empty()) grid.columns.push_back({key, "", 0, value.is_number()});
      const bool fixed = key == "op" || key == "root";
      cells.push_back(value.is_null()     ? (fixed ? "-" : "auto")
                      : value.is_string() ? value.get<std::string>()
                                          : value.dump());
    }
    grid.rows.push_back(cells);
  }
  return grid;
}

}  // namespace

std::uint64_t wrong_elements(const MeasureReport& report) {
  std::uint64_t wrong = 0;
  for (const MeasuredRun& run : report.runs) wrong += run.wrong.value_or(0);
  return wrong;
}

Json run_as_json(const MeasureReport& report, const MeasuredRun& run) {
  Json row = call_as_json(run.call, run.ranks);
  row["algorithm"] = to_string(family_of(run.algorithm));
  row["variant"] = variant_or_null(run.algorithm);
  row["protocol"] = to_string(run.protocol);
  row["transport"] = to_string(run.transport);
  row["staging"] = text_or_null(run.staging);
  row["channels"] = run.channels;
  row["threads"] = run.threads;
  row["chunk_bytes"] = run.chunk.value();
  row["buffsize_bytes"] = run.buffsize.value();
  row["launch"] = to_string(run.call.launch);
  row["iterations"] = run.call.iterations;
  row["graph_replays"] = run.graph_replays;
  row["samples"] = run.samples;
  row["warmup"] = run.warmup;
  row["session"] = run.session;
  row["working_set_bytes"] = run.working_set.value();
  row["ranks"] = run.ranks;
  row["ranks_as"] = report.ranks_as;
  row["devices"] = report.devices;
  row["time_us"] = number_or_null(in_us(run.time.median));
  row["time_us_min"] = number_or_null(in_us(run.time.min));
  row["time_us_p99"] = number_or_null(in_us(run.time.p99));
  row["algbw_GBps"] = number_or_null(run.algbw().value() * 1e-9);
  row["busbw_GBps"] = number_or_null(run.busbw().value() * 1e-9);
  row["wrong"] = or_null(run.wrong);
  return row;
}

Json micro_as_json(const MicroRow& row) {
  return {{"name", row.name},
          {"source", row.source},
          {"destination", row.destination},
          {"threads", row.threads},
          {"blocks", row.blocks},
          {"size_bytes", row.size.value()},
          {"GBps", row.GBps ? number_or_null(*row.GBps) : Json()},
          {"us", row.us ? number_or_null(*row.us) : Json()},
          {"session", row.session},
          {"iterations", or_null(row.iterations)},
          {"repeats", row.repeats},
          {"spread", row.spread ? number_or_null(*row.spread) : Json()}};
}

std::string measure_text(const MeasureReport& report, Format format) {
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

std::string planned_text(const RunInfo& run, const std::vector<std::string>& head,
                         const std::vector<PlannedRun>& planned, int ranks, Format format) {
  std::string text;
  if (format == Format::csv) {
    for (const PlannedRun& each : planned) add_csv(text, planned_as_json(each, ranks));
    return text;
  }
  if (format == Format::json) {
    Json document = document_head(run);
    document["plan"] = Json::array();
    for (const PlannedRun& each : planned) document["plan"].push_back(planned_as_json(each, ranks));
    return document_text(document);
  }
  if (format == Format::markdown) {
    std::string caption;
    for (const std::string& line : head) caption += (caption.empty() ? "" : "; ") + line;
    return markdown_text(caption, planned_grid(planned, ranks));
  }
  for (const std::string& line : head) text += comment_line(line);
  return planned.empty() ? text : text + comment_line("") + aligned_text(planned_grid(planned, ranks));
}

}  // namespace lanecast
