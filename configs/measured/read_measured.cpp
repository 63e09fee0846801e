#include "configs/measured/read_measured.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "configs/json_document.hpp"
#include "configs/measured/measured_format.hpp"
#include "configs/measured/readers.hpp"
#include "configs/plain_text.hpp"
#include "configs/reading.hpp"
#include "model/error.hpp"

namespace lanecast {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20;
constexpr const char* kFormats =
    "give the output of `lanecast measure` (JSON, JSON lines, CSV), of nccl-tests, of nvbandwidth or of "
    "p2pBandwidthLatencyTest (docs/measured-data.md)";

/// At most 2^31 lines, without their ends.
TextLines lines_of(std::string_view text) {
  TextLines lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    lines.push_back(line);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

void read_document(const std::string& text, MeasuredReading& reading) {
  const JsonNode document = parse_json(text, reading.name());
  switch (format_of_json(document)) {
    case JsonFormat::measure:
      return read_measure_json(document, reading);
    case JsonFormat::nccl_tests:
      return read_nccl_tests_json(document, reading);
    case JsonFormat::nvbandwidth:
      return read_nvbandwidth_json(document, reading);
    case JsonFormat::prediction:
      return reading.problem(document.at, "a prediction, not a measurement",
                             "give measured data; `lanecast compare` takes predictions");
    case JsonFormat::unknown:
      break;
  }
  reading.problem(document.at,
                  "JSON with the keys " + listed(document.keys) + " is no measurement that is read",
                  kFormats);
}

void read_text(const TextLines& lines, MeasuredReading& reading) {
  const std::vector<FormatSeen> formats = formats_of_text(lines);
  if (formats.empty()) {
    throw Error(ErrorKind::usage, "no measurement is recognised in `" + printable(reading.name()) + "`",
                printable(reading.name()), kFormats);
  }
  if (formats.size() > 1) {
    throw Error(ErrorKind::usage,
                std::string("output of ") + to_string(formats[0].format) + " and of " +
                    to_string(formats[1].format) + " (line " + std::to_string(formats[1].line) +
                    ") in one file",
                reading.at(formats[0].line), "give each its own file");
  }
  switch (formats.front().format) {
    case TextFormat::csv:
      return read_csv_rows(lines, reading);
    case TextFormat::nccl_tests:
      return read_nccl_tests_text(lines, reading);
    case TextFormat::nvbandwidth:
      return read_nvbandwidth_text(lines, reading);
    case TextFormat::p2p_latency:
      return read_p2p_latency_text(lines, reading);
  }
}

/// Models once each, in the order of their appearance.
void unite(std::vector<std::string>& models, const std::vector<std::string>& others) {
  for (const std::string& model : others) {
    if (std::find(models.begin(), models.end(), model) == models.end()) models.push_back(model);
  }
}

}  // namespace

MeasuredData read_measured(const std::string& whole, const std::string& name) {
  constexpr std::string_view utf8_mark = "\xef\xbb\xbf";
  const std::string text = whole.substr(whole.substr(0, 3) == utf8_mark ? 3 : 0);
  if (trimmed(text).empty()) {
    throw Error(ErrorKind::usage, "`" + printable(name) + "` is empty", printable(name), kFormats);
  }
  expect_plain_text(text, printable(name), "lanecast ... -");
  MeasuredReading reading(name);
  const TextLines lines = lines_of(text);
  if (begins_json(text)) {
    is_json_lines(lines) ? read_json_lines(lines, reading) : read_document(text, reading);
  } else {
    read_text(lines, reading);
  }
  MeasuredData data = std::move(reading).finish();
  std::vector<std::string> models;
  unite(models, data.gpu_models);
  data.gpu_models = models;
  if (data.calls.empty() && data.matrices.empty() && data.rates.empty()) {
    std::string why;
    for (const Warning& warning : data.warnings) why += "; " + warning.text;
    throw Error(ErrorKind::usage, "`" + printable(name) + "` holds no usable measurement" + why,
                printable(name), kFormats);
  }
  return data;
}

MeasuredData read_measured_file(const std::filesystem::path& file) {
  const std::string path = file.string();
  return read_measured(read_plain_text(path, kMostBytes, "lanecast ... -"),
                       path == "-" ? "standard input" : path);
}

MeasuredData merge_measured(std::vector<MeasuredData> files) {
  MeasuredData all;
  int sweeps = 0, sessions = 0;
  for (MeasuredData& file : files) {
    int file_sweeps = 0;
    std::map<int, int> renumbered;  // sessions of this file
    for (MeasuredCall& call : file.calls) {
      file_sweeps = std::max(file_sweeps, call.sweep + 1);
      call.sweep += sweeps;
      const auto [at, fresh] = renumbered.try_emplace(call.session, 0);
      if (fresh) at->second = sessions == 0 ? call.session : sessions + static_cast<int>(renumbered.size());
      call.session = at->second;
      all.calls.push_back(std::move(call));
    }
    sweeps += file_sweeps;
    for (const auto& [before, after] : renumbered) sessions = std::max(sessions, after);
    for (auto& matrix : file.matrices) all.matrices.push_back(std::move(matrix));
    for (auto& rate : file.rates) all.rates.push_back(std::move(rate));
    for (auto& warning : file.warnings) all.warnings.push_back(std::move(warning));
    unite(all.gpu_models, file.gpu_models);
  }
  return all;
}

}  // namespace lanecast
