#include "configs/measured/data_row.hpp"

#include <algorithm>

#include "configs/reading.hpp"

namespace lanecast {
namespace {

/// A list's elements with commas between; nothing where one is no scalar.
std::optional<std::string> joined(const JsonNode& list) {
  std::string text;
  for (const JsonNode& item : list.items) {
    if (item.is(JsonNode::Kind::map) || item.is(JsonNode::Kind::list)) return std::nullopt;
    text += (text.empty() ? "" : ",") + item.text;
  }
  return text;
}

}  // namespace

bool DataCell::open() const { return text.empty() || text == "auto" || text == "N/A" || text == "null"; }

const DataCell* DataRow::find(std::initializer_list<std::string_view> keys) const {
  for (const std::string_view key : keys) {
    for (const DataCell& cell : cells) {
      if (cell.key == key) return &cell;
    }
  }
  return nullptr;
}

DataRow row_of_json(const JsonNode& object, MeasuredReading& reading) {
  DataRow row{object.at, {}};
  for (std::size_t i = 0; i < object.keys.size(); ++i) {
    const JsonNode& value = object.items[i];
    std::optional<std::string> text = std::string(trimmed(value.text));
    if (value.is(JsonNode::Kind::list)) text = joined(value);
    if (value.is(JsonNode::Kind::map)) text.reset();
    if (!text) {
      reading.problem(value.at, "`" + printable(object.keys[i]) + "` holds " + describe(value.kind),
                      "rows hold numbers, texts and plain lists");
      continue;
    }
    row.cells.push_back({object.keys[i], *text, value.at});
  }
  return row;
}

void note_unknown_keys(const DataRow& row, const std::vector<std::string>& known, MeasuredReading& reading) {
  for (const DataCell& cell : row.cells) {
    if (cell.key.substr(0, 5) == "NCCL_") continue;
    if (std::find(known.begin(), known.end(), cell.key) != known.end()) continue;
    const std::string near = nearest(cell.key, known);
    reading.note(
        "`" + printable(cell.key) + "` is not read" + (near.empty() ? "" : "; did you mean `" + near + "`?"),
        cell.at.line);
  }
}

}  // namespace lanecast
