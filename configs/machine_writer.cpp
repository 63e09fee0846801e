#include "configs/machine_writer.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "configs/machine_fields.hpp"

namespace lanecast {
namespace {

/// Text in double quotes, as YAML escapes it.
std::string quote(const std::string& text) {
  constexpr const char* hex = "0123456789abcdef";
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += std::string("\\") + c;
    } else if (c == '\n') {
      quoted += "\\n";
    } else if (c == '\t') {
      quoted += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      quoted += std::string("\\x") + hex[byte >> 4] + hex[byte & 15];
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

/// True where YAML (1.1 or 1.2) reads the bare word as this very text.
bool is_plain_word(const std::string& text) {
  constexpr std::array<std::string_view, 9> special{"true", "false", "yes", "no", "on",
                                                    "off",  "null",  "y",   "n"};
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  constexpr std::string_view inner = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  if (text.empty() || letters.find(text[0]) == std::string_view::npos) return false;
  if (text.find_first_not_of(inner) != std::string::npos) return false;
  std::string lower = text;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return std::find(special.begin(), special.end(), lower) == special.end();
}

std::string scalar(FieldType type, const std::string& text) {
  const bool is_free =
      type == FieldType::text || type == FieldType::name || type == FieldType::node || type == FieldType::cpu;
  return is_free && !is_plain_word(text) ? quote(text) : text;
}

/// "key: value" for each field that is required or differs from its default.
template <class T>
std::vector<std::string> entries(const T& element, const NodeIndex& nodes) {
  const T plain = baseline(element);
  std::vector<std::string> made;
  for (const Field<T>& field : fields<T>()) {
    const FieldType type = field.info.type;
    const std::string value = field.show(element, type, nodes);
    const bool is_kind = type == FieldType::link_kind && value != to_string(LinkKind::pcie);
    if (!applies(field.info, element)) continue;
    if (!field.info.required && !is_kind && value == field.show(plain, type, nodes)) continue;
    made.push_back(field.info.key + ": " + scalar(type, value));
  }
  return made;
}

std::string flow_map(const std::vector<std::string>& entries) {
  std::string text;
  for (const std::string& entry : entries) text += (text.empty() ? "{" : ", ") + entry;
  return text.empty() ? "{}" : text + "}";
}

void append_list(std::string& text, const char* key, const std::vector<std::string>& items) {
  if (!items.empty()) text += std::string(key) + ":\n";
  for (const std::string& item : items) text += "  - " + quote(item) + "\n";
}

}  // namespace

std::string write_machine(const Machine& machine) {
  const NodeIndex nodes(machine);
  std::string text = "lanecast: " + std::to_string(machine_format) + "\n";
  for (const std::string& entry : entries(machine, nodes)) text += entry + "\n";
  for_each_list([&](const char* section, auto member) {
    if ((machine.*member).empty()) return;
    text += std::string(section) + ":\n";
    for (const auto& element : machine.*member) text += "  - " + flow_map(entries(element, nodes)) + "\n";
  });
  const std::vector<std::string> p2p = entries(machine.p2p, nodes);
  if (!p2p.empty()) text += "p2p: " + flow_map(p2p) + "\n";
  append_list(text, "assumptions", machine.assumptions);
  append_list(text, "assumed", machine.assumed);
  return text;
}

}  // namespace lanecast
