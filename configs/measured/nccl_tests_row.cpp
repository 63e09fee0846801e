#include "configs/measured/nccl_tests_row.hpp"

#include <algorithm>

#include "configs/measured/launcher_prefix.hpp"
#include "configs/reading.hpp"

namespace lanecast {
namespace {

bool is_whole(std::string_view word) {
  return !word.empty() && word.size() <= 20 && word.find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_name(std::string_view word) {
  const char first = word.empty() ? '0' : word.front();
  return (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z');
}

/// A row's first field, where a launcher's prefix is glued in front: "0:1024".
std::string_view unglued(std::string_view word) {
  const std::size_t colon = word.find_last_of(":]");
  return colon == std::string_view::npos ? word : word.substr(colon + 1);
}

void take_column(NcclTestsColumns& columns, NcclTestsColumns::Place& place, std::string_view name, int at) {
  if (name == "time" || name == "cputime") place.time = at;
  if (name == "algbw") place.algbw = at;
  if (name == "busbw") place.busbw = at;
  if (name == "#wrong" || name == "wrong") place.wrong = at;
  if (name == "min") place.min = at;
  if (name == "p99") place.p99 = at;
  if (name == "cputime") columns.cpu_time = true;
}

}  // namespace

std::optional<NcclTestsColumns> columns_of_header(std::string_view line) {
  std::vector<std::string_view> names = words_of(without_launcher(line));
  if (!names.empty() && names.front() == "#") names.erase(names.begin());
  const auto is_size = [](std::string_view name) {
    return name == "size" || name == "bytes" || name == "#size";
  };
  while (!names.empty() && !is_size(names.front())) {
    if (names.front().find(':') == std::string_view::npos) return std::nullopt;
    names.erase(names.begin());
  }
  NcclTestsColumns columns;
  int place = -1;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const int at = static_cast<int>(i);
    if (names[i] == "root") columns.root = at;
    if (names[i] == "time" || names[i] == "cputime") ++place;
    if (place > 1) return std::nullopt;
    if (place >= 0) take_column(columns, columns.places[static_cast<std::size_t>(place)], names[i], at);
  }
  if (place < 0 || columns.places[0].algbw < 0 || names.size() > 64) return std::nullopt;
  columns.fields = static_cast<int>(names.size());
  columns.milliseconds = names.front() == "bytes";
  return columns;
}

std::optional<NcclTestsColumns> usual_columns(std::size_t fields) {
  if (fields == 13) {
    return columns_of_header("size count type redop root time algbw busbw #wrong time algbw busbw #wrong");
  }
  if (fields == 12)
    return columns_of_header("size count type redop time algbw busbw error time algbw busbw error");
  return std::nullopt;
}

std::optional<std::vector<std::string>> row_fields(const std::vector<std::string_view>& words) {
  for (std::size_t i = 0; i + 3 < words.size() && i < 4; ++i) {
    const std::string_view size = i == 0 ? unglued(words[i]) : words[i];
    if (!is_whole(size) || !is_whole(words[i + 1]) || !is_name(words[i + 2]) || !is_name(words[i + 3]))
      continue;
    std::vector<std::string> fields(words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
    fields.front() = std::string(size);
    return fields;
  }
  return std::nullopt;
}

}  // namespace lanecast
