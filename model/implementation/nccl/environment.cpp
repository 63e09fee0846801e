#include "model/implementation/nccl/environment.hpp"

#include <cstdint>

#include "model/error.hpp"
#include "model/implementation/nccl/environment_lists.hpp"
#include "model/implementation/nccl/environment_values.hpp"
#include "model/implementation/nccl/environment_variables.hpp"

namespace lanecast {
namespace {

using Env = NcclEnvironment;

constexpr std::int64_t kUnset = -2;  // NCCL's own mark

struct Flag {
  const char* name;
  std::optional<bool> Env::*member;
  NcclTruth truth;
};
constexpr std::array<Flag, 10> kFlags{
    {{"NCCL_SHM_DISABLE", &Env::shm_disable, NcclTruth::one},
     {"NCCL_P2P_READ_ENABLE", &Env::p2p_read_enable, NcclTruth::automatic},
     {"NCCL_P2P_USE_CUDA_MEMCPY", &Env::p2p_use_cuda_memcpy, NcclTruth::any},
     {"NCCL_P2P_DIRECT_DISABLE", &Env::p2p_direct_disable, NcclTruth::any},
     {"NCCL_SHM_USE_CUDA_MEMCPY", &Env::shm_use_cuda_memcpy, NcclTruth::any},
     {"NCCL_GRAPH_REGISTER", &Env::graph_register, NcclTruth::any},
     {"NCCL_LOCAL_REGISTER", &Env::local_register, NcclTruth::any},
     {"NCCL_NVB_DISABLE", &Env::nvb_disable, NcclTruth::any},
     {"NCCL_CUMEM_ENABLE", &Env::cumem_enable, NcclTruth::automatic},
     {"NCCL_CUMEM_HOST_ENABLE", &Env::cumem_host_enable, NcclTruth::automatic}}};

struct SmallInteger {
  const char* name;
  std::optional<int> Env::*member;
  int low;
  int high;
  std::optional<int> otherwise;  // what NCCL takes beyond them; absent: nothing sensible
};
constexpr std::array<SmallInteger, 5> kSmallIntegers{
    {{"NCCL_IGNORE_DISABLED_P2P", &Env::ignore_disabled_p2p, 0, 2, {}},
     {"NCCL_NVLS_ENABLE", &Env::nvls_enable, 0, 2, {}},
     {"NCCL_CROSS_NIC", &Env::cross_nic, 0, 2, {}},
     {"NCCL_SHM_LOCALITY", &Env::shm_locality, 1, 2, 2},
     {"NCCL_SHM_MEMCPY_MODE", &Env::shm_memcpy_mode, 1, 3, {}}}};

struct BufferSize {
  const char* name;
  std::optional<Bytes> Env::*member;
  Protocol protocol;
};
constexpr std::array<BufferSize, 3> kBufferSizes{
    {{"NCCL_BUFFSIZE", &Env::buffsize, Protocol::simple},
     {"NCCL_LL_BUFFSIZE", &Env::ll_buffsize, Protocol::ll},
     {"NCCL_LL128_BUFFSIZE", &Env::ll128_buffsize, Protocol::ll128}}};

bool was_typed(const NcclSetting& setting) {
  return !setting.origin.empty() && setting.origin.front() == '-';
}

std::string shown(const NcclSetting& setting) {
  return setting.name + "=" + setting.value + " (" + setting.origin + ")";
}

/// The settings that count, and what there is to say about all of them, in their order.
class Settings {
 public:
  /// @param settings  must outlive it
  Settings(const std::vector<NcclSetting>& settings, const NcclVersion& version, const NearestWord& nearest);

  /// Calls `read` with the value and a report where the variable is set.
  template <class Read>
  void read(const std::string& name, const Read& read);

  const NcclSetting* find(const std::string& name) const {
    const auto found = in_force_.find(name);
    return found == in_force_.end() ? nullptr : found->second;
  }

  void remark(const NcclSetting& setting, const std::string& what) {
    warnings_.emplace(&setting, Warning{"LC-ENV-02", shown(setting) + ": " + what});
  }

  /// @throws Error  where there was a problem
  void finish(std::vector<Warning>& warnings) const;

 private:
  void check_name(const NcclSetting& setting, const NcclVersion& version, const NearestWord& nearest);
  void problem(const NcclSetting& setting, const std::string& what, const std::string& mend) {
    problems_.emplace(&setting, what + "\n  at " + setting.origin + "\n  mend: " + mend);
  }
  void not_modelled(const NcclSetting& setting, const std::string& why) {
    warnings_.emplace(&setting, Warning{"LC-ENV-01", shown(setting) + " " + why});
  }

  std::map<std::string, const NcclSetting*> in_force_;
  std::multimap<const NcclSetting*, std::string> problems_;  // by address: the order of the settings
  std::multimap<const NcclSetting*, Warning> warnings_;
};

template <class Read>
void Settings::read(const std::string& name, const Read& read) {
  const NcclSetting* setting = find(name);
  if (setting == nullptr) return;
  NcclValueReport report;
  read(setting->value, report);
  for (const NcclValueProblem& each : report.problems) {
    problem(*setting, "`" + setting->name + "` is `" + setting->value + "`: " + each.what, each.mend);
  }
  for (const std::string& each : report.remarks) remark(*setting, each);
}

void Settings::finish(std::vector<Warning>& warnings) const {
  std::string message;
  for (const auto& [setting, text] : problems_) message += (message.empty() ? "" : "\nerror: ") + text;
  if (!message.empty()) throw Error(ErrorKind::usage, message);
  for (const auto& [setting, warning] : warnings_) warnings.push_back(warning);
}

std::string nearest_name(const std::string& name, const NearestWord& nearest) {
  if (!nearest) return "";
  std::vector<std::string> candidates;
  for (const NcclVariable& variable : nccl_variables()) {
    if (variable.name.back() != '*') candidates.push_back(variable.name);
  }
  const bool prefixed = name.rfind("NCCL_", 0) == 0;
  return nearest(prefixed ? name : "NCCL_" + name, candidates);
}

bool changes_nothing(const NcclVariable& variable, const std::string& value) {
  const CInteger number = read_c_integer(value);
  std::string left = variable.harmless + "|";
  for (std::size_t end = left.find('|'); end != std::string::npos; end = left.find('|')) {
    const std::string harmless = left.substr(0, end);
    left.erase(0, end + 1);
    const CInteger other = read_c_integer(harmless);
    const bool same_number = number.digits && other.digits && number.value == other.value;
    if (!harmless.empty() && (same_number || harmless == value)) return true;
  }
  return false;
}

Settings::Settings(const std::vector<NcclSetting>& settings, const NcclVersion& version,
                   const NearestWord& nearest) {
  std::map<std::string, std::size_t> last;
  for (std::size_t i = 0; i < settings.size(); ++i) last[settings[i].name] = i;
  for (std::size_t i = 0; i < settings.size(); ++i) {
    if (last[settings[i].name] == i) check_name(settings[i], version, nearest);
  }
}

void Settings::check_name(const NcclSetting& setting, const NcclVersion& version,
                          const NearestWord& nearest) {
  const NcclVariable* variable = find_nccl_variable(setting.name);
  if (variable == nullptr) {
    if (was_typed(setting)) {
      const std::string near = nearest_name(setting.name, nearest);
      problem(setting, "NCCL has no variable `" + setting.name + "`",
              near.empty() ? "leave it out" : "did you mean " + near + "?");
    } else {
      not_modelled(setting, "is not known here and not modelled");
    }
    return;
  }
  if (setting.value.empty()) return;
  const bool gone = variable->until != 0 && variable->until < version.minor;
  const bool to_come = variable->since > version.minor && variable->effect != NcclEffect::none;
  if (gone || to_come) {
    remark(setting, version.name() + " does not read it; " +
                        (gone ? "the last that did is 2." + std::to_string(variable->until)
                              : "it came with 2." + std::to_string(variable->since)));
    return;
  }
  in_force_[setting.name] = &setting;
  if (variable->effect == NcclEffect::not_modelled && !changes_nothing(*variable, setting.value)) {
    not_modelled(setting, "changes what NCCL does (" + variable->about + "), but is not modelled");
  }
}

/// A bound of the number of channels by one name.
std::optional<int> read_channels(Settings& settings, const std::string& name, int most, int least) {
  std::optional<int> result;
  settings.read(name, [&](const std::string& text, NcclValueReport& report) {
    const auto number = read_integer(text, report);
    if (!number || *number == kUnset) return;
    if (*number < 1 && least == 0) {
      report.remarks.push_back("too low; it is as if it were not set");
      return;
    }
    result = static_cast<int>(std::clamp<std::int64_t>(*number, 1, most));
    if (*number != *result) report.remarks.push_back("NCCL takes " + std::to_string(*result));
  });
  return result;
}

/// The same by the newer of two names; NCCL does not look at the older one then.
std::optional<int> read_renamed_channels(Settings& settings, const std::string& newer,
                                         const std::string& older, int most, int least) {
  const NcclSetting* old_setting = settings.find(older);
  if (old_setting == nullptr || settings.find(newer) == nullptr) {
    return read_channels(settings, old_setting == nullptr ? newer : older, most, least);
  }
  settings.remark(*old_setting, "NCCL does not read it where " + newer + " is set");
  return read_channels(settings, newer, most, least);
}

/// Source: NVIDIA/nccl src/graph/connect.cc `ncclMinNchannels`, `ncclTopoPostset`; src/init.cc
/// `envConfigOverride`.
void read_channel_bounds(Settings& settings, const NcclRules& rules, NcclEnvironment& environment) {
  const int most = rules.most_channels;
  auto min_blocks = read_channels(settings, "NCCL_MIN_CTAS", most, 0);
  const auto max_blocks = read_channels(settings, "NCCL_MAX_CTAS", most, 0);
  if (min_blocks && max_blocks && *min_blocks > *max_blocks) {
    settings.remark(*settings.find("NCCL_MIN_CTAS"), "NCCL takes that of NCCL_MAX_CTAS, which is less");
    min_blocks = max_blocks;
  }
  environment.min_channels =
      read_renamed_channels(settings, "NCCL_MIN_NCHANNELS", "NCCL_MIN_NRINGS", most, 0);
  environment.max_channels =
      read_renamed_channels(settings, "NCCL_MAX_NCHANNELS", "NCCL_MAX_NRINGS", most, 1);
  if (min_blocks) environment.min_channels = std::max(environment.min_channels.value_or(0), *min_blocks);
  if (max_blocks) environment.max_channels = std::min(environment.max_channels.value_or(most), *max_blocks);
}

void read_lists(Settings& settings, const NcclRules& rules, const NearestWord& nearest,
                NcclEnvironment& environment) {
  settings.read("NCCL_ALGO", [&](const std::string& text, NcclValueReport& report) {
    environment.algorithms = read_algorithm_list(text, rules, nearest, report);
  });
  settings.read("NCCL_PROTO", [&](const std::string& text, NcclValueReport& report) {
    environment.protocols = read_protocol_list(text, rules, nearest, report);
  });
  settings.read("NCCL_THREAD_THRESHOLDS", [&](const std::string& text, NcclValueReport& report) {
    environment.thread_thresholds = read_thread_thresholds(text, report);
  });
}

void read_sizes(Settings& settings, const NcclRules& rules, NcclEnvironment& environment) {
  read_channel_bounds(settings, rules, environment);
  settings.read("NCCL_NTHREADS", [&](const std::string& text, NcclValueReport& report) {
    environment.threads = read_threads(text, 64, std::min(512, rules.most_threads), report);
  });
  settings.read("NCCL_LL128_NTHREADS", [&](const std::string& text, NcclValueReport& report) {
    environment.ll128_threads = read_threads(text, rules.most_threads / 4, rules.most_threads, report);
  });
  for (const BufferSize& each : kBufferSizes) {
    settings.read(each.name, [&](const std::string& text, NcclValueReport& report) {
      environment.*each.member = read_buffer_size(text, each.protocol, report);
    });
  }
}

void read_small_values(Settings& settings, NcclEnvironment& environment) {
  for (const Flag& each : kFlags) {
    settings.read(each.name, [&](const std::string& text, NcclValueReport& report) {
      environment.*each.member = read_flag(text, each.truth, report);
    });
  }
  for (const SmallInteger& each : kSmallIntegers) {
    settings.read(each.name, [&](const std::string& text, NcclValueReport& report) {
      environment.*each.member = read_small_integer(text, each.low, each.high, each.otherwise, report);
    });
  }
  std::optional<bool> p2p_disable;
  settings.read("NCCL_P2P_DISABLE", [&](const std::string& text, NcclValueReport& report) {
    p2p_disable = read_flag(text, NcclTruth::one, report);
  });
  settings.read("NCCL_P2P_LEVEL", [&](const std::string& text, NcclValueReport& report) {
    environment.p2p_level = read_path_level(text, report);
    if (p2p_disable == true && environment.p2p_level != PathType::loc) {
      report.remarks.push_back("NCCL does not read it where NCCL_P2P_DISABLE is 1");
    }
  });
  if (p2p_disable == true) environment.p2p_level = PathType::loc;
}

}  // namespace

NcclEnvironment read_nccl_environment(const std::vector<NcclSetting>& settings, const NcclVersion& version,
                                      std::vector<Warning>& warnings, const NearestWord& nearest) {
  const NcclRules& rules = nccl_rules(version);
  Settings in_force(settings, version, nearest);
  NcclEnvironment environment;
  environment.settings = settings;
  read_lists(in_force, rules, nearest, environment);
  read_sizes(in_force, rules, environment);
  read_small_values(in_force, environment);
  in_force.finish(warnings);
  return environment;
}

}  // namespace lanecast
