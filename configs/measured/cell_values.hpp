#pragma once
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "configs/measured/data_row.hpp"

namespace lanecast {

/// Reads the cells of a row; what is not the value that it should be is a problem, told with its key.
class CellValues {
 public:
  CellValues(const DataRow& row, MeasuredReading& reading) : row_(row), reading_(reading) {}

  /// The cell of the first of these keys that says something.
  const DataCell* stated(std::initializer_list<std::string_view> keys) const;

  std::optional<std::string> text(std::initializer_list<std::string_view> keys) const;
  std::optional<int> integer(std::initializer_list<std::string_view> keys, int least, int most);
  std::optional<std::uint64_t> count(std::initializer_list<std::string_view> keys);
  std::optional<Bytes> bytes(std::initializer_list<std::string_view> keys);
  std::optional<double> positive(std::initializer_list<std::string_view> keys);  // finite, above 0
  std::optional<bool> flag(std::initializer_list<std::string_view> keys);

  /// @param from  reads a name in lower case
  /// @param what  "a protocol: simple, ll or ll128"
  template <class T>
  std::optional<T> named(std::initializer_list<std::string_view> keys,
                         std::optional<T> (*from)(const std::string&), const std::string& what) {
    const DataCell* cell = stated(keys);
    if (cell == nullptr) return std::nullopt;
    std::optional<T> value = from(lower(cell->text));
    if (!value) complain(*cell, "not " + what, "write one of these, or `auto`");
    return value;
  }

  void complain(const DataCell& cell, const std::string& why, const std::string& mend);
  bool good() const { return good_; }

  static std::string lower(const std::string& text);

 private:
  const DataRow& row_;
  MeasuredReading& reading_;
  bool good_ = true;
};

}  // namespace lanecast
