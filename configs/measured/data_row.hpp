#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "configs/json_document.hpp"
#include "configs/measured/measured_reading.hpp"
#include "configs/problem_list.hpp"

namespace lanecast {

/// A named value of a row of CSV or JSON.
struct DataCell {
  std::string key;
  std::string text;  // trimmed; of a list: its elements, with commas between
  Position at;

  /// "", "auto", "N/A" and "null" say nothing.
  bool open() const;
};

/// A row of CSV, or an object of JSON that holds no others.
struct DataRow {
  Position at;
  std::vector<DataCell> cells;

  /// The first cell of one of these names; null where there is none. It may be open.
  const DataCell* find(std::initializer_list<std::string_view> keys) const;
  bool has(std::string_view key) const { return find({key}) != nullptr; }
};

/// A JSON object as a row. What is deeper than a list of values is a problem.
DataRow row_of_json(const JsonNode& object, MeasuredReading& reading);

/// Notes keys that nobody reads, with the nearest known one. NCCL_... is known.
void note_unknown_keys(const DataRow& row, const std::vector<std::string>& known, MeasuredReading& reading);

}  // namespace lanecast
