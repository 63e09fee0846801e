#pragma once
#include <string>
#include <vector>

#include "configs/problem_list.hpp"

namespace lanecast {

/// A YAML value with its place. Anchors, aliases and tags do not occur: `parse_yaml` refuses them.
struct YamlNode {
  enum class Kind { null, scalar, list, map };
  Kind kind = Kind::null;
  std::string text;     // scalar
  bool quoted = false;  // scalar: written in quotes or as a block
  Position at;
  std::vector<YamlNode> keys;   // map: scalars, in the order of the file, duplicates included
  std::vector<YamlNode> items;  // list: elements; map: the value of each key
};

/// "a list", "a mapping", "text", "nothing"
const char* describe(YamlNode::Kind kind);

/// Parses one YAML document.
///
/// Bounded in time and memory whatever the text is: at most 8 MiB, 32 levels and a million values.
/// @param file  how messages name the text
/// @throws Error kind usage, for what is not YAML, for several documents, anchors, aliases, tags, keys that
/// are
///               not text, and beyond the limits
YamlNode parse_yaml(const std::string& text, const std::string& file);

/// Reads a text file of at most 8 MiB; "-" is standard input.
///
/// @throws Error kind usage, where it cannot be read or is larger
std::string read_text_file(const std::string& path);

}  // namespace lanecast
