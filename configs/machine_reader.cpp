#include "configs/machine_reader.hpp"

#include <algorithm>

#include "configs/machine_fields.hpp"
#include "configs/yaml_document.hpp"
#include "configs/yaml_section.hpp"
#include "model/error.hpp"

namespace lanecast {
namespace {

/// Reads one document into a machine; problems gather until `finish`.
class MachineReader {
 public:
  MachineReader(const YamlNode& root, const std::string& file) : root_(root), problems_(file) {
    document_.file = file;
  }

  MachineDocument read() {
    check_format(root_, {"lanecast", machine_format, "a machine", "docs/machine-file.md"}, problems_);
    check_keys(root_, top_keys(), "");
    read_fields(root_, "", document_.machine);
    for_each_list(
        [this](const char* section, auto member) { read_list(section, document_.machine.*member); });
    read_p2p();
    read_texts("assumptions", document_.machine.assumptions);
    read_texts("assumed", document_.machine.assumed);
    add_check_problems();
    problems_.throw_if_any();
    return std::move(document_);
  }

 private:
  void complain(const Position& at, const std::string& path, const std::string& text,
                const std::string& mend) {
    problems_.add({at, path, text, mend});
  }

  static std::vector<std::string> top_keys();
  bool expect(const YamlNode& node, YamlNode::Kind kind, const std::string& path);
  void check_keys(const YamlNode& map, const std::vector<std::string>& known, const std::string& path);
  template <class T>
  std::vector<std::string> known_keys(const T& element) const;
  template <class T>
  void read_field_of(const YamlNode& map, const std::string& path, T& element, const Field<T>& field,
                     const NodeIndex& nodes);
  template <class T>
  void read_fields(const YamlNode& map, const std::string& path, T& element, const NodeIndex& nodes);
  template <class T>
  void read_fields(const YamlNode& map, const std::string& path, T& element) {
    read_fields(map, path, element, NodeIndex(document_.machine));
  }
  template <class T>
  void prepare(const YamlNode& /*map*/, const std::string& /*path*/, T& /*element*/,
               const NodeIndex& /*nodes*/) {}
  void prepare(const YamlNode& map, const std::string& path, Link& link, const NodeIndex& nodes);
  template <class T>
  void complete(const YamlNode& /*map*/, T& /*element*/) {}
  void complete(const YamlNode& map, Link& link);
  template <class T>
  void read_list(const std::string& section, std::vector<T>& list);
  void read_p2p();
  void read_texts(const std::string& key, std::vector<std::string>& texts);
  void add_check_problems();
  Position place_of(std::string path) const;

  const YamlNode& root_;
  MachineDocument document_;
  ProblemList problems_;
  bool structure_is_whole_ = true;  // false: a list, a name or an end could not be read
};

std::vector<std::string> MachineReader::top_keys() {
  std::vector<std::string> keys{"lanecast", "p2p", "assumptions", "assumed"};
  for (const Field<Machine>& field : fields<Machine>()) keys.push_back(field.info.key);
  for_each_list([&](const char* section, auto /*member*/) { keys.emplace_back(section); });
  return keys;
}

bool MachineReader::expect(const YamlNode& node, YamlNode::Kind kind, const std::string& path) {
  if (expect_kind(node, kind, path, problems_)) return true;
  structure_is_whole_ = structure_is_whole_ && kind == YamlNode::Kind::scalar;
  return false;
}

void MachineReader::check_keys(const YamlNode& map, const std::vector<std::string>& known,
                               const std::string& path) {
  const bool all_known = lanecast::check_keys(map, known, path, problems_);
  structure_is_whole_ = structure_is_whole_ && (all_known || !path.empty());
}

template <class T>
std::vector<std::string> MachineReader::known_keys(const T& element) const {
  std::vector<std::string> keys;
  for (const Field<T>& field : fields<T>()) {
    if (applies(field.info, element)) keys.push_back(field.info.key);
  }
  return keys;
}

template <class T>
void MachineReader::read_field_of(const YamlNode& map, const std::string& path, T& element,
                                  const Field<T>& field, const NodeIndex& nodes) {
  const std::string& key = field.info.key;
  const std::string value_path = joined_path(path, key);
  const bool structural = field.info.type == FieldType::node || field.info.type == FieldType::cpu ||
                          field.info.type == FieldType::link_kind || key == "name";
  const YamlNode* value = find_value(map, key);
  if (value == nullptr) {
    if (!field.info.required) return;
    structure_is_whole_ = structure_is_whole_ && !structural;
    complain(map.at, value_path, "`" + key + "` is missing: " + field.info.doc,
             std::string("add `") + key + ": ...`, " + describe(field.info.type));
    return;
  }
  document_.positions[value_path] = value->at;
  if (!expect(*value, YamlNode::Kind::scalar, value_path)) {
    structure_is_whole_ = structure_is_whole_ && !structural;
    return;
  }
  const auto complaint = field.read(element, field.info.type, {value->text, value->quoted}, nodes);
  if (!complaint) return;
  structure_is_whole_ = structure_is_whole_ && !structural;
  complain(value->at, value_path, "`" + key + "` is `" + printable(value->text) + "`: " + complaint->text,
           complaint->mend.empty() ? std::string("write ") + describe(field.info.type) : complaint->mend);
}

/// A link's kind decides which keys it has, so that it is read first.
void MachineReader::prepare(const YamlNode& map, const std::string& path, Link& link,
                            const NodeIndex& nodes) {
  for (const Field<Link>& field : fields<Link>()) {
    if (field.info.type == FieldType::link_kind) read_field_of(map, path, link, field, nodes);
  }
}

void MachineReader::complete(const YamlNode& map, Link& link) {
  const Link plain = baseline(link);
  if (find_value(map, "max_rate") == nullptr) link.max_rate = plain.max_rate;
  if (find_value(map, "max_width") == nullptr) link.max_width = plain.max_width;
}

template <class T>
void MachineReader::read_fields(const YamlNode& map, const std::string& path, T& element,
                                const NodeIndex& nodes) {
  prepare(map, path, element, nodes);
  const bool kind_is_known = !problems_.has(joined_path(path, "kind"));
  for (const Field<T>& field : fields<T>()) {
    if (field.info.type == FieldType::link_kind || !applies(field.info, element)) continue;
    if (!kind_is_known && field.info.kinds != all_link_kinds) continue;
    read_field_of(map, path, element, field, nodes);
  }
  complete(map, element);
}

template <class T>
void MachineReader::read_list(const std::string& section, std::vector<T>& list) {
  const YamlNode* node = find_value(root_, section);
  if (node == nullptr) return;
  document_.positions[section] = node->at;
  if (!expect(*node, YamlNode::Kind::list, section)) return;
  const NodeIndex nodes(
      document_.machine);  // sections come in an order in which nothing refers to its own kind
  std::vector<T> read;
  for (std::size_t i = 0; i < node->items.size(); ++i) {
    const std::string path = section + "[" + std::to_string(i) + "]";
    const YamlNode& item = node->items[i];
    document_.positions[path] = item.at;
    T element;
    if (expect(item, YamlNode::Kind::map, path)) {
      read_fields(item, path, element, nodes);
      const bool kind_is_known = !problems_.has(path + ".kind");
      if (kind_is_known) check_keys(item, known_keys(element), path);
    }
    read.push_back(std::move(element));
  }
  list = std::move(read);
}

void MachineReader::read_p2p() {
  const YamlNode* node = find_value(root_, "p2p");
  if (node == nullptr || !expect(*node, YamlNode::Kind::map, "p2p")) return;
  document_.positions["p2p"] = node->at;
  PeerAccess& p2p = document_.machine.p2p;
  check_keys(*node, known_keys(p2p), "p2p");
  read_fields(*node, "p2p", p2p);
}

void MachineReader::read_texts(const std::string& key, std::vector<std::string>& texts) {
  const YamlNode* node = find_value(root_, key);
  if (node == nullptr || !expect(*node, YamlNode::Kind::list, key)) return;
  const NodeIndex nodes(document_.machine);
  for (std::size_t i = 0; i < node->items.size(); ++i) {
    const YamlNode& item = node->items[i];
    const std::string path = key + "[" + std::to_string(i) + "]";
    document_.positions[path] = item.at;
    if (!expect(item, YamlNode::Kind::scalar, path)) continue;
    std::string text;
    const auto complaint = read_field(text, FieldType::text, {item.text, item.quoted}, nodes);
    if (complaint) complain(item.at, path, "`" + path + "` is " + complaint->text, complaint->mend);
    texts.push_back(std::move(text));
  }
}

/// The place of a path, or of the nearest thing around it that the file has.
Position MachineReader::place_of(std::string path) const {
  for (;;) {
    const auto found = document_.positions.find(path);
    if (found != document_.positions.end()) return found->second;
    const std::size_t cut = path.find_last_of(".[");
    if (cut == std::string::npos) return root_.at;
    path.resize(cut);
  }
}

/// Problems that only follow from what could not be read are left out: they would send the reader astray.
void MachineReader::add_check_problems() {
  for (MachineProblem& problem : check_machine(document_.machine)) {
    const std::size_t dot = problem.path.find('.');
    const bool about_a_value = dot != std::string::npos;
    const bool is_known = problems_.has(problem.path) || problems_.has(problem.path.substr(0, dot));
    if (is_known || (!about_a_value && !structure_is_whole_)) continue;
    complain(place_of(problem.path), problem.path, problem.text, problem.mend);
  }
}

}  // namespace

Machine read_machine_text(const std::string& text, const std::string& name) {
  return read_machine_document_text(text, name).machine;
}

Machine read_machine_file(const std::string& path) { return read_machine_document(path).machine; }

MachineDocument read_machine_document(const std::string& path) {
  return read_machine_document_text(read_text_file(path), path == "-" ? "standard input" : path);
}

MachineDocument read_machine_document_text(const std::string& text, const std::string& name) {
  const YamlNode root = parse_yaml(text, name);
  return MachineReader(root, name).read();
}

}  // namespace lanecast
