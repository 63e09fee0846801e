#include <algorithm>
#include <string>

#include "configs/measured/call_row.hpp"
#include "configs/measured/readers.hpp"
#include "configs/measured/sweep_cutter.hpp"
#include "configs/reading.hpp"
#include "model/error.hpp"

namespace lanecast {
namespace {

/// Rows of a key that must be a list of objects; none where the key is absent.
std::vector<const JsonNode*> rows_of(const JsonNode& document, const std::string& key,
                                     MeasuredReading& reading) {
  std::vector<const JsonNode*> rows;
  const JsonNode* list = document.find(key);
  if (list == nullptr || list->is(JsonNode::Kind::null)) return rows;
  if (!list->is(JsonNode::Kind::list)) {
    reading.problem(list->at, "`" + key + "` is " + describe(list->kind), "it must be a list of rows");
    return rows;
  }
  for (const JsonNode& row : list->items) {
    if (row.is(JsonNode::Kind::map)) {
      rows.push_back(&row);
    } else {
      reading.problem(row.at, std::string("a row is ") + describe(row.kind), "each row must be a mapping");
    }
  }
  return rows;
}

void add_gpu_models(const JsonNode& document, MeasuredReading& reading) {
  const JsonNode* machine = document.find("machine");
  const JsonNode* gpus = machine == nullptr ? nullptr : machine->find("gpus");
  if (gpus == nullptr) return;
  for (const JsonNode& gpu : gpus->items) {
    const JsonNode* name = gpu.find("name");
    if (name != nullptr && name->is(JsonNode::Kind::text)) {
      reading.data.gpu_models.push_back(printable(name->text));
    }
  }
}

/// Says what a document that is not whole lacks.
void check_head(const JsonNode& document, MeasuredReading& reading) {
  const JsonNode* format = document.find("format");
  if (format != nullptr && format->text != "1") {
    reading.problem(format->at, "`format` is " + printable(format->text) + "; this version reads format 1",
                    "read it with the version that wrote it, or a newer one");
  }
  const JsonNode* ended = document.find("ended");
  if (ended != nullptr && ended->is(JsonNode::Kind::text)) {
    reading.note("the measurement is not complete: " + printable(ended->text), ended->at.line);
  }
}

/// Adds a row of calls or of rates, by its keys.
void add_row(const DataRow& row, SweepCutter& sweeps, MeasuredReading& reading) {
  if (row.has("time_us_low") || row.has("bottleneck")) {
    reading.problem(row.at, "a row of a prediction, not of a measurement",
                    "give what `lanecast measure` wrote; `lanecast compare` takes predictions");
    return;
  }
  if (row.has("name") && (row.has("GBps") || row.has("us"))) {
    note_unknown_keys(row, rate_keys(), reading);
    add_rate_of_row(row, reading);
    return;
  }
  note_unknown_keys(row, call_keys(), reading);
  std::vector<MeasuredCall> calls = calls_of_row(row, reading);
  sweeps.place(row, calls);
  for (MeasuredCall& call : calls) reading.data.calls.push_back(std::move(call));
}

}  // namespace

void read_measure_json(const JsonNode& document, MeasuredReading& reading) {
  check_head(document, reading);
  add_gpu_models(document, reading);
  SweepCutter sweeps(reading);
  for (const char* key : {"runs", "micro"}) {
    for (const JsonNode* row : rows_of(document, key, reading)) {
      add_row(row_of_json(*row, reading), sweeps, reading);
    }
  }
  sweeps.finish();
  for (MeasuredCall& call : reading.data.calls) call.implementation = "lanecast";
}

void read_json_lines(const TextLines& lines, MeasuredReading& reading) {
  SweepCutter sweeps(reading);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string text(trimmed(lines[i]));
    if (text.empty()) continue;
    const int line = static_cast<int>(i) + 1;
    try {
      const JsonNode row = parse_json(text, reading.name(), line);
      if (row.is(JsonNode::Kind::map)) {
        add_row(row_of_json(row, reading), sweeps, reading);
      } else {
        reading.problem(line, "a row is " + std::string(describe(row.kind)), "each line must be a mapping");
      }
    } catch (const Error&) {
      if (i + 1 == lines.size() ||
          std::all_of(lines.begin() + static_cast<std::ptrdiff_t>(i) + 1, lines.end(),
                      [](std::string_view l) { return trimmed(l).empty(); })) {
        reading.leave_out("the last line is cut off", line);
      } else {
        reading.problem(line, "this line is no JSON", "each line must be a mapping of its own");
      }
    }
  }
  sweeps.finish();
}

}  // namespace lanecast
