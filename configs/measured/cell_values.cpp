#include "configs/measured/cell_values.hpp"

#include <algorithm>
#include <charconv>

#include "configs/quantity.hpp"
#include "configs/reading.hpp"

namespace lanecast {

std::string CellValues::lower(const std::string& text) {
  std::string result = text;
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

const DataCell* CellValues::stated(std::initializer_list<std::string_view> keys) const {
  for (const std::string_view key : keys) {
    const DataCell* cell = row_.find({key});
    if (cell != nullptr && !cell->open()) return cell;
  }
  return nullptr;
}

void CellValues::complain(const DataCell& cell, const std::string& why, const std::string& mend) {
  good_ = false;
  reading_.problem(cell.at, "`" + printable(cell.key) + "` is `" + printable(cell.text) + "`: " + why, mend);
}

std::optional<std::string> CellValues::text(std::initializer_list<std::string_view> keys) const {
  const DataCell* cell = stated(keys);
  return cell == nullptr ? std::nullopt : std::optional(cell->text);
}

std::optional<int> CellValues::integer(std::initializer_list<std::string_view> keys, int least, int most) {
  const DataCell* cell = stated(keys);
  if (cell == nullptr) return std::nullopt;
  const Reading<int> value = parse_integer(cell->text);
  if (value && *value.value >= least && *value.value <= most) return value.value;
  complain(*cell, "not a whole number from " + std::to_string(least) + " to " + std::to_string(most),
           "give the number, or `auto` where it is not known");
  return std::nullopt;
}

std::optional<std::uint64_t> CellValues::count(std::initializer_list<std::string_view> keys) {
  const DataCell* cell = stated(keys);
  if (cell == nullptr) return std::nullopt;
  std::uint64_t value = 0;
  const char* end = cell->text.data() + cell->text.size();
  const auto [stop, error] = std::from_chars(cell->text.data(), end, value);
  if (error == std::errc() && stop == end) return value;
  complain(*cell, "not a whole number", "give the number, or leave it empty");
  return std::nullopt;
}

std::optional<Bytes> CellValues::bytes(std::initializer_list<std::string_view> keys) {
  const DataCell* cell = stated(keys);
  if (cell == nullptr) return std::nullopt;
  const Reading<Bytes> value = parse_size(cell->text);
  if (value) return value.value;
  complain(*cell, value.complaint.text, value.complaint.mend);
  return std::nullopt;
}

std::optional<double> CellValues::positive(std::initializer_list<std::string_view> keys) {
  const DataCell* cell = stated(keys);
  if (cell == nullptr) return std::nullopt;
  const Reading<double> value = parse_number(cell->text);
  if (value && *value.value > 0) return value.value;
  complain(*cell, "not a number above 0", "measure it again, or leave it empty");
  return std::nullopt;
}

std::optional<bool> CellValues::flag(std::initializer_list<std::string_view> keys) {
  const DataCell* cell = stated(keys);
  if (cell == nullptr) return std::nullopt;
  const std::string text = lower(cell->text);
  if (text == "true" || text == "1" || text == "yes") return true;
  if (text == "false" || text == "0" || text == "no") return false;
  complain(*cell, "not true or false", "write `true` or `false`");
  return std::nullopt;
}

}  // namespace lanecast
