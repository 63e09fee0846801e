#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lanecast {

/// Where the fields of a row of nccl-tests stand, counted from the size. -1: there is no such field.
struct NcclTestsColumns {
  struct Place {
    int time = -1;
    int algbw = -1;
    int busbw = -1;
    int wrong = -1;  // `#wrong` counts elements; the older `error` and `res` are deviations and are not read
    int min = -1;
    int p99 = -1;
  };
  int count = 1;
  int type = 2;
  int op = 3;
  int root = -1;
  std::array<Place, 2> places;  // out of place, in place
  int fields = 0;
  bool milliseconds = false;  // the oldest layout, unless the rates say otherwise
  bool cpu_time = false;      // -C
};

/// Columns of a header line ("# size count type redop root time algbw busbw #wrong ..."), if it is one.
std::optional<NcclTestsColumns> columns_of_header(std::string_view line);

/// Columns of rows of 13 or 12 fields whose header is not there.
std::optional<NcclTestsColumns> usual_columns(std::size_t fields);

/// The fields of a row from its size on, without what stands before it; nothing where the words hold no begin
/// of a row: two whole numbers, a type and an operation.
std::optional<std::vector<std::string>> row_fields(const std::vector<std::string_view>& words);

}  // namespace lanecast
