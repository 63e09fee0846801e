#include "model/measured/call_keys.hpp"

#include <algorithm>

#include "model/measured/measured_settings.hpp"

namespace lanecast {
namespace {

constexpr std::array<const char*, call_key_count> kNames{
    "collective", "datatype", "op",        "size",       "in_place",       "ranks",
    "algorithm",  "protocol", "transport", "channels",   "threads",        "chunk",
    "buffsize",   "register", "launch",    "iterations", "implementation", "session"};

bool reduces(Collective collective) {
  return collective == Collective::all_reduce || collective == Collective::reduce_scatter ||
         collective == Collective::reduce;
}

std::optional<std::string> text_of(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional<std::string>(text);
}
std::optional<std::string> text_of(const std::optional<int>& value) {
  return value ? std::optional<std::string>(std::to_string(*value)) : std::nullopt;
}
std::optional<std::string> text_of(const std::optional<Bytes>& value) {
  return value ? std::optional<std::string>(std::to_string(value->value())) : std::nullopt;
}
template <class Named>
std::optional<std::string> name_of(const std::optional<Named>& value) {
  return value ? std::optional<std::string>(to_string(*value)) : std::nullopt;
}

/// Keys that a call itself states.
CallKeys keys_of(const Call& call, const StatedMembers& stated) {
  CallKeys keys;
  if (stated.collective) keys[CallKey::collective] = to_string(call.collective);
  if (stated.datatype) keys[CallKey::datatype] = to_string(call.datatype);
  if (stated.op && reduces(call.collective)) keys[CallKey::op] = to_string(call.op);
  keys[CallKey::size] = std::to_string(call.size.value());
  keys[CallKey::in_place] = call.in_place ? "true" : "false";
  keys[CallKey::algorithm] = name_of(call.algorithm);
  keys[CallKey::protocol] = name_of(call.protocol);
  keys[CallKey::transport] = name_of(call.transport);
  keys[CallKey::channels] = text_of(call.channels);
  keys[CallKey::threads] = text_of(call.threads);
  keys[CallKey::chunk] = text_of(call.chunk);
  keys[CallKey::buffsize] = text_of(call.buffsize);
  if (call.registration != Registration::automatic)
    keys[CallKey::registration] = to_string(call.registration);
  if (stated.launch) keys[CallKey::launch] = to_string(call.launch);
  if (stated.iterations) keys[CallKey::iterations] = std::to_string(call.iterations);
  return keys;
}

}  // namespace

const char* to_string(CallKey key) { return kNames[static_cast<std::size_t>(key)]; }

std::optional<CallKey> call_key_from_string(const std::string& text) {
  const auto* const at = std::find(kNames.begin(), kNames.end(), text);
  if (at == kNames.end()) return std::nullopt;
  return static_cast<CallKey>(at - kNames.begin());
}

std::vector<std::string> call_key_names() { return {kNames.begin(), kNames.end()}; }

CallKeys keys_of(const MeasuredCall& call) {
  CallKeys keys = keys_of(call.call, call.stated);
  if (call.ranks > 0) keys[CallKey::ranks] = std::to_string(call.ranks);
  keys[CallKey::implementation] = text_of(call.implementation);
  keys[CallKey::channels] = text_of(set_channels(call));
  keys[CallKey::threads] = text_of(set_threads(call));
  keys[CallKey::buffsize] = text_of(set_buffsize(call));
  if (call.stated.session) keys[CallKey::session] = std::to_string(call.session);
  return keys;
}

CallKeys keys_of(const PredictedCall& call) {
  CallKeys keys = keys_of(call.call, call.stated);
  if (call.ranks > 0) keys[CallKey::ranks] = std::to_string(call.ranks);
  if (!call.transport.empty()) keys[CallKey::transport] = call.transport;
  keys[CallKey::implementation] = text_of(call.implementation);
  return keys;
}

std::optional<CallKeys> asked_keys_of(const PredictedCall& call) {
  if (!call.asked) return std::nullopt;
  return keys_of(*call.asked, call.stated);
}

KeyFit fit_of(CallKey key, const std::optional<std::string>& a, const std::optional<std::string>& b) {
  if (!a || !b) return KeyFit::open;
  if (*a == *b) return KeyFit::agrees;
  if (key != CallKey::algorithm) return KeyFit::differs;
  const std::optional<Algorithm> first = algorithm_from_string(*a);
  const std::optional<Algorithm> second = algorithm_from_string(*b);
  const bool family = first && second && (family_of(*first) == *second || family_of(*second) == *first);
  return family ? KeyFit::agrees : KeyFit::differs;
}

bool CallFilter::passes(const CallKeys& keys, bool open_passes) const {
  return std::all_of(allowed.begin(), allowed.end(), [&](const auto& entry) {
    const auto& [key, values] = entry;
    if (!keys[key]) return open_passes;
    return std::any_of(values.begin(), values.end(), [&, key = key](const std::string& value) {
      return fit_of(key, keys[key], value) == KeyFit::agrees;
    });
  });
}

}  // namespace lanecast
