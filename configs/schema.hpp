#pragma once
#include <string>

namespace lanecast {

/// JSON Schema (draft-07) of the machine file, for editors and for checks by other tools. It is made from the
/// table of fields; configs/schema/machine.schema.json is its committed copy.
std::string machine_schema();

/// The same of the profile file; configs/schema/profile.schema.json.
std::string profile_schema();

}  // namespace lanecast
