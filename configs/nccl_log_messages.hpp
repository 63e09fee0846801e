#pragma once
#include <map>
#include <string>
#include <string_view>

#include "configs/nccl_log.hpp"

namespace lanecast {

/// Gathers what NCCL's messages say.
class NcclLogMessages {
 public:
  NcclLogMessages(std::string name, const NcclLogLimits& limits) : limits_(limits) {
    log_.file = std::move(name);
  }

  /// One line without escape codes and line ends. Lines that are none of NCCL's are passed over.
  void take_line(std::string_view line, int number);

  bool has_info() const { return has_info_; }
  NcclLog finish() &&;

 private:
  struct Known {
    std::size_t index = 0;  // in the log's settings
    int line = 0;
    bool conflicts = false;
  };

  void take_message(std::string_view message, int line);
  bool take_version(std::string_view message, int line, bool plain);
  bool take_setting(std::string_view message, int line);
  bool take_channel(std::string_view message, int line);
  bool take_counts(std::string_view message);
  void take_ring(int channel, int of, std::vector<int> order, int line);
  void take_connection(int channel, int from, int to, std::string_view via, int line);
  void set(std::string_view name, std::string_view value, int line);
  void keep_first(std::optional<int>& kept, int value);

  const NcclLogLimits limits_;
  NcclLog log_;
  bool has_info_ = false;
  bool plain_version_ = false;  // the version is from a line that is not an INFO line
  std::map<std::string, Known, std::less<>> known_settings_;
  std::map<std::string, std::size_t, std::less<>> connection_at_;
};

}  // namespace lanecast
