#include "configs/schema.hpp"

#include <nlohmann/json.hpp>

#include "configs/machine_fields.hpp"

namespace lanecast {
namespace {

using Json = nlohmann::ordered_json;

Json one_of(const std::vector<Json>& values) { return {{"enum", values}}; }

/// YAML 1.1 tools read a bare `on` or `off` as a boolean, those of YAML 1.2 as text.
Json type_schema(FieldType type) {
  switch (type) {
    case FieldType::text:
      return {{"type", "string"}, {"maxLength", 4096}};
    case FieldType::name:
    case FieldType::cpu:
      return {{"type", "string"}, {"pattern", "^[A-Za-z0-9_.-]{1,64}$"}};
    case FieldType::node:
      return {{"type", "string"}, {"pattern", "^[A-Za-z0-9_.-]{1,80}$"}};
    case FieldType::flag:
      return one_of({true, false, "on", "off"});
    case FieldType::integer:
      return {{"type", "integer"}, {"minimum", 0}};
    case FieldType::share:
      return {{"type", "number"}, {"minimum", 0}, {"maximum", 0.5}};
    case FieldType::bytes:
      return {{"type", "string"}, {"pattern", bytes_pattern()}};
    case FieldType::rate:
      return {{"type", "string"}, {"pattern", rate_pattern()}};
    case FieldType::time:
      return {{"type", "string"}, {"pattern", time_pattern()}};
    case FieldType::pcie_rate:
      return one_of({"gen1", "gen2", "gen3", "gen4", "gen5", "gen6"});
    case FieldType::pcie_width:
      return one_of({"x1", "x2", "x4", "x8", "x12", "x16"});
    case FieldType::aspm:
      return one_of({"off", "L0s", "L1", false});
    case FieldType::distance:
      return one_of({"LOC", "NVL", "PIX", "PXB", "PHB", "NODE", "SYS"});
    case FieldType::link_kind:
      break;
  }
  return one_of({"pcie", "nvlink", "socket"});
}

Json field_schema(const FieldInfo& field) {
  Json schema = type_schema(field.type);
  const std::string origin = field.required ? "" : " (default: " + field.default_text + ")";
  schema["description"] = field.doc + origin;
  return schema;
}

/// The object of a section; of the links, the keys of one kind.
Json section_schema(const std::string& section, LinkKinds kinds) {
  Json properties = Json::object();
  Json required = Json::array();
  for (const FieldInfo& field : all_fields()) {
    if (field.section != section || (field.kinds & kinds) == 0) continue;
    properties[field.key] = field_schema(field);
    if (field.required) required.push_back(field.key);
  }
  Json schema{{"type", "object"}, {"additionalProperties", false}, {"properties", properties}};
  if (!required.empty()) schema["required"] = required;
  return schema;
}

Json when_kind(LinkKind kind, const Json& otherwise) {
  const Json condition{{"properties", {{"kind", {{"const", to_string(kind)}}}}}, {"required", {"kind"}}};
  return {{"if", condition}, {"then", section_schema("links", kinds_of(kind))}, {"else", otherwise}};
}

Json link_schema() {
  const Json pcie = section_schema("links", kinds_of(LinkKind::pcie));
  return when_kind(LinkKind::nvlink, when_kind(LinkKind::socket, pcie));
}

}  // namespace

std::string machine_schema() {
  Json top = section_schema("", all_link_kinds);
  Json properties{{"lanecast", {{"const", machine_format}, {"description", "format version of the file"}}}};
  properties.update(top["properties"]);
  for_each_list([&](const char* section, auto /*member*/) {
    const bool links = std::string(section) == "links";
    properties[section] = {{"type", "array"},
                           {"items", links ? link_schema() : section_schema(section, all_link_kinds)}};
  });
  properties["p2p"] = section_schema("p2p", all_link_kinds);
  properties["assumptions"] = {{"type", "array"},
                               {"items", type_schema(FieldType::text)},
                               {"description", "what the file could not know and takes for granted"}};
  properties["assumed"] = {{"type", "array"},
                           {"items", type_schema(FieldType::text)},
                           {"description", "paths of values that no dump stated: `links.gpu0.mps`"}};
  const Json schema{{"$schema", "http://json-schema.org/draft-07/schema#"},
                    {"title", "lanecast machine"},
                    {"type", "object"},
                    {"additionalProperties", false},
                    {"required", {"lanecast", "machine", "gpus"}},
                    {"properties", properties}};
  return schema.dump(2) + "\n";
}

}  // namespace lanecast
