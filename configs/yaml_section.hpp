#pragma once
#include <string>
#include <vector>

#include "configs/problem_list.hpp"
#include "configs/yaml_document.hpp"

namespace lanecast {

/// The value of a key; nullptr where it is not there. Of a key that occurs twice, the first.
const YamlNode* find_value(const YamlNode& map, const std::string& key);

/// "a.b"; without the dot where there is nothing in front.
std::string joined_path(const std::string& path, const std::string& key);

/// Adds a problem for each key that occurs twice or is none of `known`, with the nearest one.
/// @return false where a key is unknown
bool check_keys(const YamlNode& map, const std::vector<std::string>& known, const std::string& path,
                ProblemList& problems);

/// Adds a problem where the node is of another kind. @return whether it is of this kind
bool expect_kind(const YamlNode& node, YamlNode::Kind kind, const std::string& path, ProblemList& problems);

/// How files of one kind say what they are: `lanecast: 1`.
struct FormatMark {
  std::string key;
  int number = 1;    // that this build reads
  std::string what;  // "a machine"
  std::string page;  // that explains the keys
};

/// Another format may mean anything, so that nothing else of such a file should be looked at.
/// @throws Error  kind usage: no mapping, no format, or another one
void check_format(const YamlNode& root, const FormatMark& mark, ProblemList& problems);

}  // namespace lanecast
