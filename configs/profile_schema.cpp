#include <nlohmann/json.hpp>

#include "configs/profile_fields.hpp"
#include "configs/quantity.hpp"
#include "configs/schema.hpp"
#include "model/profile/profile.hpp"

namespace lanecast {
namespace {

using Json = nlohmann::ordered_json;

Json section_schema(const std::string& section);

Json list_of(const Json& items) { return {{"type", "array"}, {"items", items}}; }

Json reference(const std::string& definition) { return {{"$ref", "#/definitions/" + definition}}; }

/// Each parameter with its unit and range.
Json values_schema() {
  Json properties = Json::object();
  for (const ParameterInfo& about : parameter_table()) {
    const Json value{{"minimum", about.low}, {"maximum", about.high}};
    Json own{{"properties", {{"value", value}, {"unit", {{"const", about.unit}}}}}};
    if (about.unit != "1") own["required"] = {"unit"};
    properties[about.name] = {
        {"description", about.doc + " (prior: " + format_number(about.prior) + " " + about.unit + ")"},
        {"allOf", {reference("parameter"), own}}};
  }
  return {{"type", "object"}, {"additionalProperties", false}, {"properties", properties}};
}

Json parts_schema() {
  Json properties = Json::object();
  for (const std::string& name : profile_implementations()) properties[name] = reference("implementation");
  return {
      {"type", "object"}, {"additionalProperties", false}, {"minProperties", 1}, {"properties", properties}};
}

Json type_schema(const ProfileKey& key) {
  switch (key.type) {
    case ProfileType::text:
      return {{"type", "string"}, {"maxLength", 16384}};
    case ProfileType::texts:
      return list_of({{"type", "string"}, {"maxLength", 16384}});
    case ProfileType::name:
      return {{"type", "string"}, {"pattern", "^[A-Za-z0-9_.-]{1,64}$"}};
    case ProfileType::date:
      return {{"type", "string"}, {"pattern", "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}};
    case ProfileType::number:
      return {{"type", "number"}, {"minimum", 0}};
    case ProfileType::integer:
      return {{"type", "integer"}, {"minimum", 0}};
    case ProfileType::bytes:
      return {{"type", "string"}, {"pattern", bytes_pattern()}};
    case ProfileType::flag:
      return {{"type", "boolean"}};
    case ProfileType::protocol:
      return {{"enum", {"simple", "ll", "ll128"}}};
    case ProfileType::transport:
      return {{"enum", {"p2p", "shm"}}};
    case ProfileType::launch:
      return {{"enum", {"graph", "stream"}}};
    case ProfileType::triangle:
      return list_of(list_of({{"type", "number"}}));
    case ProfileType::section:
      return section_schema(section_below(key.key));
    case ProfileType::sections:
      return list_of(section_schema(section_below(key.key)));
    case ProfileType::parts:
      return parts_schema();
    case ProfileType::values:
      break;
  }
  return values_schema();
}

Json section_schema(const std::string& section) {
  Json properties = Json::object();
  Json required = Json::array();
  for (const ProfileKey& key : profile_keys()) {
    if (key.section != section) continue;
    properties[key.key] = type_schema(key);
    properties[key.key]["description"] = key.doc;
    if (key.required) required.push_back(key.key);
  }
  return {{"type", "object"},
          {"additionalProperties", false},
          {"required", required},
          {"properties", properties}};
}

}  // namespace

std::string profile_schema() {
  const Json content = section_schema("");
  Json properties{
      {profile_mark().key, {{"const", profile_format}, {"description", "format version of the file"}}}};
  properties.update(content["properties"]);
  Json required{profile_mark().key};
  for (const Json& key : content["required"]) required.push_back(key);
  const Json definitions{{"parameter", section_schema("parameter")},
                         {"implementation", section_schema("implementation")}};
  const Json schema{{"$schema", "http://json-schema.org/draft-07/schema#"},
                    {"title", "lanecast profile"},
                    {"type", "object"},
                    {"additionalProperties", false},
                    {"required", required},
                    {"oneOf", {{{"required", {"implementations"}}}, {{"required", {"transfer"}}}}},
                    {"properties", properties},
                    {"definitions", definitions}};
  return schema.dump(2) + "\n";
}

}  // namespace lanecast
