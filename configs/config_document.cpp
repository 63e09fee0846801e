#include "configs/config_document.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "configs/profile_fields.hpp"
#include "configs/profile_reader.hpp"
#include "configs/shipped.hpp"
#include "configs/shipped_profiles.hpp"
#include "configs/yaml_document.hpp"
#include "configs/yaml_section.hpp"

namespace lanecast {
namespace {

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// A profile's own keys tell it even where it forgot to say its format.
bool is_profile(const YamlNode& root) {
  for (const std::string& key :
       {profile_mark().key, std::string("implementations"), std::string("transfer")}) {
    if (root.kind == YamlNode::Kind::map && find_value(root, key) != nullptr) return true;
  }
  return false;
}

ConfigDocument read_document(const std::string& path) {
  const std::string name = path == "-" ? "standard input" : path;
  const std::string text = read_text_file(path);
  if (is_profile(parse_yaml(text, name))) return ProfileDocument{name, read_profile_file(text, name)};
  return read_machine_document_text(text, name);
}

}  // namespace

ConfigDocument load_config(const std::string& name_or_path) {
  std::error_code ignored;
  const bool is_machine = has(shipped_machines(), name_or_path);
  const bool is_file = is_yaml_path(name_or_path) || std::filesystem::is_regular_file(name_or_path, ignored);
  if (is_file && !is_machine) return read_document(name_or_path);
  if (!is_machine && has(shipped_profiles(), name_or_path)) {
    return ProfileDocument{profile_path(name_or_path, ""), load_profile_file(name_or_path, "")};
  }
  return load_machine_document(name_or_path);
}

}  // namespace lanecast
