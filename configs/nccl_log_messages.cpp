#include "configs/nccl_log_messages.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "configs/reading.hpp"

namespace lanecast {
namespace {

constexpr std::size_t kLongestValue = 1024;  // NCCL's own buffer for a line
constexpr int kMostChannels = 1024;
constexpr std::size_t kMostRanks = 1u << 16;

/// Reads a message from left to right. After something does not fit, everything fails.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : left_(text) {}

  bool word(std::string_view expected) {
    if (!good_ || left_.substr(0, expected.size()) != expected) return good_ = false;
    left_.remove_prefix(expected.size());
    return true;
  }
  template <class T>
  bool number(T& value) {
    if (!good_) return false;
    const auto [stop, error] = std::from_chars(left_.data(), left_.data() + left_.size(), value);
    if (error != std::errc()) return good_ = false;
    left_.remove_prefix(static_cast<std::size_t>(stop - left_.data()));
    return true;
  }
  bool through(char end) {
    const std::size_t at = left_.find(end);
    if (!good_ || at == std::string_view::npos) return good_ = false;
    left_.remove_prefix(at + 1);
    return true;
  }
  void blanks() { left_.remove_prefix(std::min(left_.find_first_not_of(' '), left_.size())); }

  std::string_view left() const { return left_; }
  bool good() const { return good_; }

 private:
  std::string_view left_;
  bool good_ = true;
};

bool is_variable(std::string_view name) {
  const bool prefix = name.substr(0, 5) == "NCCL_" || name.substr(0, 5) == "RCCL_";
  return prefix && name.size() <= 64 &&
         name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == std::string_view::npos;
}

/// Integers are printed with a full stop behind them.
std::string_view without_stop(std::string_view value) {
  if (value.size() < 2 || value.back() != '.') return value;
  const std::string_view number = value.substr(0, value.size() - 1);
  const bool whole =
      number.find_first_not_of("0123456789", number.front() == '-' ? 1 : 0) == std::string_view::npos;
  return whole && number != "-" ? number : value;
}

/// What stands behind `marker`, or nothing.
std::optional<std::string_view> behind(std::string_view text, std::string_view marker) {
  const std::size_t at = text.find(marker);
  if (at == std::string_view::npos) return std::nullopt;
  return text.substr(at + marker.size());
}

bool same_release(const NcclLogVersion& a, const NcclLogVersion& b) {
  return a.major == b.major && a.release.minor == b.release.minor && a.release.rccl == b.release.rccl;
}

}  // namespace

void NcclLogMessages::take_line(std::string_view line, int number) {
  for (const std::string_view marker : {"NCCL INFO ", "NCCL WARN "}) {
    const auto message = behind(line, marker);
    if (!message) continue;
    has_info_ = has_info_ || marker == "NCCL INFO ";
    if (message->find("NCCL INFO ") == std::string_view::npos) take_message(*message, number);
    return;
  }
  const std::size_t at = line.find("CCL version ");
  if (at != std::string_view::npos && at > 0) take_version(line.substr(at - 1), number, /*plain=*/true);
}

void NcclLogMessages::take_message(std::string_view message, int line) {
  if (take_version(message, line, /*plain=*/false) || take_channel(message, line) || take_counts(message) ||
      take_setting(message, line)) {
    return;
  }
  Scanner fallback(message);
  int pattern = 0;
  if (fallback.word("Could not find a path for pattern ") && fallback.number(pattern)) {
    auto& patterns = log_.fallback_patterns;
    const auto at = std::lower_bound(patterns.begin(), patterns.end(), pattern);
    const bool known = at != patterns.end() && *at == pattern;
    if (!known && patterns.size() < limits_.entries) patterns.insert(at, pattern);
  }
}

bool NcclLogMessages::take_version(std::string_view message, int line, bool plain) {
  const bool rccl = message.substr(0, 4) == "RCCL";
  Scanner scanner(message);
  NcclLogVersion version;
  scanner.word(rccl ? "RCCL version " : "NCCL version ");
  if (rccl && scanner.good() && scanner.left().substr(0, 2) == ": ") scanner.word(": ");
  const std::string_view text = scanner.left().substr(0, scanner.left().find(' '));
  scanner.number(version.major);
  scanner.word(".");
  scanner.number(version.release.minor);
  const bool sane = scanner.good() && version.major >= 0 && version.release.minor >= 0;
  if (!sane || text.size() > 64) return false;
  version.release.rccl = rccl;
  version.text = std::string(text);
  version.line = line;
  if (!log_.version || (plain_version_ && !plain)) {
    log_.version = version;
    log_.other_version.reset();
    plain_version_ = plain;
  } else if (plain == plain_version_ && !log_.other_version && !same_release(*log_.version, version)) {
    log_.other_version = version;
  }
  return true;
}

bool NcclLogMessages::take_setting(std::string_view message, int line) {
  for (const std::string_view verb : {" set by environment to ", " set to "}) {
    const std::size_t at = message.find(verb);
    if (at == std::string_view::npos || !is_variable(message.substr(0, at))) continue;
    set(message.substr(0, at), without_stop(trimmed(message.substr(at + verb.size()))), line);
    return true;
  }
  // "TUNER/Plugin: Plugin name set by env to libx.so"
  const std::size_t plugin = message.find("/Plugin: Plugin name set by env to ");
  if (plugin != std::string_view::npos && plugin <= 16) {
    const std::string name = "NCCL_" + std::string(message.substr(0, plugin)) + "_PLUGIN";
    if (is_variable(name)) set(name, trimmed(*behind(message, " by env to ")), line);
    return true;
  }
  // "Parsed environment variable NCCL_CTA_POLICY=ZERO to 2"
  if (const auto parsed = behind(message, "Parsed environment variable ")) {
    const std::size_t equals = parsed->find('='), to = parsed->rfind(" to ");
    if (equals != std::string_view::npos && to != std::string_view::npos && equals < to &&
        is_variable(parsed->substr(0, equals))) {
      set(parsed->substr(0, equals), parsed->substr(equals + 1, to - equals - 1), line);
    }
    return true;
  }
  // "... available for function AllReduce with datatype ncclFloat32. NCCL_ALGO was set to Tree."
  bool found = false;
  for (auto rest = behind(message, ". NCCL_"); rest; rest = behind(*rest, ". NCCL_")) {
    const std::size_t verb = rest->find(" was set to ");
    if (verb == std::string_view::npos) break;
    const std::string name = "NCCL_" + std::string(rest->substr(0, verb));
    const std::string_view value = rest->substr(verb + 12);
    if (is_variable(name)) set(name, value.substr(0, value.find('.')), line);
    found = true;
  }
  return found;
}

void NcclLogMessages::set(std::string_view name, std::string_view value, int line) {
  const bool garbled = std::any_of(value.begin(), value.end(),
                                   [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  if (garbled || value.size() > kLongestValue) return;
  const auto known = known_settings_.find(name);
  if (known == known_settings_.end()) {
    if (log_.settings.size() >= limits_.entries) return;
    known_settings_[std::string(name)] = {log_.settings.size(), line, false};
    log_.settings.push_back({std::string(name), std::string(value), log_.file + ":" + std::to_string(line)});
    return;
  }
  Known& before = known->second;
  const NcclSetting& first = log_.settings[before.index];
  if (before.conflicts || first.value == value) return;
  before.conflicts = true;
  log_.conflicts.push_back({first.name, first.value, before.line, std::string(value), line});
}

void NcclLogMessages::keep_first(std::optional<int>& kept, int value) {
  if (!kept) kept = value;
  if (*kept != value) log_.several_communicators = true;
}

bool NcclLogMessages::take_counts(std::string_view message) {
  Scanner channels(message);
  int coll = 0;
  if (channels.number(coll) && channels.word(" coll channels")) {
    keep_first(log_.coll_channels, coll);
    for (auto part = behind(channels.left(), ", "); part; part = behind(*part, ", ")) {
      Scanner scanner(*part);
      int count = 0;
      if (scanner.number(count) && scanner.word(" nvls channels")) keep_first(log_.nvls_channels, count);
    }
    return true;
  }
  Scanner thresholds(message);
  if (thresholds.word("threadThresholds ")) {
    std::array<std::int64_t, 6> values{};
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i > 0) thresholds.word(i == 3 ? " | " : "/");
      thresholds.number(values[i]);
    }
    if (thresholds.good() && !log_.thread_thresholds) log_.thread_thresholds = values;
    return true;
  }
  // "comm 0x2 rank 0 nRanks 2 nNodes 1 localRanks 2 ..."
  const auto ranks = behind(message, " nRanks ");
  if (!ranks || message.substr(0, 5) != "comm ") return false;
  Scanner scanner(*ranks);
  int rank_count = 0, node_count = 0;
  if (scanner.number(rank_count) && scanner.word(" nNodes ") && scanner.number(node_count)) {
    keep_first(log_.ranks, rank_count);
    keep_first(log_.nodes, node_count);
  }
  return true;
}

bool NcclLogMessages::take_channel(std::string_view message, int line) {
  Scanner scanner(message);
  int channel = 0, second = 0;
  if (!scanner.word("Channel ") || !scanner.number(channel)) return false;
  const bool paired = scanner.left().substr(0, 1) == "/";
  if (paired && scanner.word("/")) scanner.number(second);
  scanner.blanks();
  scanner.word(":");
  scanner.blanks();
  if (!scanner.good() || channel < 0 || channel >= kMostChannels) return true;
  Scanner connection = scanner;  // "0[0] -> 1[1] via ..."; the brackets hold a device or a bus id
  int from = 0, to = 0;
  if (connection.number(from) && connection.word("[") && connection.through(']') && connection.word(" -> ") &&
      connection.number(to) && connection.word("[") && connection.through(']')) {
    const auto via = behind(connection.left(), " via ");
    const bool receives = connection.left().substr(0, 10) == " [receive]";  // its sender says it too
    const bool collective = !paired || second == 0;  // 1: connections of send and receive
    if (via && !receives && collective) take_connection(channel, from, to, trimmed(*via), line);
    return true;
  }
  std::vector<int> order;
  while (scanner.good() && !scanner.left().empty() && order.size() < kMostRanks) {
    int rank = 0;
    if (scanner.number(rank)) order.push_back(rank);
    scanner.blanks();
  }
  if (paired && scanner.good() && !order.empty()) take_ring(channel, second, std::move(order), line);
  return true;
}

void NcclLogMessages::take_ring(int channel, int of, std::vector<int> order, int line) {
  keep_first(log_.ring_channels, of);
  auto& rings = log_.rings;
  const auto at = std::lower_bound(rings.begin(), rings.end(), channel,
                                   [](const NcclLogRing& ring, int c) { return ring.channel < c; });
  if (at == rings.end() || at->channel != channel) {
    rings.insert(at, {channel, std::move(order), line});
  } else if (at->order != order) {
    log_.several_communicators = true;
  }
}

void NcclLogMessages::take_connection(int channel, int from, int to, std::string_view via, int line) {
  const std::string key =
      std::to_string(from) + ">" + std::to_string(to) + " " + std::string(via.substr(0, 64));
  const auto known = connection_at_.find(key);
  if (known == connection_at_.end()) {
    if (log_.connections.size() >= limits_.entries) return;
    connection_at_[key] = log_.connections.size();
    log_.connections.push_back({from, to, std::string(via.substr(0, 64)), {channel}, line});
    return;
  }
  std::vector<int>& channels = log_.connections[known->second].channels;
  const auto at = std::lower_bound(channels.begin(), channels.end(), channel);
  if (at == channels.end() || *at != channel) channels.insert(at, channel);
}

NcclLog NcclLogMessages::finish() && { return std::move(log_); }

}  // namespace lanecast
