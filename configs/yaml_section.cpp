#include "configs/yaml_section.hpp"

#include <algorithm>
#include <unordered_map>

#include "configs/quantity.hpp"
#include "configs/reading.hpp"

namespace lanecast {

const YamlNode* find_value(const YamlNode& map, const std::string& key) {
  for (std::size_t i = 0; i < map.keys.size(); ++i) {
    if (map.keys[i].text == key) return &map.items[i];
  }
  return nullptr;
}

std::string joined_path(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + "." + key;
}

bool check_keys(const YamlNode& map, const std::vector<std::string>& known, const std::string& path,
                ProblemList& problems) {
  bool all_known = true;
  std::unordered_map<std::string, Position> seen;
  for (const YamlNode& key : map.keys) {
    const auto [first, is_new] = seen.emplace(key.text, key.at);
    const std::string key_path = joined_path(path, key.text);
    if (!is_new) {
      problems.add({key.at, key_path,
                    "the key `" + printable(key.text) + "` occurs twice; first on line " +
                        std::to_string(first->second.line),
                    "keep one of them"});
    } else if (std::find(known.begin(), known.end(), key.text) == known.end()) {
      all_known = false;
      const std::string near = nearest(key.text, known);
      problems.add({key.at, key_path, "unknown key `" + printable(key.text) + "`",
                    near.empty() ? "the keys here are " + listed(known) : "did you mean `" + near + "`?"});
    }
  }
  return all_known;
}

bool expect_kind(const YamlNode& node, YamlNode::Kind kind, const std::string& path, ProblemList& problems) {
  if (node.kind == kind) return true;
  const std::string wanted = describe(kind);
  const std::string mend = kind == YamlNode::Kind::list  ? "write `[]` or one line `- ...` an element"
                           : kind == YamlNode::Kind::map ? "write `{key: value, ...}`"
                                                         : "write the value, or leave the key out";
  problems.add({node.at, path,
                "`" + printable(path) + "` is " + describe(node.kind) + "; it must be " + wanted, mend});
  return false;
}

void check_format(const YamlNode& root, const FormatMark& mark, ProblemList& problems) {
  const std::string write = "write `" + mark.key + ": " + std::to_string(mark.number) + "` on the first line";
  if (root.kind != YamlNode::Kind::map) {
    problems.add(
        {root.at, "", std::string("the file is ") + describe(root.kind) + ", not " + mark.what, write});
    problems.throw_if_any();
  }
  const YamlNode* format = find_value(root, mark.key);
  if (format == nullptr) {
    problems.add({root.at, mark.key, "the file does not say its format", write});
    problems.throw_if_any();
    return;
  }
  const Reading<int> number = parse_integer(format->text);
  if (format->kind != YamlNode::Kind::scalar || format->quoted || !number) {
    problems.add({format->at, mark.key, "the format is not a whole number", write});
  } else if (*number.value != mark.number) {
    const bool newer = *number.value > mark.number;
    problems.add(
        {format->at, mark.key,
         "the file has format " + std::to_string(*number.value) + "; this lanecast reads format " +
             std::to_string(mark.number),
         newer ? "read it with a newer lanecast" : write + " and see " + mark.page + " for the keys"});
  }
  problems.throw_if_any();
}

}  // namespace lanecast
