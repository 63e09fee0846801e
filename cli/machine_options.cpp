#include "cli/machine_options.hpp"

#include "cli/live_machine.hpp"
#include "cli/machine_input.hpp"
#include "configs/dumps/live_difference.hpp"
#include "configs/machine_paths.hpp"
#include "configs/profile_sets.hpp"

namespace lanecast {

namespace {

/// A machine that was read from this computer may have changed since.
void warn_if_stale(const Machine& machine, const Session& session) {
  std::vector<Warning> warnings;
  for (const std::string& difference : differences_from_live(machine, live_files())) {
    warnings.push_back({"LC-LIVE-01", "this machine is not what its file says any more: " + difference +
                                          "; `lanecast topo discover` reads it again"});
  }
  session.warn(warnings);
}

}  // namespace

void add_profile_option(CLI::App& command, std::string& profile) {
  command
      .add_option("--profile", profile,
                  "numbers of the model: auto, the name of a shipped profile, a file, or gpu=NAME,link=NAME")
      ->envname("LANECAST_PROFILE")
      ->capture_default_str();
}

void add_machine_argument(CLI::App& command, std::string& machine) {
  command
      .add_option("MACHINE", machine,
                  "a machine file, a shipped machine, a one-line machine, or a file of what a machine prints")
      ->required();
}

void add_set_option(CLI::App& command, std::vector<std::string>& sets) {
  command
      .add_option("--set", sets,
                  "change one value: links.gpu0.width=x8, profile.duplex.host=0.1 (repeatable)")
      ->allow_extra_args(false);
}

void add_machine_options(CLI::App& command, MachineOptions& options) {
  add_machine_argument(command, options.machine);
  add_set_option(command, options.sets);
  add_profile_option(command, options.profile);
}

Machine read_machine(const MachineOptions& options, const Session& session) {
  Machine machine = told_machine_input({options.machine}, session);
  warn_if_stale(machine, session);
  apply_sets(machine, machine_sets(options.sets));
  for (const std::string& assumption : machine.assumptions) session.detail("assumed: " + assumption);
  return machine;
}

ChosenProfile read_profile(const std::string& asked, const std::vector<std::string>& sets,
                           const Machine& machine, const Implementation& implementation,
                           const Session& session) {
  ChosenProfile chosen = choose_profile(asked, machine, implementation);
  session.detail("profile `" + chosen.profile.name + "`: " + chosen.reason);
  apply_profile_sets(chosen.profile, sets);
  return chosen;
}

}  // namespace lanecast
