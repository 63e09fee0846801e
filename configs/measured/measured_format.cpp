#include "configs/measured/measured_format.hpp"

#include <algorithm>
#include <initializer_list>

#include "configs/reading.hpp"

namespace lanecast {
namespace {

bool holds(std::string_view line, std::initializer_list<std::string_view> parts) {
  return std::all_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return line.find(part) != std::string_view::npos; });
}

bool is_nccl_tests(std::string_view line) {
  return holds(line, {"nccl-tests version"}) || holds(line, {"nThread ", "minBytes "}) ||
         holds(line, {"Collective test starting"}) || holds(line, {"algbw", "busbw", "time"});
}

bool is_nvbandwidth(std::string_view line) {
  if (holds(line, {"nvbandwidth Version"}) || holds(line, {"bandwidth (GB/s)", "GPU(row)"})) return true;
  const std::size_t run = line.find("Running ");
  if (run == std::string_view::npos || run > 64) return false;
  const std::string_view name = trimmed(line.substr(run + 8));
  return name.size() > 1 && name.back() == '.' && name.find('_') != std::string_view::npos &&
         name.find(' ') == std::string_view::npos;
}

bool is_p2p_latency(std::string_view line) {
  return holds(line, {"GPU Bandwidth Latency Test"}) || holds(line, {"P2P=", "Matrix"});
}

/// Whether a line looks like a row of CSV: names or numbers between commas.
bool is_csv(std::string_view line) {
  return line.find(',') != std::string_view::npos && line.find("NCCL ") == std::string_view::npos;
}

}  // namespace

const char* to_string(TextFormat format) {
  switch (format) {
    case TextFormat::csv:
      return "CSV";
    case TextFormat::nccl_tests:
      return "nccl-tests";
    case TextFormat::nvbandwidth:
      return "nvbandwidth";
    case TextFormat::p2p_latency:
      return "p2pBandwidthLatencyTest";
  }
  return "?";
}

bool begins_json(std::string_view text) {
  std::string_view rest = trimmed(text.substr(0, 4096));
  if (rest.substr(0, 1) == "{") return true;
  if (rest.substr(0, 1) != "[") return false;
  return trimmed(rest.substr(1)).substr(0, 1) == "{";
}

bool is_json_lines(const TextLines& lines) {
  int objects = 0;
  for (const std::string_view line : lines) {
    const std::string_view text = trimmed(line);
    if (text.empty()) continue;
    if (text.front() != '{' || (text.back() != '}' && objects == 0)) return false;
    if (text == "{") return false;
    if (++objects == 2) return true;
  }
  // A single line: a row where it has the keys of one, else a document
  return objects == 1 && holds(lines.front(), {"\"size_bytes\""}) && !holds(lines.front(), {"\"lanecast\""});
}

JsonFormat format_of_json(const JsonNode& document) {
  if (document.find("nvbandwidth") != nullptr) return JsonFormat::nvbandwidth;
  const bool ours = document.find("lanecast") != nullptr;
  if (ours && (document.find("runs") != nullptr || document.find("micro") != nullptr))
    return JsonFormat::measure;
  if (ours && (document.find("results") != nullptr || document.find("cases") != nullptr)) {
    return JsonFormat::prediction;
  }
  const bool tests = document.find("results") != nullptr && document.find("config") != nullptr;
  return tests ? JsonFormat::nccl_tests : JsonFormat::unknown;
}

std::vector<FormatSeen> formats_of_text(const TextLines& lines) {
  struct Mark {
    TextFormat format;
    bool (*is)(std::string_view);
  };
  constexpr Mark marks[] = {{TextFormat::nccl_tests, &is_nccl_tests},
                            {TextFormat::nvbandwidth, &is_nvbandwidth},
                            {TextFormat::p2p_latency, &is_p2p_latency}};
  std::vector<FormatSeen> seen;
  const auto known = [&](TextFormat format) {
    return std::any_of(seen.begin(), seen.end(), [&](const FormatSeen& s) { return s.format == format; });
  };
  int first_csv = 0, number = 0;
  bool rows = false;  // a line that is neither empty nor a comment was there
  for (const std::string_view whole : lines) {
    ++number;
    const std::string_view line = whole.substr(0, 1024);
    for (const Mark& mark : marks) {
      if (!known(mark.format) && mark.is(line)) seen.push_back({mark.format, number});
    }
    const std::string_view text = trimmed(line);
    if (rows || text.empty() || text.front() == '#') continue;
    rows = true;
    if (is_csv(text)) first_csv = number;
  }
  if (seen.empty() && first_csv != 0) seen.push_back({TextFormat::csv, first_csv});
  return seen;
}

}  // namespace lanecast
