// Any text is a log of NCCL's or an Error, and each of its lines is a setting that is taken or refused with
// an Error. What is taken is within the bounds that NCCL keeps.
#include <cstdint>
#include <cstdlib>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "configs/nccl_log.hpp"
#include "configs/problem_list.hpp"
#include "model/error.hpp"
#include "model/implementation/nccl/environment.hpp"

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

template <class T>
bool within(const std::optional<T>& value, T low, T high) {
  return !value || (*value >= low && *value <= high);
}

void check_environment(const lanecast::NcclEnvironment& environment) {
  using lanecast::Bytes;
  const Bytes most(std::uint64_t{1} << 30);
  check(within(environment.min_channels, 1, 64) && within(environment.max_channels, 1, 64));
  check(within(environment.threads, 64, 512) && environment.threads.value_or(0) % 32 == 0);
  check(within(environment.ll128_threads, 160, 640) && environment.ll128_threads.value_or(0) % 32 == 0);
  check(within(environment.buffsize, Bytes(4096), most) && within(environment.ll_buffsize, Bytes(256), most));
  check(within(environment.ll128_buffsize, Bytes(16384), most));
  check(within(environment.p2p_level, lanecast::PathType::loc, lanecast::PathType::sys));
  check(within(environment.nvls_enable, 0, 2) && within(environment.shm_locality, 1, 2));
}

void read_settings(const std::vector<lanecast::NcclSetting>& settings, int minor,
                   const lanecast::NearestWord& nearest = {}) {
  std::vector<lanecast::Warning> warnings;
  try {
    check_environment(lanecast::read_nccl_environment(settings, {false, minor}, warnings, nearest));
    for (const lanecast::Warning& warning : warnings) check(!warning.text.empty());
  } catch (const lanecast::Error& error) {
    check(error.kind() == lanecast::ErrorKind::usage);
  }
}

void read_log(const std::string& text, int minor) {
  std::istringstream stream(text);
  lanecast::NcclLogLimits limits;
  limits.line_bytes = 512;
  limits.entries = 32;
  try {
    const lanecast::NcclLog log = lanecast::read_nccl_log(stream, "run.log", limits);
    std::set<std::string> names;
    for (const lanecast::NcclSetting& setting : log.settings) check(names.insert(setting.name).second);
    check(log.settings.size() <= limits.entries && log.conflicts.size() <= log.settings.size());
    check(log.connections.size() <= limits.entries && log.fallback_patterns.size() <= limits.entries);
    read_settings(log.settings, minor);
  } catch (const lanecast::Error& error) {
    check(error.kind() == lanecast::ErrorKind::usage);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const int minor = 18 + static_cast<int>(size % 13);
  read_log(text, minor);
  std::vector<lanecast::NcclSetting> settings;
  std::istringstream lines(text);
  for (std::string line; settings.size() < 8 && std::getline(lines, line);) {  // more only make it slow
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos) continue;
    settings.push_back({line.substr(0, equals), line.substr(equals + 1), "--nccl-env"});
    read_settings({settings.back()}, minor);
  }
  read_settings(settings, minor);
  if (!settings.empty()) read_settings({settings.back()}, minor, lanecast::nearest);  // slow: one is enough
  return 0;
}
