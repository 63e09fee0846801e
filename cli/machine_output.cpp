#include "cli/machine_output.hpp"

#include "cli/imported.hpp"

namespace lanecast {

void add_machine_output(CLI::App& command, OutputOptions& output) {
  output.format = "yaml";
  add_output_options(command, output);
  command.get_option("--format")
      ->description(
          "yaml (a machine file), or the values with their origins as table, json, csv or markdown");
}

void check_machine_output(OutputOptions output) {
  if (output.format == "yaml") output.format = "table";
  checked_output(output);
}

void write_imported(const ImportedMachine& imported, const OutputOptions& output, const Session& session) {
  tell_import(imported, session);
  if (output.format == "yaml") {
    write_output(output, imported_yaml(imported, session));
  } else {
    write_output(output, import_text(import_report(imported, session), checked_output(output)));
  }
}

}  // namespace lanecast
