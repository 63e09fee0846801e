#pragma once
#include <string>
#include <vector>

#include "configs/problem_list.hpp"
#include "configs/profile_fields.hpp"
#include "configs/reading.hpp"
#include "configs/yaml_document.hpp"
#include "model/predict/call.hpp"
#include "model/protocol/protocol.hpp"
#include "model/units.hpp"

namespace lanecast {

/// One mapping of a profile file, read key by key. What is wrong goes into the list of problems, and the
/// variable to be filled stays as it is.
class ProfileSection {
 public:
  /// Looks for unknown, doubled and missing keys. @param section  as in `profile_keys`
  /// All references must outlive this.
  ProfileSection(const YamlNode& map, std::string section, std::string path, ProblemList& problems);

  bool has(const std::string& key) const { return find_value(map_, key) != nullptr; }
  std::string path_of(const std::string& key) const { return joined_path(path_, key); }

  void read(const std::string& key, std::string& to);
  void read(const std::string& key, std::vector<std::string>& to);
  void read(const std::string& key, double& to);
  void read(const std::string& key, int& to);
  void read(const std::string& key, bool& to);
  void read(const std::string& key, Bytes& to);
  void read(const std::string& key, Protocol& to);
  void read(const std::string& key, Transport& to);
  void read(const std::string& key, Launch& to);

  /// The value of a key where it is there and of this kind, else nullptr.
  const YamlNode* value(const std::string& key, YamlNode::Kind kind);

  /// Complains about a key's value; about the mapping where the key is not there.
  void complain(const std::string& key, const std::string& text, const std::string& mend);

 private:
  const YamlNode* scalar(const std::string& key, bool may_be_quoted);
  void refuse(const std::string& key, const YamlNode& node, const Complaint& complaint);
  ProfileType type_of(const std::string& key) const;

  const YamlNode& map_;
  std::string section_;
  std::string path_;
  ProblemList& problems_;
};

/// A number of either sign, as text of a YAML scalar.
Reading<double> parse_signed(const YamlNode& scalar);

}  // namespace lanecast
