#include <charconv>
#include <string>
#include <utility>

#include "configs/measured/cell_values.hpp"
#include "configs/measured/nccl_tests_run.hpp"
#include "configs/measured/nccl_tests_table.hpp"
#include "configs/measured/readers.hpp"
#include "configs/reading.hpp"

namespace lanecast {
namespace {

/// The text of a scalar; "" where it is not there.
std::string text_of(const JsonNode* map, const std::string& key) {
  const JsonNode* value = map == nullptr ? nullptr : map->find(key);
  const bool scalar = value != nullptr && !value->is(JsonNode::Kind::null) && value->items.empty();
  return scalar ? std::string(trimmed(value->text)) : "";
}

std::optional<std::uint64_t> whole_of(const JsonNode* map, const std::string& key) {
  const std::string text = text_of(map, key);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

int small_of(const JsonNode* map, const std::string& key, int otherwise) {
  const auto value = whole_of(map, key);
  return value && *value <= 1'000'000 ? static_cast<int>(*value) : otherwise;
}

void take_config(const JsonNode* config, NcclTestsRun& run) {
  if (config == nullptr) return;
  // `graph` is the number of replays, or, as all of its truths, a text
  const std::string graph = CellValues::lower(text_of(config, "graph"));
  const int replays = graph == "true" ? 1 : small_of(config, "graph", 0);
  const auto most = whole_of(config, "maximum_bytes");
  const int iterations = small_of(config, "iterations", 0);
  if (most) run.set_sizes(Bytes(*most), iterations, replays);
  run.set_together(small_of(config, "aggregated_iterations", 1));
  run.set_own_ranks(small_of(config, "nthreads", 1) * std::min(small_of(config, "ngpus", 1), 1024));
  const JsonNode* devices = config->find("devices");
  if (devices == nullptr) return;
  for (const JsonNode& device : devices->items) {
    run.add_rank(small_of(&device, "rank", 0),
                 {small_of(&device, "device", 0), text_of(&device, "hostname"),
                  text_of(&device, "device_hex"), printable(text_of(&device, "device_info"))});
  }
}

/// Variables and the test's name; `args` may be a list or one text.
void take_head(const JsonNode& document, NcclTestsRun& run) {
  if (const auto code = whole_of(&document, "nccl_version"))
    run.set_library(static_cast<int>(*code % 1'000'000));
  const JsonNode* env = document.find("env");
  for (std::size_t i = 0; env != nullptr && i < env->items.size(); ++i) {
    if (env->is(JsonNode::Kind::map)) {
      if (env->keys[i].substr(0, 5) == "NCCL_") run.set_variable(env->keys[i], env->items[i].text);
      continue;
    }
    const std::string& line = env->items[i].text;  // "NCCL_PROTO=LL"
    const std::size_t equals = line.find('=');
    if (line.substr(0, 5) != "NCCL_" || equals == std::string::npos) continue;
    run.set_variable(line.substr(0, equals), line.substr(equals + 1));
  }
  const JsonNode* args = document.find("args");
  if (args == nullptr) return;
  std::string line = args->text;
  for (const JsonNode& arg : args->items) line += " " + arg.text;
  run.take(line);
}

NcclTestsCell cell_of(const JsonNode* place, bool& cpu_time) {
  if (place == nullptr || !place->is(JsonNode::Kind::map)) return {};
  cpu_time = cpu_time || place->find("cpu_time") != nullptr;
  const auto shown = [&](const char* key) {
    const std::string text = text_of(place, key);
    return text == "nan" ? std::string("N/A") : text;
  };
  return {text_of(place, "time"), shown("alg_bw"), shown("bus_bw"), shown("nwrong"), "", ""};
}

}  // namespace

void read_nccl_tests_json(const JsonNode& document, MeasuredReading& reading) {
  NcclTestsRun run(reading.name(), document.at.line);
  take_config(document.find("config"), run);
  take_head(document, run);
  NcclTestsTable table(reading);
  bool cpu_time = false;
  const JsonNode* results = document.find("results");
  for (const JsonNode& result : results->items) {
    if (!result.is(JsonNode::Kind::map)) {
      reading.problem(result.at, std::string("a result is ") + describe(result.kind),
                      "each must be a mapping");
      continue;
    }
    NcclTestsRow row{result.at.line,
                     text_of(&result, "size"),
                     text_of(&result, "count"),
                     text_of(&result, "type"),
                     text_of(&result, "redop"),
                     text_of(&result, "root"),
                     {}};
    row.places[0] = cell_of(result.find("out_of_place"), cpu_time);
    row.places[1] = cell_of(result.find("in_place"), cpu_time);
    table.add(std::move(row));
  }
  const JsonNode* bounds = document.find("out_of_bounds");
  if (CellValues::lower(text_of(bounds, "okay")) == "false") {
    table.failed(bounds->at.line);
    reading.note("the run says that some results were wrong", bounds->at.line);
  }
  table.finish(std::move(run), /*milliseconds=*/false, cpu_time, /*counts_wrong=*/true);
}

}  // namespace lanecast
