#pragma once
#include <string>
#include <vector>

#include "model/profile/profile.hpp"
#include "reports/document.hpp"
#include "reports/format.hpp"
#include "reports/grid.hpp"

namespace lanecast {

/// The values of a profile for one implementation.
struct ProfilePart {
  std::string implementation;  // "nccl", "lanecast"
  Profile profile;
};

/// What a profile was fitted on, and how far to trust it.
struct ProfileReport {
  RunInfo run;
  std::string file;  // empty: built in
  std::string name;
  std::string description;
  std::vector<std::string> gpus;
  std::string transfer;  // "GPU from `a`, links from `b`"; empty: its own values
  std::vector<ProfilePart> parts;
};

/// One implementation's part, as the whole document has it.
nlohmann::ordered_json profile_part_as_json(const ProfilePart& part);
std::string profile_part_text(const ProfilePart& part, Format format);

/// A heading and, below it, a table, for people; nothing where the table has no rows.
std::string block(const std::string& heading, const Grid& grid, Format format);

/// The document in a format: `{"file", "profile", "description", "gpus", "transfer", "implementations":
/// [{"implementation", "date", "command", "sources", "holdout", "range", "spread", "undetermined",
/// "parameters"}]}`; as CSV a line a parameter, the implementation in front.
std::string profile_text(const ProfileReport& report, Format format);

}  // namespace lanecast
