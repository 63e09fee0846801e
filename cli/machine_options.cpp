#include "cli/machine_options.hpp"

#include <array>
#include <cstdio>

#include "configs/machine_paths.hpp"
#include "configs/machine_writer.hpp"
#include "configs/reading.hpp"
#include "configs/shipped.hpp"
#include "model/error.hpp"

namespace lanecast {

void add_profile_option(CLI::App& command, std::string& profile) {
  command
      .add_option("--profile", profile, "numbers of the model: auto or generic (files come with calibrate)")
      ->envname("LANECAST_PROFILE")
      ->capture_default_str();
}

void add_machine_options(CLI::App& command, MachineOptions& options) {
  command.add_option("MACHINE", options.machine, "a machine file, or the name of a shipped machine")
      ->required();
  command.add_option("--set", options.sets, "change one value: links.gpu0.width=x8 (repeatable)")
      ->allow_extra_args(false);
  add_profile_option(command, options.profile);
}

Machine read_machine(const MachineOptions& options, const Session& session) {
  Machine machine = load_machine(options.machine);
  if (options.profile == "auto" && !machine.profile.empty() && machine.profile != "generic") {
    throw Error(
        ErrorKind::usage,
        "the machine asks for the profile `" + printable(machine.profile) + "`, which does not ship yet",
        printable(options.machine) + " (profile)", "take `--profile generic`, or leave the key out");
  }
  apply_sets(machine, options.sets);
  for (const std::string& assumption : machine.assumptions) session.detail("assumed: " + assumption);
  return machine;
}

Profile read_profile(const std::string& name) {
  if (name == "auto" || name == "generic") return Profile();
  throw Error(ErrorKind::usage,
              "`--profile` is `" + printable(name) + "`: profiles from files come with calibrate",
              "--profile", "take `auto` or `generic`");
}

std::string config_digest(const Machine& machine) {
  std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a, 64 bits
  for (const char c : write_machine(machine)) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  std::array<char, 17> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(hash));
  return digits.data();
}

}  // namespace lanecast
