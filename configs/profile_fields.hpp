#pragma once
#include <string>
#include <vector>

#include "configs/yaml_section.hpp"

namespace lanecast {

/// The format number that this build reads and writes: `lanecast_profile: 1`.
constexpr int profile_format = 1;

/// How a file says that it is a profile.
const FormatMark& profile_mark();

/// What the value of a key of the profile file is.
enum class ProfileType {
  text,       // free text, at most 16 KiB
  texts,      // a list of those
  name,       // letters, digits, `_`, `.` and `-`, at most 64
  date,       // "2026-11-30"
  number,     // without a unit, not negative
  integer,    // a whole number
  bytes,      // "256 KiB"
  flag,       // true or false
  protocol,   // "simple", "ll", "ll128"
  transport,  // "p2p", "shm"
  launch,     // "graph", "stream"
  triangle,   // rows of numbers of either sign, one longer than the row above
  section,    // a mapping
  sections,   // a list of mappings
  parts,      // a mapping by implementation
  values,     // a mapping by parameter
};

/// What a type accepts, for messages and the reference page: "a whole number".
const char* describe(ProfileType type);

/// One key of the profile file: what the reader, the JSON Schema and the reference page know about it.
struct ProfileKey {
  std::string section;  // "", "implementation", "parameter", "covariance", "spread", "range", "source" ...
  std::string key;
  ProfileType type = ProfileType::text;
  bool required = false;
  std::string doc;
};

/// The keys of all sections in the order of the file.
const std::vector<ProfileKey>& profile_keys();

/// The section that stands below a key of type section, sections, parts or values: "source" of `sources`.
std::string section_below(const std::string& key);

/// Names that the key `implementations` knows: "nccl" and "lanecast".
const std::vector<std::string>& profile_implementations();

}  // namespace lanecast
