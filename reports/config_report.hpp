#pragma once
#include <optional>
#include <string>
#include <vector>

#include "reports/document.hpp"
#include "reports/format.hpp"

namespace lanecast {

/// One value in force and where it came from: of the machine, or a parameter of the profile.
struct ExplainedValue {
  std::string path;           // "links.gpu0.width", "pcie.dllp_share"
  std::string value;          // as the file writes it; empty: none
  std::string unit;           // of a parameter; a machine's values carry theirs in the text
  std::string origin;         // "box.yaml:14:12", "default", "prior", "profile"
  std::string source;         // of a parameter's prior
  std::optional<double> low;  // plausible range of a parameter
  std::optional<double> high;
  std::string doc;
};

struct ConfigReport {
  RunInfo run;
  std::string file;  // of the machine
  std::string machine;
  std::string profile;
  std::vector<ExplainedValue> values;      // of the machine
  std::vector<ExplainedValue> parameters;  // of the profile
};

/// The document in a format: `{"file", "machine", "profile", "values": [...], "parameters": [...]}`, or a
/// line a value.
std::string config_text(const ConfigReport& report, Format format);

}  // namespace lanecast
