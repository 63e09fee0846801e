#include "reports/document.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

namespace lanecast {

nlohmann::ordered_json document_head(const RunInfo& run) {
  nlohmann::ordered_json head;
  head["lanecast"] = run.version;
  head["format"] = document_format;
  head["command"] = run.command;
  head["commit"] = run.commit;
  head["host"] = run.host;
  head["config_digest"] =
      run.config_digest.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(run.config_digest);
  return head;
}

nlohmann::ordered_json warnings_as_json(const std::vector<Warning>& warnings) {
  auto list = nlohmann::ordered_json::array();
  for (const Warning& warning : warnings) list.push_back({{"code", warning.code}, {"text", warning.text}});
  return list;
}

nlohmann::ordered_json number_or_null(double value) {
  if (!std::isfinite(value)) return nullptr;
  return std::strtod(fmt::format("{:.9g}", value).c_str(), nullptr);
}

std::string document_text(const nlohmann::ordered_json& document) {
  return document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

nlohmann::ordered_json variant_or_null(Algorithm algorithm) {
  if (family_of(algorithm) == algorithm) return nullptr;
  return to_string(algorithm);
}

}  // namespace lanecast
