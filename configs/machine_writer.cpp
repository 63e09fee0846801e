#include "configs/machine_writer.hpp"

#include <algorithm>

#include "configs/machine_fields.hpp"
#include "configs/yaml_scalar.hpp"

namespace lanecast {
namespace {

std::string scalar(FieldType type, const std::string& text) {
  const bool is_free =
      type == FieldType::text || type == FieldType::name || type == FieldType::node || type == FieldType::cpu;
  return is_free ? yaml_text(text) : text;
}

struct Entry {
  std::string key;
  std::string value;  // as YAML writes it
};

using Comments = std::map<std::string, std::string>;

/// Each field that is required, differs from its default, or has a comment.
template <class T>
std::vector<Entry> entries(const T& element, const NodeIndex& nodes, const std::string& path,
                           const Comments& comments) {
  const T plain = baseline(element);
  std::vector<Entry> made;
  for (const Field<T>& field : fields<T>()) {
    const FieldType type = field.info.type;
    const std::string value = field.show(element, type, nodes);
    const bool is_kind = type == FieldType::link_kind && value != to_string(LinkKind::pcie);
    if (!applies(field.info, element)) continue;
    const bool is_default = value == field.show(plain, type, nodes);
    const bool explained = !value.empty() && comments.count(path + field.info.key) != 0;
    if (!field.info.required && !is_kind && is_default && !explained) continue;
    made.push_back({field.info.key, scalar(type, value)});
  }
  return made;
}

std::string flow_map(const std::vector<Entry>& entries) {
  std::string text;
  for (const Entry& entry : entries) text += (text.empty() ? "{" : ", ") + entry.key + ": " + entry.value;
  return text.empty() ? "{}" : text + "}";
}

/// A line an entry, comments in one column. The first line begins with `first`, the others with as many
/// blanks.
std::string block_map(const std::vector<Entry>& entries, const std::string& first, const std::string& path,
                      const Comments& comments) {
  constexpr std::size_t comment_column = 44;
  std::string text, lead = first;
  for (const Entry& entry : entries) {
    std::string line = lead + entry.key + ": " + entry.value;
    const auto comment = comments.find(path + entry.key);
    if (comment != comments.end()) {
      line.resize(std::max(line.size() + 2, comment_column), ' ');
      line += "# ";
      for (const char c : comment->second)
        line += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
    }
    text += line + "\n";
    lead.assign(first.size(), ' ');
  }
  return text;
}

void append_list(std::string& text, const char* key, const std::vector<std::string>& items) {
  if (!items.empty()) text += std::string(key) + ":\n";
  for (const std::string& item : items) text += "  - " + yaml_quoted(item) + "\n";
}

}  // namespace

std::string write_machine(const Machine& machine) {
  const NodeIndex nodes(machine);
  std::string text = "lanecast: " + std::to_string(machine_format) + "\n";
  text += block_map(entries(machine, nodes, "", {}), "", "", {});
  for_each_list([&](const char* section, auto member) {
    if ((machine.*member).empty()) return;
    text += std::string(section) + ":\n";
    for (const auto& element : machine.*member)
      text += "  - " + flow_map(entries(element, nodes, "", {})) + "\n";
  });
  const std::vector<Entry> p2p = entries(machine.p2p, nodes, "", {});
  if (!p2p.empty()) text += "p2p: " + flow_map(p2p) + "\n";
  append_list(text, "assumptions", machine.assumptions);
  append_list(text, "assumed", machine.assumed);
  return text;
}

std::string write_machine(const Machine& machine, const Comments& comments) {
  const NodeIndex nodes(machine);
  std::string text = "lanecast: " + std::to_string(machine_format) + "\n";
  text += block_map(entries(machine, nodes, "", comments), "", "", comments);
  for_each_list([&](const char* section, auto member) {
    if ((machine.*member).empty()) return;
    text += std::string(section) + ":\n";
    for (const auto& element : machine.*member) {
      const std::string path = std::string(section) + "." + element.name + ".";
      text += block_map(entries(element, nodes, path, comments), "  - ", path, comments);
    }
  });
  const std::vector<Entry> p2p = entries(machine.p2p, nodes, "p2p.", comments);
  if (!p2p.empty()) text += "p2p:\n" + block_map(p2p, "  ", "p2p.", comments);
  append_list(text, "assumptions", machine.assumptions);
  append_list(text, "assumed", machine.assumed);
  return text;
}

}  // namespace lanecast
