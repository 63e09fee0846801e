#include "tests/cases/published_cases.hpp"

#include <sstream>

#include "model/error.hpp"

namespace lanecast::cases {
namespace {

std::string text_of(const YAML::Node& node, const char* key) {
  const YAML::Node value = node[key];
  return value && value.IsScalar() ? value.Scalar() : "";
}

PublishedMatrix read_matrix(const YAML::Node& node) {
  PublishedMatrix matrix{text_of(node, "name"), {}};
  for (const YAML::Node& row : node["rows"]) {
    auto& cells = matrix.rows.emplace_back();
    for (const YAML::Node& cell : row) {
      cells.push_back(cell.IsNull() ? std::nullopt : std::optional<double>(cell.as<double>()));
    }
  }
  return matrix;
}

/// `wanted` as in FigurePlace::entry: every `key=value` must be in the entry.
bool has_values(const YAML::Node& entry, const std::string& wanted) {
  std::istringstream pairs(wanted);
  for (std::string pair; std::getline(pairs, pair, ';');) {
    const auto equals = pair.find('=');
    if (text_of(entry, pair.substr(0, equals).c_str()) != pair.substr(equals + 1)) return false;
  }
  return true;
}

YAML::Node find_entry(const YAML::Node& list, const std::string& wanted) {
  if (wanted.empty()) return list;
  if (wanted.front() == '#') return list[static_cast<std::size_t>(std::stoul(wanted.substr(1)))];
  for (const YAML::Node& entry : list) {
    if (has_values(entry, wanted)) return entry;
  }
  return YAML::Node(YAML::NodeType::Undefined);
}

double number(const YAML::Node& node) {
  if (node.IsSequence()) {
    double sum = 0;
    for (const YAML::Node& each : node) sum += number(each);
    return sum / static_cast<double>(node.size());
  }
  const std::string& text = node.Scalar();
  return std::stod(text.substr(text.find_first_not_of('~')));  // "~6.5": as the source rounds it
}

}  // namespace

std::vector<PublishedCase> read_published_cases(const std::string& path) {
  const YAML::Node document = YAML::LoadFile(path);
  if (!document.IsSequence()) {
    throw Error(ErrorKind::usage, "the file is no list of cases", path, "give shared/cases/cases.yaml");
  }
  std::vector<PublishedCase> cases;
  for (const YAML::Node& node : document) {
    PublishedCase one{
        text_of(node, "id"), text_of(node, "kind"), text_of(node, "confidence"), {}, node["measurements"]};
    if (one.measurements.IsMap() && one.measurements["matrices"]) {
      for (const YAML::Node& matrix : one.measurements["matrices"])
        one.matrices.push_back(read_matrix(matrix));
    }
    cases.push_back(std::move(one));
  }
  return cases;
}

const PublishedCase& find_case(const std::vector<PublishedCase>& cases, const std::string& id) {
  for (const PublishedCase& one : cases) {
    if (one.id == id) return one;
  }
  throw Error(ErrorKind::usage, "there is no case `" + id + "`", "the case file",
              "bring the tables of tests/cases up to date");
}

YAML::Node measurement_list(const PublishedCase& published, const std::string& list) {
  return list.empty() ? published.measurements : published.measurements[list];
}

std::vector<YAML::Node> matching_entries(const PublishedCase& published, const std::string& list,
                                         const std::string& wanted) {
  std::vector<YAML::Node> found;
  for (const YAML::Node& entry : measurement_list(published, list)) {
    if (has_values(entry, wanted)) found.push_back(entry);
  }
  return found;
}

double figure(const PublishedCase& published, const FigurePlace& place) {
  const YAML::Node list = measurement_list(published, place.list);
  const YAML::Node entry = list ? find_entry(list, place.entry) : list;
  const YAML::Node value = entry && !place.field.empty() ? entry[place.field] : entry;
  if (!value || value.IsNull()) {
    throw Error(ErrorKind::usage, "there is no figure `" + place.field + "` of `" + place.entry + "`",
                "case " + published.id + ", list `" + place.list + "`",
                "bring the tables of tests/cases up to date");
  }
  return number(value);
}

}  // namespace lanecast::cases
