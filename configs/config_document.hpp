#pragma once
#include <string>
#include <variant>

#include "configs/machine_reader.hpp"
#include "model/profile/profile_file.hpp"

namespace lanecast {

/// A profile file and its place.
struct ProfileDocument {
  std::string file;  // empty: built in
  ProfileFile profile;
};

/// What a file of ours describes.
using ConfigDocument = std::variant<MachineDocument, ProfileDocument>;

/// Loads a machine or a profile: the name of a shipped one, a file ("-": standard input), or a one-line
/// machine. A file is told by its first key; a machine goes before a profile of the same name.
/// @throws Error  kind usage: neither a name nor a file; a faulty file
ConfigDocument load_config(const std::string& name_or_path);

}  // namespace lanecast
