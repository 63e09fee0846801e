#pragma once
#include <string>
#include <vector>

#include "configs/json_document.hpp"
#include "configs/measured/readers.hpp"

namespace lanecast {

enum class JsonFormat { measure, nccl_tests, nvbandwidth, prediction, unknown };
enum class TextFormat { csv, nccl_tests, nvbandwidth, p2p_latency };

const char* to_string(TextFormat format);  // "nccl-tests", "p2pBandwidthLatencyTest", ...

/// A format, and the first line that gives it away.
struct FormatSeen {
  TextFormat format{};
  int line = 0;
};

/// Whether a text is meant to be JSON: `{`, or `[` with `{` behind. Other texts may begin with a bracket,
/// too.
bool begins_json(std::string_view text);

/// Whether each line is an object of its own.
bool is_json_lines(const TextLines& lines);

JsonFormat format_of_json(const JsonNode& document);

/// All formats whose marks occur, by line. CSV has no marks: it is what is left where a first row has commas.
std::vector<FormatSeen> formats_of_text(const TextLines& lines);

}  // namespace lanecast
