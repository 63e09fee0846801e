#pragma once
#include <string>

#include "cli/session.hpp"
#include "configs/dumps/import.hpp"
#include "reports/import_report.hpp"

namespace lanecast {

/// The machine file of an import: each value with its origin behind it, and above them what is unknown,
/// contradictory or worth a note.
std::string imported_yaml(const ImportedMachine& imported, const Session& session);

/// The same as a report.
ImportReport import_report(const ImportedMachine& imported, const Session& session);

/// Says on stderr what was read and what the reader must know: contradictions, unknowns, how much is assumed.
void tell_import(const ImportedMachine& imported, const Session& session);

/// The same in short, for commands that only use the machine: contradictions, and how much is unknown and
/// assumed.
void tell_import_in_short(const ImportedMachine& imported, const Session& session);

}  // namespace lanecast
