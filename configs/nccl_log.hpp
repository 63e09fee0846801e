#pragma once
#include <array>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "model/implementation/nccl/environment.hpp"
#include "model/implementation/nccl/version_rules.hpp"

namespace lanecast {

/// A variable that the log gives two values: two ranks disagree, or it holds two runs.
struct NcclLogConflict {
  std::string name;
  std::string first_value;
  int first_line = 0;
  std::string second_value;
  int second_line = 0;
};

/// The release that wrote the log, and the line that says so.
struct NcclLogVersion {
  NcclVersion release;
  int major = 2;
  std::string text;  // "2.28.9+cuda13.0"
  int line = 0;
};

/// "Channel 00/24 : 0 1".
struct NcclLogRing {
  int channel = 0;
  std::vector<int> order;  // ranks; NCCL prints the first few of long ones only
  int line = 0;
};

/// "Channel 00/0 : 0[0] -> 1[1] via P2P/direct pointer", one entry for all channels alike.
struct NcclLogConnection {
  int from_rank = 0;
  int to_rank = 0;
  std::string via;            // "P2P/direct pointer", "P2P/CUMEM/read", "SHM/direct/direct", "NET/Socket/0"
  std::vector<int> channels;  // ascending
  int line = 0;               // of the first
};

/// What NCCL says with NCCL_DEBUG=INFO, as far as we use it. Absent or empty: the log has no such line.
///
/// Of several communicators in one log the rings and counts of the first are kept.
struct NcclLog {
  std::string file;  // as messages name it
  std::optional<NcclLogVersion> version;
  std::optional<NcclLogVersion> other_version;  // the first that differs from `version`

  std::vector<NcclSetting> settings;  // each name once, with its first value; origin "run.log:17"
  std::vector<NcclLogConflict> conflicts;

  std::optional<int> ranks;
  std::optional<int> nodes;
  std::vector<NcclLogRing> rings;              // ascending by channel
  std::optional<int> ring_channels;            // the 24 of "Channel 00/24"
  std::optional<int> coll_channels;            // of "24 coll channels, ..."
  std::optional<int> nvls_channels;            // of the same line
  std::vector<NcclLogConnection> connections;  // in the order of the log
  std::vector<int> fallback_patterns;          // patterns for which the search found no path; ascending

  /// Bytes for each thread of LL, LL128 and Simple on trees, then on rings.
  std::optional<std::array<std::int64_t, 6>> thread_thresholds;
  bool several_communicators = false;  // they differ in what is above
};

/// How much of a log is taken: more than any run writes, and little enough to hold.
struct NcclLogLimits {
  std::uint64_t bytes = std::uint64_t{1} << 30;
  std::size_t line_bytes = 1u << 14;  // the rest of a longer line is passed over
  std::size_t entries = 4096;         // of each list
};

/// Reads a log; "-" is standard input.
///
/// Takes launchers' prefixes, CRLF, colours and lines of other programs in between.
/// @throws Error  kind usage: cannot be read, is no text, is empty, is too large, or has no NCCL INFO line
NcclLog read_nccl_log(const std::string& path);

/// The same from a stream. @param name  how messages name it
NcclLog read_nccl_log(std::istream& stream, const std::string& name, const NcclLogLimits& limits = {});

}  // namespace lanecast
