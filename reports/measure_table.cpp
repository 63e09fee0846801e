#include "reports/measure_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "reports/prediction_report.hpp"
#include "reports/prediction_row.hpp"

namespace lanecast {
namespace {

constexpr const char* kAbsent = "N/A";

const std::vector<Column>& columns() {
  static const std::vector<Column> kColumns{{"size", "(B)", 12},
                                            {"count", "(elements)", 12},
                                            {"type", "", 8, false},
                                            {"redop", "", 6, false},
                                            {"root", "", 5},
                                            {"time", "(us)", 9},
                                            {"algbw", "(GB/s)", 7},
                                            {"busbw", "(GB/s)", 7},
                                            {"#wrong", "", 6},
                                            {"time", "(us)", 9},
                                            {"algbw", "(GB/s)", 7},
                                            {"busbw", "(GB/s)", 7},
                                            {"#wrong", "", 6},
                                            {"collective", "", 14, false},
                                            {"algorithm", "", 16, false},
                                            {"protocol", "", 8, false},
                                            {"transport", "", 9, false},
                                            {"staging", "", 7, false},
                                            {"channels", "", 8},
                                            {"threads", "", 7}};
  return kColumns;
}

void add_place(std::vector<std::string>& cells, const MeasuredRun* run) {
  if (run == nullptr) {
    cells.insert(cells.end(), 4, kAbsent);
    return;
  }
  cells.push_back(time_cell(run->time.median));
  cells.push_back(rate_cell(run->algbw()));
  cells.push_back(rate_cell(run->busbw()));
  cells.push_back(run->wrong ? std::to_string(*run->wrong) : kAbsent);
}

std::string line_of(const std::vector<std::string>& cells, bool units) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    line += fmt::format("{}{:>{}}", i == 0 ? "" : "  ", cells[i], columns()[i].min_width);
  }
  if (units) line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

/// Whether two runs are one call in both places.
bool belong_together(const MeasuredRun& a, const MeasuredRun& b) {
  return !a.call.in_place && b.call.in_place && a.call.size == b.call.size && a.session == b.session &&
         a.call.collective == b.call.collective && a.call.datatype == b.call.datatype &&
         a.call.op == b.call.op && a.call.root == b.call.root && a.call.algorithm == b.call.algorithm &&
         a.call.protocol == b.call.protocol && a.call.channels == b.call.channels &&
         a.call.threads == b.call.threads && a.call.chunk == b.call.chunk &&
         a.call.buffsize == b.call.buffsize && a.call.transport == b.call.transport;
}

std::string session_line(const MeasuredRun& run) {
  return run.session > 1 ? comment_line("session " + std::to_string(run.session)) : std::string();
}

std::string number_cell(const std::optional<double>& value) {
  return value ? fmt::format("{:.4g}", *value) : kAbsent;
}

}  // namespace

std::vector<std::string> measured_cells(const MeasuredRun* out_of_place, const MeasuredRun* in_place) {
  const MeasuredRun& run = out_of_place != nullptr ? *out_of_place : *in_place;
  const Call& call = run.call;
  std::vector<std::string> cells{std::to_string(call.size.value()), std::to_string(run.count),
                                 to_string(call.datatype),
                                 has_reduction(call.collective) ? to_string(call.op) : "none",
                                 has_root(call.collective) ? std::to_string(call.root) : "-1"};
  add_place(cells, out_of_place);
  add_place(cells, in_place);
  cells.insert(cells.end(), {to_string(call.collective), to_string(run.algorithm), to_string(run.protocol),
                             to_string(run.transport), run.staging.empty() ? "-" : run.staging,
                             std::to_string(run.channels), std::to_string(run.threads)});
  return cells;
}

std::string MeasureTable::head(const MeasureReport& report) {
  std::string text =
      comment_line("lanecast " + report.run.version + " (" + report.run.commit + "): measured");
  text += comment_line(report.run.command);
  std::string gpus;
  for (const int device : report.devices) gpus += " " + std::to_string(device);
  text += comment_line(fmt::format("{} rank{} as {} on GPUs{} of {}, {} launches", report.ranks,
                                   report.ranks == 1 ? "" : "s", report.ranks_as, gpus, report.run.host,
                                   to_string(report.launch)));
  for (const MeasuredGpu& gpu : report.machine.gpus) {
    if (std::find(report.devices.begin(), report.devices.end(), gpu.index) == report.devices.end()) continue;
    text += comment_line(fmt::format("GPU {}: {} at {}", gpu.index, gpu.name, gpu.bus_id));
  }
  std::vector<std::string> names;
  std::vector<std::string> units;
  for (const Column& column : columns()) {
    names.push_back(column.name);
    units.push_back(column.unit);
  }
  names.front() =
      "#" + std::string(columns().front().min_width - 1 - names.front().size(), ' ') + names.front();
  units.front() =
      "#" + std::string(columns().front().min_width - 1 - units.front().size(), ' ') + units.front();
  const std::string places = fmt::format("#{:>{}}{:>36}", "out-of-place", 51 + 16, "in-place");
  return text + "#\n" + places + "\n" + line_of(names, true) + line_of(units, true);
}

std::string MeasureTable::add(const MeasuredRun& run, bool both) {
  std::string text;
  if (waiting_ && belong_together(*waiting_, run)) {
    text = session_line(run) + line_of(measured_cells(&*waiting_, &run), false);
    waiting_.reset();
    return text;
  }
  text = flush();
  if (both && !run.call.in_place) {
    waiting_ = run;
    return text;
  }
  return text + session_line(run) +
         line_of(run.call.in_place ? measured_cells(nullptr, &run) : measured_cells(&run, nullptr), false);
}

std::string MeasureTable::flush() {
  if (!waiting_) return "";
  const MeasuredRun run = *std::exchange(waiting_, std::nullopt);
  return session_line(run) + line_of(measured_cells(&run, nullptr), false);
}

std::string MeasureTable::foot(const MeasureReport& report) {
  std::string text;
  for (const std::string& reason : report.left_out) {
    text += comment_line("left out: " + reason.substr(0, reason.find('\n')));
  }
  const auto checked = [](const MeasuredRun& run) { return run.wrong.has_value(); };
  const auto unchecked = std::count_if(report.runs.begin(), report.runs.end(), std::not_fn(checked));
  if (!report.runs.empty()) {
    text += comment_line(fmt::format("{} timings, {} wrong elements{}", report.runs.size(),
                                     wrong_elements(report),
                                     unchecked > 0 ? fmt::format("; {} not checked", unchecked) : ""));
  }
  for (const MeasuredRun& run : report.runs) {
    if (!run.first_wrong.empty())
      text += comment_line(fmt::format("wrong: {} of {} bytes, {}", to_string(run.call.collective),
                                       run.call.size.value(), run.first_wrong));
  }
  if (!report.ended.empty())
    text += comment_line("not complete: " + report.ended.substr(0, report.ended.find('\n')));
  return text;
}

Grid measured_grid(const MeasureReport& report) {
  Grid grid;
  grid.columns = columns();
  grid.columns.push_back({"session", "", 7});
  for (std::size_t i = 0; i < report.runs.size(); ++i) {
    const MeasuredRun& run = report.runs[i];
    const bool pair = i + 1 < report.runs.size() && belong_together(run, report.runs[i + 1]);
    const MeasuredRun* in_place = pair ? &report.runs[i + 1] : run.call.in_place ? &run : nullptr;
    grid.rows.push_back(measured_cells(run.call.in_place ? nullptr : &run, in_place));
    grid.rows.back().push_back(std::to_string(run.session));
    if (pair) ++i;
  }
  return grid;
}

Grid micro_grid(const MeasureReport& report) {
  Grid grid;
  grid.columns = {{"name", "", 24, false}, {"source", "", 8, false}, {"destination", "", 11, false},
                  {"threads", "", 7},      {"blocks", "", 6},        {"size", "(B)", 11},
                  {"rate", "(GB/s)", 8},   {"time", "(us)", 8},      {"iterations", "", 10},
                  {"repeats", "", 7},      {"spread", "", 8},        {"session", "", 7}};
  for (const MicroRow& row : report.micro) {
    grid.rows.push_back({row.name, row.source, row.destination, std::to_string(row.threads),
                         std::to_string(row.blocks), std::to_string(row.size.value()), number_cell(row.GBps),
                         number_cell(row.us), row.iterations ? std::to_string(*row.iterations) : kAbsent,
                         std::to_string(row.repeats), number_cell(row.spread), std::to_string(row.session)});
  }
  return grid;
}

}  // namespace lanecast
