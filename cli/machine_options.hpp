#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/session.hpp"
#include "configs/profile_choice.hpp"
#include "model/implementation/implementation.hpp"
#include "model/topology/machine.hpp"

namespace lanecast {

/// What a command predicts on: a machine, changed by `--set`, and the numbers of the model.
struct MachineOptions {
  std::string machine;
  std::vector<std::string> sets;
  std::string profile = "auto";
};

void add_machine_options(CLI::App& command, MachineOptions& options);
void add_machine_argument(CLI::App& command, std::string& machine);
void add_set_option(CLI::App& command, std::vector<std::string>& sets);
void add_profile_option(CLI::App& command, std::string& profile);

/// Reads the machine and applies every `--set` that is not the profile's, in order. Its assumptions are told
/// with `-v`.
/// @throws Error  kind usage: no such machine, a file with problems, a path or value that doesn't exist
Machine read_machine(const MachineOptions& options, const Session& session);

/// The profile that `--profile` asks for, or that is chosen for the machine, with every `--set profile.` on
/// top. The choice and its reason are told with `-v`; its warnings are the caller's to tell.
/// @param asked  as choose_profile
/// @throws Error  kind usage: as choose_profile and apply_profile_sets
ChosenProfile read_profile(const std::string& asked, const std::vector<std::string>& sets,
                           const Machine& machine, const Implementation& implementation,
                           const Session& session);

}  // namespace lanecast
