#include <functional>
#include <string>

#include "configs/measured/read_measured.hpp"
#include "configs/quantity.hpp"
#include "model/error.hpp"
#include "model/measured/measured_settings.hpp"

namespace lanecast {
namespace {

/// One flag: what a call says of it ("" where it is open), and how it is filled in.
struct Flag {
  const char* name;
  std::string value;
  std::function<std::string(const MeasuredCall&)> stated;
  std::function<void(MeasuredCall&)> fill;
};

std::string shown(const std::optional<int>& value) { return value ? std::to_string(*value) : ""; }
std::string shown(const std::optional<Bytes>& value) { return value ? format_bytes(*value) : ""; }
template <class T>
std::string shown(const std::optional<T>& value) {
  return value ? to_string(*value) : "";
}
template <class T>
std::string shown_if(bool stated, const T& value) {
  return stated ? shown(std::optional<T>(value)) : "";
}

/// Members of a call that may be absent.
void add_optional_members(const MeasuredDefaults& given, std::vector<Flag>& flags) {
  const auto add = [&](const char* name, const auto& value, auto member) {
    if (!value) return;
    flags.push_back({name, shown(value), [=](const MeasuredCall& m) { return shown(m.call.*member); },
                     [=](MeasuredCall& m) { m.call.*member = *value; }});
  };
  add("--algorithm", given.algorithm, &Call::algorithm);
  add("--protocol", given.protocol, &Call::protocol);
  add("--transport", given.transport, &Call::transport);
}

/// Members that have a default.
void add_stated_members(const MeasuredDefaults& given, std::vector<Flag>& flags) {
  const auto add = [&](const char* name, const auto& value, auto member, bool StatedMembers::*stated) {
    if (!value) return;
    flags.push_back({name, shown(value),
                     [=](const MeasuredCall& m) { return shown_if(m.stated.*stated, m.call.*member); },
                     [=](MeasuredCall& m) {
                       m.call.*member = *value;
                       m.stated.*stated = true;
                     }});
  };
  add("--collective", given.collective, &Call::collective, &StatedMembers::collective);
  add("--datatype", given.datatype, &Call::datatype, &StatedMembers::datatype);
  add("--launch", given.launch, &Call::launch, &StatedMembers::launch);
  add("--iterations", given.iterations, &Call::iterations, &StatedMembers::iterations);
  add("--register", given.registration, &Call::registration, &StatedMembers::registration);
}

/// "nccl" leaves the release open.
std::string stated_implementation(const MeasuredCall& measured, const std::string& flag) {
  const std::string& stated = measured.implementation;
  const bool refined = stated == "nccl" && flag.substr(0, 5) == "nccl-";
  const bool less = flag == "nccl" && stated.substr(0, 5) == "nccl-";
  return refined ? "" : less ? flag : stated;
}

/// What a table of unknown origin gave as NCCL's bounds are the engine's own settings, if it was the engine.
void to_engine(MeasuredCall& measured) {
  const auto channels = set_channels(measured), threads = set_threads(measured);
  const auto buffsize = set_buffsize(measured);
  measured.environment.clear();
  if (channels) set_channels(measured, *channels);
  if (threads) set_threads(measured, *threads);
  if (buffsize) set_buffsize(measured, *buffsize);
}

std::vector<Flag> flags_of(const MeasuredDefaults& given) {
  std::vector<Flag> flags;
  if (given.implementation) {  // first: it says where channels, threads and buffers belong
    const std::string name = *given.implementation;
    flags.push_back({"--implementation", name,
                     [=](const MeasuredCall& m) { return stated_implementation(m, name); },
                     [=](MeasuredCall& m) {
                       m.implementation = name;
                       if (name == "lanecast") to_engine(m);
                     }});
  }
  add_optional_members(given, flags);  // the protocol before the buffer and the threads
  add_stated_members(given, flags);
  const auto add = [&](const char* name, const auto& value, auto get, auto set) {
    if (value) flags.push_back({name, shown(value), get, [=](MeasuredCall& m) { set(m, *value); }});
  };
  using M = MeasuredCall;
  add(
      "--channels", given.channels, [](const M& m) { return shown(set_channels(m)); },
      [](M& m, int value) { set_channels(m, value); });
  add(
      "--threads", given.threads, [](const M& m) { return shown(set_threads(m)); },
      [](M& m, int value) { set_threads(m, value); });
  add(
      "--buffsize", given.buffsize, [](const M& m) { return shown(set_buffsize(m)); },
      [](M& m, Bytes value) { set_buffsize(m, value); });
  add(
      "--ranks", given.ranks, [](const M& m) { return m.ranks == 0 ? "" : std::to_string(m.ranks); },
      [](M& m, int value) { m.ranks = value; });
  add(
      "--session", given.session, [](const M& m) { return shown_if(m.stated.session, m.session); },
      [](M& m, int value) {
        m.session = value;
        m.stated.session = true;
      });
  return flags;
}

}  // namespace

void apply(const MeasuredDefaults& defaults, MeasuredData& data) {
  std::string message;
  for (const Flag& flag : flags_of(defaults)) {
    int contradictions = 0;
    std::string first;
    for (MeasuredCall& call : data.calls) {
      const std::string stated = flag.stated(call);
      if (stated.empty()) {
        flag.fill(call);
      } else if (stated != flag.value && ++contradictions == 1) {
        first = call.where + " says " + stated;
      }
    }
    if (contradictions == 0) continue;
    message += std::string(message.empty() ? "" : "\nerror: ") + "`" + flag.name + " " + flag.value +
               "` contradicts the data: " + first;
    if (contradictions > 1) message += ", and so do " + std::to_string(contradictions - 1) + " more rows";
    message +=
        "\n  at " + std::string(flag.name) +
        "\n  mend: leave the flag out: it is for what the data do not say; or give only files that it fits";
  }
  if (!message.empty()) throw Error(ErrorKind::usage, message);
}

}  // namespace lanecast
