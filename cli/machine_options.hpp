#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/session.hpp"
#include "model/profile/profile.hpp"
#include "model/topology/machine.hpp"

namespace lanecast {

/// What a command predicts on: a machine, changed by `--set`, and the numbers of the model.
struct MachineOptions {
  std::string machine;
  std::vector<std::string> sets;
  std::string profile = "auto";
};

void add_machine_options(CLI::App& command, MachineOptions& options);
void add_profile_option(CLI::App& command, std::string& profile);

/// Reads the machine and applies every `--set`, in order. Its assumptions are told with `-v`.
/// @throws Error  kind usage: no such machine, a file with problems, a path or value that doesn't exist
Machine read_machine(const MachineOptions& options, const Session& session);

/// @throws Error  kind usage: anything but `auto` and `generic`
Profile read_profile(const std::string& name);

}  // namespace lanecast
