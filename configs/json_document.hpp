#pragma once
#include <string>
#include <utility>
#include <vector>

#include "configs/problem_list.hpp"

namespace lanecast {

/// A JSON value with its place.
struct JsonNode {
  enum class Kind { null, flag, number, text, list, map };
  Kind kind = Kind::null;
  std::string text;  // text; of a number as it is written; "true" or "false"
  Position at;
  std::vector<std::string> keys;  // map: in the order of the file, each once
  std::vector<JsonNode> items;    // list: elements; map: the value of each key

  /// The value of a key; null where the map, or the key, is not there.
  const JsonNode* find(const std::string& key) const;
  bool is(Kind wanted) const { return kind == wanted; }
};

/// "a list", "a mapping", "text", "a number", "true or false", "null"
const char* describe(JsonNode::Kind kind);

/// Parses one JSON document: at most 64 levels and 8 million values.
///
/// @param file        how messages name the text
/// @param first_line  line of the file that the text begins at
/// @throws Error  kind usage: what is not JSON, keys that occur twice, text behind the document, too much
JsonNode parse_json(const std::string& text, const std::string& file, int first_line = 1);

}  // namespace lanecast
