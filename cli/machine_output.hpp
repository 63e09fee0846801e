#pragma once
#include "cli/output.hpp"
#include "cli/session.hpp"
#include "configs/dumps/import.hpp"

namespace lanecast {

/// Adds the output options of commands whose result is a machine: the form is YAML unless asked otherwise.
void add_machine_output(CLI::App& command, OutputOptions& output);

/// A look at the output before the work, as all commands do; `yaml` is a form here only.
/// @throws Error  kind usage, as checked_output
void check_machine_output(OutputOptions output);

/// The machine as YAML, or the report about it; what the reader must know goes to stderr.
void write_imported(const ImportedMachine& imported, const OutputOptions& output, const Session& session);

}  // namespace lanecast
