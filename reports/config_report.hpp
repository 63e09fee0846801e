#pragma once
#include <string>
#include <vector>

#include "model/profile/profile.hpp"
#include "reports/document.hpp"
#include "reports/format.hpp"

namespace lanecast {

/// One value of a machine in force and where it came from.
struct ExplainedValue {
  std::string path;    // "links.gpu0.width"
  std::string value;   // as the file writes it; empty: none
  std::string origin;  // "box.yaml:14:12", "default"
  std::string doc;
};

struct ConfigReport {
  RunInfo run;
  std::string file;  // of the machine
  std::string machine;
  std::string reason;  // for this profile
  std::vector<ExplainedValue> values;
  Profile profile;
};

/// The document in a format: `{"file", "machine", "profile", "profile_reason", "values": [...],
/// "parameters": [...]}`, or a line a value.
std::string config_text(const ConfigReport& report, Format format);

}  // namespace lanecast
