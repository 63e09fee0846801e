#include "cli/nccl_options.hpp"

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "configs/problem_list.hpp"
#include "configs/reading.hpp"
#include "model/error.hpp"
#include "model/implementation/nccl/environment_variables.hpp"

namespace lanecast {
namespace {

constexpr const char* kFlag = "--nccl-env";
constexpr std::size_t kLongest = 1000;  // NCCL's own buffers hold 1023

/// Gathers messages of three lines for one Error.
class Problems {
 public:
  void add(const Error& error) { text_ += (text_.empty() ? "" : "\nerror: ") + std::string(error.what()); }
  void throw_if_any() const {
    if (!text_.empty()) throw Error(ErrorKind::usage, text_);
  }

 private:
  std::string text_;
};

bool has_control_characters(const std::string& text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

bool is_utf8(const std::string& text) {
  try {
    (void)nlohmann::json(text).dump();  // strict: refuses what is no UTF-8
    return true;
  } catch (const nlohmann::json::exception&) {
    return false;
  }
}

/// Settings that were typed; what is no NAME=VALUE goes to `problems`.
std::vector<NcclSetting> typed_settings(const std::vector<std::string>& texts, Problems& problems) {
  std::vector<NcclSetting> settings;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      problems.add(Error(ErrorKind::usage, "`" + printable(text) + "` is not NAME=VALUE", kFlag,
                         "write it like `--nccl-env NCCL_PROTO=Simple`"));
    } else if (!is_utf8(text)) {
      problems.add(Error(ErrorKind::usage, "setting " + std::to_string(settings.size() + 1) + " is no UTF-8",
                         kFlag, "write it like `--nccl-env NCCL_PROTO=Simple`"));
    } else if (has_control_characters(text) || text.size() > kLongest) {
      problems.add(Error(ErrorKind::usage, "`" + printable(text) + "` is no setting that NCCL takes", kFlag,
                         "leave out control characters, and take at most 1000 characters"));
    } else {
      settings.push_back({text.substr(0, equals), text.substr(equals + 1), kFlag});
    }
  }
  return settings;
}

/// Where ranks of the log disagree on something that counts and that nobody has decided since.
void add_conflicts(const NcclLog& log, const std::vector<NcclSetting>& typed, Problems& problems) {
  for (const NcclLogConflict& conflict : log.conflicts) {
    const NcclVariable* variable = find_nccl_variable(conflict.name);
    const bool counts = variable != nullptr && variable->effect != NcclEffect::none;
    const bool decided = std::any_of(typed.begin(), typed.end(),
                                     [&](const NcclSetting& s) { return s.name == conflict.name; });
    if (!counts || decided) continue;
    problems.add(Error(ErrorKind::usage,
                       "the log gives " + conflict.name + " two values: `" + printable(conflict.first_value) +
                           "` in line " + std::to_string(conflict.first_line) + ", `" +
                           printable(conflict.second_value) + "` in line " +
                           std::to_string(conflict.second_line),
                       log.file + ":" + std::to_string(conflict.second_line),
                       std::string("say which holds, such as `") + kFlag + " " + conflict.name + "=" +
                           printable(conflict.first_value) + "`; NCCL needs the same on all ranks"));
  }
}

std::string place(const NcclLog& log, const NcclLogVersion& version) {
  return log.file + ":" + std::to_string(version.line);
}

std::string release_name(const NcclLogVersion& version) {
  return (version.release.rccl ? "RCCL " : "NCCL ") + version.text;
}

bool is_known(const std::string& implementation) {
  try {
    implementation_from_string(implementation);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

void add_nccl_options(CLI::App& command, NcclOptions& options) {
  command
      .add_option("--nccl-env", options.settings,
                  "NCCL's environment: NCCL_P2P_LEVEL=SYS (repeatable; wins over --nccl-log)")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false)
      ->group("NCCL");
  command
      .add_option("--nccl-log", options.log,
                  "what a run with NCCL_DEBUG=INFO printed: its variables and its release; - is stdin")
      ->type_name("FILE")
      ->group("NCCL");
}

NcclInput read_nccl_input(const NcclOptions& options, const std::string& machine) {
  NcclInput input;
  input.typed = options.settings;
  if (options.log == "-" && machine == "-") {
    throw Error(ErrorKind::usage, "both MACHINE and `--nccl-log` are standard input", "--nccl-log -",
                "give one of them as a file");
  }
  if (!options.log.empty()) input.log = read_nccl_log(options.log);
  return input;
}

std::string implementation_name(const std::string& asked, const NcclInput& input, const Session& session) {
  if (!input.log || asked == "lanecast") return asked;
  const NcclLog& log = *input.log;
  const bool open = asked == "nccl" || asked == "nccl-model";  // no release is named
  if (!log.version) {
    if (open) session.note("`" + log.file + "` does not say which release wrote it");
    return asked;
  }
  const NcclLogVersion& version = *log.version;
  const bool rccl = version.release.rccl;
  const std::string number = std::to_string(version.major) + "." + std::to_string(version.release.minor);
  const std::string follow = rccl && asked == "nccl" ? "rccl" : asked + "-" + number;
  if (!open || (rccl && asked == "nccl-model")) {
    const bool same = rccl ? asked == "rccl" : asked == "nccl-" + number || asked == "nccl-model-" + number;
    if (!same)
      session.note(place(log, version) + " is of " + release_name(version) + ", predicted is " + asked);
    return asked;
  }
  const std::string choose = "name the nearest with --implementation: nccl-2.18 to nccl-2.30";
  if (log.other_version) {
    throw Error(ErrorKind::usage,
                "the log is of two releases: " + release_name(version) + " in line " +
                    std::to_string(version.line) + ", " + release_name(*log.other_version) + " in line " +
                    std::to_string(log.other_version->line),
                place(log, *log.other_version), "give the log of one run, or " + choose);
  }
  if (!is_known(follow)) {
    throw Error(ErrorKind::usage, "the log is of " + release_name(version) + ", which is not known here",
                place(log, version), choose);
  }
  session.note("predicting " + follow + ", as " + place(log, version) + " says");
  return follow;
}

NcclEnvironment read_environment(const NcclInput& input, const Implementation& implementation,
                                 const Session& session, std::vector<Warning>& warnings) {
  Problems problems;
  const std::vector<NcclSetting> typed = typed_settings(input.typed, problems);
  if (implementation.library == Library::lanecast) {
    problems.throw_if_any();
    if (input.log || !typed.empty()) {
      session.note("--nccl-env and --nccl-log mean nothing to --implementation lanecast");
    }
    return {};
  }
  std::vector<NcclSetting> settings;
  if (input.log) {
    const NcclLog& log = *input.log;
    settings = log.settings;
    add_conflicts(log, typed, problems);
    if (settings.empty()) session.note("`" + log.file + "` says of no variable that it is set");
    if (log.nodes.value_or(1) > 1) {
      session.note("`" + log.file + "` is of " + std::to_string(*log.nodes) + " nodes; one is predicted");
    }
  }
  settings.insert(settings.end(), typed.begin(), typed.end());
  NcclEnvironment environment;
  try {
    environment = read_nccl_environment(settings, implementation.version(), warnings, nearest);
  } catch (const Error& error) {
    problems.add(error);
  }
  problems.throw_if_any();
  for (const NcclSetting& setting : settings) {
    session.detail(setting.origin + ": " + setting.name + "=" + setting.value);
  }
  return environment;
}

void note_what_flags_override(const Call& call, const NcclEnvironment& environment, const Session& session) {
  const auto note = [&](bool flag_given, const char* flag, std::initializer_list<const char*> variables) {
    if (!flag_given) return;
    for (const NcclSetting& setting : environment.settings) {
      for (const char* variable : variables) {
        if (setting.name == variable)
          session.note(std::string(flag) + " goes before " + setting.name + "=" + printable(setting.value));
      }
    }
  };
  note(call.algorithm.has_value(), "--algorithm", {"NCCL_ALGO"});
  note(call.protocol.has_value(), "--protocol", {"NCCL_PROTO"});
  note(call.channels.has_value(), "--channels",
       {"NCCL_MIN_NCHANNELS", "NCCL_MAX_NCHANNELS", "NCCL_MIN_NRINGS", "NCCL_MAX_NRINGS", "NCCL_MIN_CTAS",
        "NCCL_MAX_CTAS"});
  note(call.threads.has_value(), "--threads", {"NCCL_NTHREADS", "NCCL_LL128_NTHREADS"});
  note(call.buffsize.has_value(), "--buffsize", {"NCCL_BUFFSIZE", "NCCL_LL_BUFFSIZE", "NCCL_LL128_BUFFSIZE"});
  note(call.transport.has_value(), "--transport", {"NCCL_P2P_LEVEL", "NCCL_P2P_DISABLE", "NCCL_SHM_DISABLE"});
}

void note_other_ranks(const NcclInput& input, std::size_t ranks, const Session& session) {
  if (!input.log) return;
  const NcclLog& log = *input.log;
  if (log.several_communicators)
    session.note("`" + printable(log.file) + "` is of several communicators; the first counts");
  if (log.ranks && static_cast<std::size_t>(*log.ranks) != ranks) {
    session.note("`" + printable(log.file) + "` is of " + std::to_string(*log.ranks) +
                 " ranks, predicted are " + std::to_string(ranks));
  }
}

void note_log_differs(const NcclInput& input, const CommunicatorSetup& communicator, const Session& session) {
  if (!input.log || !communicator.nccl) return;
  const NcclLog& log = *input.log;
  const std::string name = "`" + printable(log.file) + "` ";
  if (log.coll_channels && *log.coll_channels != communicator.channels()) {
    session.note(name + "has " + std::to_string(*log.coll_channels) + " channels, decided are " +
                 std::to_string(communicator.channels()));
  }
  const bool shm_there = std::any_of(log.connections.begin(), log.connections.end(),
                                     [](const NcclLogConnection& c) { return c.via.rfind("SHM", 0) == 0; });
  bool shm_here = false;
  for (const Ring& ring : communicator.rings) {
    shm_here = shm_here || std::any_of(ring.links.begin(), ring.links.end(), [](const Connection& link) {
                 return link.transport == Transport::shm;
               });
  }
  if (log.connections.empty() || shm_there == shm_here) return;
  session.note(name + (shm_there ? "goes through host memory, decided is peer access alone"
                                 : "has peer access alone, decided is host memory for some neighbours"));
}

}  // namespace lanecast
