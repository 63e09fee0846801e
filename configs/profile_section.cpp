#include "configs/profile_section.hpp"

#include <optional>
#include <utility>

#include "configs/field_values.hpp"
#include "configs/node_index.hpp"
#include "configs/quantity.hpp"
#include "configs/reading.hpp"

namespace lanecast {
namespace {

constexpr std::size_t most_text_bytes = std::size_t{16} << 10;

bool is_date(const std::string& text) {
  constexpr std::string_view form = "dddd-dd-dd";
  if (text.size() != form.size()) return false;
  for (std::size_t i = 0; i < form.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (form[i] == 'd' ? !digit : text[i] != form[i]) return false;
  }
  return true;
}

std::optional<Complaint> read_text(const YamlNode& node, ProfileType type, std::string& to) {
  if (node.text.size() > most_text_bytes) return Complaint{"longer than 16 KiB", "shorten it"};
  if (type == ProfileType::date && !is_date(node.text)) return Complaint{"not a date", ""};
  if (type == ProfileType::name) {
    return read_field(to, FieldType::name, {node.text, node.quoted}, NodeIndex(Machine()));
  }
  to = node.text;
  return std::nullopt;
}

std::vector<std::string> keys_of(const std::string& section) {
  std::vector<std::string> names;
  if (section.empty()) names.push_back(profile_mark().key);
  for (const ProfileKey& key : profile_keys()) {
    if (key.section == section) names.push_back(key.key);
  }
  return names;
}

}  // namespace

ProfileSection::ProfileSection(const YamlNode& map, std::string section, std::string path,
                               ProblemList& problems)
    : map_(map), section_(std::move(section)), path_(std::move(path)), problems_(problems) {
  check_keys(map_, keys_of(section_), path_, problems_);
  for (const ProfileKey& key : profile_keys()) {
    if (key.section != section_ || !key.required || has(key.key)) continue;
    complain(key.key, "`" + key.key + "` is missing: " + key.doc,
             "add `" + key.key + ": ...`, " + describe(key.type));
  }
}

void ProfileSection::complain(const std::string& key, const std::string& text, const std::string& mend) {
  const YamlNode* node = find_value(map_, key);
  problems_.add({node != nullptr ? node->at : map_.at, path_of(key), text, mend});
}

ProfileType ProfileSection::type_of(const std::string& key) const {
  for (const ProfileKey& known : profile_keys()) {
    if (known.section == section_ && known.key == key) return known.type;
  }
  return ProfileType::text;
}

void ProfileSection::refuse(const std::string& key, const YamlNode& node, const Complaint& complaint) {
  problems_.add({node.at, path_of(key), "`" + key + "` is `" + printable(node.text) + "`: " + complaint.text,
                 complaint.mend.empty() ? std::string("write ") + describe(type_of(key)) : complaint.mend});
}

const YamlNode* ProfileSection::value(const std::string& key, YamlNode::Kind kind) {
  const YamlNode* node = find_value(map_, key);
  return node != nullptr && expect_kind(*node, kind, path_of(key), problems_) ? node : nullptr;
}

const YamlNode* ProfileSection::scalar(const std::string& key, bool may_be_quoted) {
  const YamlNode* node = value(key, YamlNode::Kind::scalar);
  if (node == nullptr || !node->quoted || may_be_quoted) return node;
  refuse(key, *node, {"text in quotes", std::string("write ") + describe(type_of(key)) + " without quotes"});
  return nullptr;
}

void ProfileSection::read(const std::string& key, std::string& to) {
  const YamlNode* node = scalar(key, true);
  if (node == nullptr) return;
  if (const auto complaint = read_text(*node, type_of(key), to)) refuse(key, *node, *complaint);
}

void ProfileSection::read(const std::string& key, std::vector<std::string>& to) {
  const YamlNode* list = value(key, YamlNode::Kind::list);
  if (list == nullptr) return;
  for (std::size_t i = 0; i < list->items.size(); ++i) {
    const YamlNode& item = list->items[i];
    const std::string place = key + "[" + std::to_string(i) + "]";
    std::string text;
    if (!expect_kind(item, YamlNode::Kind::scalar, path_of(place), problems_)) continue;
    if (const auto complaint = read_text(item, ProfileType::text, text)) refuse(place, item, *complaint);
    to.push_back(std::move(text));
  }
}

void ProfileSection::read(const std::string& key, double& to) {
  const YamlNode* node = scalar(key, false);
  if (node == nullptr) return;
  const Reading<double> number = parse_number(node->text);
  if (!number) return refuse(key, *node, number.complaint);
  to = *number.value;
}

void ProfileSection::read(const std::string& key, int& to) {
  const YamlNode* node = scalar(key, false);
  if (node == nullptr) return;
  const Reading<int> number = parse_integer(node->text);
  if (!number) return refuse(key, *node, number.complaint);
  to = *number.value;
}

void ProfileSection::read(const std::string& key, bool& to) {
  const YamlNode* node = scalar(key, false);
  if (node == nullptr) return;
  if (node->text != "true" && node->text != "false")
    return refuse(key, *node, {"there is no such value", ""});
  to = node->text == "true";
}

void ProfileSection::read(const std::string& key, Bytes& to) {
  const YamlNode* node = scalar(key, true);
  if (node == nullptr) return;
  const Reading<Bytes> size = parse_bytes(node->text);
  if (!size) return refuse(key, *node, size.complaint);
  to = *size.value;
}

void ProfileSection::read(const std::string& key, Protocol& to) {
  const YamlNode* node = scalar(key, true);
  if (node == nullptr) return;
  const auto protocol = protocol_from_string(node->text);
  if (!protocol) return refuse(key, *node, {"there is no such protocol", ""});
  to = *protocol;
}

void ProfileSection::read(const std::string& key, Transport& to) {
  const YamlNode* node = scalar(key, true);
  if (node == nullptr) return;
  for (const Transport transport : {Transport::p2p, Transport::shm}) {
    if (node->text == to_string(transport)) {
      to = transport;
      return;
    }
  }
  refuse(key, *node, {"there is no such transport", ""});
}

void ProfileSection::read(const std::string& key, Launch& to) {
  const YamlNode* node = scalar(key, false);
  if (node == nullptr) return;
  for (const Launch launch : {Launch::graph, Launch::stream}) {
    if (node->text == to_string(launch)) {
      to = launch;
      return;
    }
  }
  refuse(key, *node, {"there is no such launch", ""});
}

Reading<double> parse_signed(const YamlNode& scalar) {
  if (scalar.quoted) return Complaint{"text in quotes", "write the number without quotes"};
  const bool negative = !scalar.text.empty() && scalar.text.front() == '-';
  const Reading<double> size = parse_number(negative ? scalar.text.substr(1) : scalar.text);
  if (!size) return size.complaint;
  return negative ? -*size.value : *size.value;
}

}  // namespace lanecast
