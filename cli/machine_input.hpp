#pragma once
#include <string>
#include <vector>

#include "cli/session.hpp"
#include "configs/dumps/import.hpp"

namespace lanecast {

/// A machine by any of its forms: a machine file, a shipped machine's name, a one-line synthetic machine, or
/// files of what the machine prints, which are imported and merged.
///
/// A machine that is no import comes without origins.
/// @throws Error  kind usage, as load_machine and import_files do; more than one input, none of them a dump
ImportedMachine machine_input(const std::vector<std::string>& inputs);

/// The machine alone; what its import has to say goes to stderr.
Machine told_machine_input(const std::vector<std::string>& inputs, const Session& session);

}  // namespace lanecast
