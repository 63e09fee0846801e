#include <memory>

#include "cli/commands.hpp"
#include "cli/imported.hpp"
#include "cli/live_machine.hpp"
#include "cli/machine_input.hpp"
#include "cli/option_values.hpp"
#include "cli/output.hpp"
#include "cli/topo_show.hpp"
#include "configs/dumps/collect_script.hpp"
#include "configs/dumps/import.hpp"
#include "configs/problem_list.hpp"
#include "model/error.hpp"

namespace lanecast {
namespace {

struct ImportOptions {
  std::vector<std::string> files;
  std::string as;
  std::string name;
  OutputOptions output;
};

void add_machine_output(CLI::App& command, OutputOptions& output) {
  output.format = "yaml";
  add_output_options(command, output);
  command.get_option("--format")
      ->description(
          "yaml (a machine file), or the values with their origins as table, json, csv or markdown");
}

/// The machine as YAML, or the report about it.
void write_imported(const ImportedMachine& imported, const OutputOptions& output, const Session& session) {
  tell_import(imported, session);
  if (output.format == "yaml") {
    write_output(output, imported_yaml(imported, session));
  } else {
    write_output(output, import_text(import_report(imported, session), checked_output(output)));
  }
}

/// A look at the output before the work, as all commands do; `yaml` is a format here only.
void check_machine_output(OutputOptions output) {
  if (output.format == "yaml") output.format = "table";
  checked_output(output);
}

std::optional<DumpKind> asked_kind(const std::string& text) {
  if (text.empty()) return std::nullopt;
  if (const auto kind = dump_kind_from_string(text)) return kind;
  std::vector<std::string> names;
  for (const DumpKind kind : dump_kinds()) names.emplace_back(to_string(kind));
  throw unknown_choice(text, "--as", names);
}

void run_import(const ImportOptions& options, const Session& session) {
  check_machine_output(options.output);
  write_imported(import_files(options.files, asked_kind(options.as), options.name), options.output, session);
}

void run_discover(const ImportOptions& options, const Session& session) {
  check_machine_output(options.output);
  write_imported(live_machine(options.name, session), options.output, session);
}

void add_import(CLI::App& topo, Session& session) {
  CLI::App* command = topo.add_subcommand("import", "turn what a machine prints into a machine file");
  const auto options = std::make_shared<ImportOptions>();
  std::vector<std::string> kinds;
  for (const DumpKind kind : dump_kinds()) kinds.emplace_back(to_string(kind));
  command->add_option("FILE", options->files, "files of one machine, of any kinds; - is standard input")
      ->required();
  command->add_option("--as", options->as, "kind of the files, where their look deceives: " + listed(kinds));
  command->add_option("--name", options->name, "name of the machine; else that of the first file");
  add_machine_output(*command, options->output);
  command->footer(
      "Examples:\n"
      "  lanecast topo import lspci.txt topo.txt -o box.yaml\n"
      "  nvidia-smi topo -m | lanecast topo import - --name box\n"
      "  lanecast topo import nccl-topo.xml --format table");
  command->callback([options, &session] { run_import(*options, session); });
}

void add_discover(CLI::App& topo, Session& session) {
  CLI::App* command = topo.add_subcommand("discover", "read the machine that this runs on");
  const auto options = std::make_shared<ImportOptions>();
  command->add_option("--name", options->name, "name of the machine; else the computer's");
  add_machine_output(*command, options->output);
  command->callback([options, &session] { run_discover(*options, session); });
}

void add_collect(CLI::App& topo) {
  CLI::App* command = topo.add_subcommand(
      "collect", "print a script that writes all that matters about a machine to one file");
  const auto output = std::make_shared<OutputOptions>();
  command->add_option("-o,--output", output->path, "write the script to this file (- is stdout)");
  command->add_flag("--force", output->force, "let -o overwrite a file");
  command->footer(
      "On a machine without lanecast (it needs no more than a shell and coreutils; root sees more):\n"
      "  lanecast topo collect -o collect.sh\n"
      "  sudo sh collect.sh > box.txt\n"
      "and back here:\n"
      "  lanecast topo import box.txt -o box.yaml");
  command->callback([output] {
    checked_output(*output);
    write_output(*output, collect_script());
  });
}

}  // namespace

void add_topo_command(CLI::App& app, Session& session) {
  CLI::App* topo =
      app.add_subcommand("topo", "read machines, show them, compare them, write them for others");
  topo->require_subcommand(1);
  add_import(*topo, session);
  add_discover(*topo, session);
  add_collect(*topo);
  add_topo_show(*topo, session);
  add_topo_diff(*topo, session);
  add_topo_export(*topo, session);
}

}  // namespace lanecast
