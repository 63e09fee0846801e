#pragma once
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/measured/measurement.hpp"
#include "model/measured/predicted_call.hpp"

namespace lanecast {

/// What tells one call from another, by the names of tables, files and `--only`.
enum class CallKey : std::size_t {
  collective,
  datatype,
  op,
  size,
  in_place,
  ranks,
  algorithm,
  protocol,
  transport,
  channels,
  threads,
  chunk,
  buffsize,
  registration,
  launch,
  iterations,
  implementation,
  session,
  count_
};

inline constexpr std::size_t call_key_count = static_cast<std::size_t>(CallKey::count_);

const char* to_string(CallKey key);  // "collective", ..., "register"
std::optional<CallKey> call_key_from_string(const std::string& text);
std::vector<std::string> call_key_names();

/// The keys of a call as text: sizes in bytes, `in_place` as "true" or "false". Absent: not said, left to the
/// implementation, or (`op`) without a meaning to the collective.
class CallKeys {
 public:
  const std::optional<std::string>& operator[](CallKey key) const {
    return values_[static_cast<std::size_t>(key)];
  }
  std::optional<std::string>& operator[](CallKey key) { return values_[static_cast<std::size_t>(key)]; }
  bool operator==(const CallKeys&) const = default;

 private:
  std::array<std::optional<std::string>, call_key_count> values_;
};

CallKeys keys_of(const MeasuredCall& call);
CallKeys keys_of(const PredictedCall& call);

/// What was forced of a prediction; absent where nothing is known of that.
std::optional<CallKeys> asked_keys_of(const PredictedCall& call);

/// How one key of two calls stands: a key that one side leaves open fits everything. A family of algorithms
/// fits its variants.
enum class KeyFit { agrees, open, differs };
KeyFit fit_of(CallKey key, const std::optional<std::string>& a, const std::optional<std::string>& b);

/// Calls by their keys: for each key named, one of the values.
struct CallFilter {
  std::map<CallKey, std::set<std::string>> allowed;

  /// @param open_passes  what a call leaves open may still turn out to be one of the values
  bool passes(const CallKeys& keys, bool open_passes) const;
};

}  // namespace lanecast
