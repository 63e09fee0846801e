#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/implementation/nccl/environment.hpp"

namespace lanecast {

/// As isspace() in the C locale.
inline bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// A text that NCCL refuses or surely misreads. `what` completes "`NCCL_PROTO` is `...`: ".
struct NcclValueProblem {
  std::string what;
  std::string mend;
};

/// What there is to say about one value. After a problem the value that was read is of no use.
struct NcclValueReport {
  std::vector<NcclValueProblem> problems;
  std::vector<std::string> remarks;  // what NCCL makes of the value instead; completes "NCCL_NTHREADS=100: "
};

/// What strtoll with base 0 makes of a text: that is how NCCL reads integers.
struct CInteger {
  std::int64_t value = 0;
  bool digits = false;    // there was a number at all; NCCL takes 0 where there was none
  bool octal = false;     // a leading 0 made it so
  bool overflow = false;  // does not fit 64 bits; NCCL then takes its default
  std::string rest;       // what it leaves unread
};

CInteger read_c_integer(const std::string& text);

/// A whole integer. A unit such as the M of `4M` is a problem: NCCL reads 4 and passes over it.
std::optional<std::int64_t> read_integer(const std::string& text, NcclValueReport& report);

/// How NCCL looks at a yes-or-no variable.
enum class NcclTruth {
  one,       // only 1 counts
  any,       // everything but 0 counts
  automatic  // likewise, and below 0 it decides itself
};

/// Absent: as if it were not set.
std::optional<bool> read_flag(const std::string& text, NcclTruth truth, NcclValueReport& report);

/// An integer from `low` to `high`. Beyond them NCCL takes `otherwise`; where that is absent it has no
/// meaning, and is a problem.
std::optional<int> read_small_integer(const std::string& text, int low, int high,
                                      std::optional<int> otherwise, NcclValueReport& report);

/// Threads of a block by NCCL's rule: whole warps from `low` to `high`, else one of the two; the default at 0
/// and below. Source: NVIDIA/nccl src/graph/tuning.cc `getNthreads`.
std::optional<int> read_threads(const std::string& text, int low, int high, NcclValueReport& report);

/// Bytes, without a unit, from what one line for each FIFO step takes to 1 GiB.
std::optional<Bytes> read_buffer_size(const std::string& text, Protocol protocol, NcclValueReport& report);

/// LOC to SYS, in upper case, or the older 0 to 5. Source: NVIDIA/nccl src/graph/paths.cc `ncclGetLevel`.
std::optional<PathType> read_path_level(const std::string& text, NcclValueReport& report);

/// NCCL_THREAD_THRESHOLDS: LL, LL128 and Simple on trees, then on rings. A missing or negative number is
/// NCCL's default.
NcclThreadThresholds read_thread_thresholds(const std::string& text, NcclValueReport& report);

}  // namespace lanecast
