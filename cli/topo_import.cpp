#include "cli/topo_import.hpp"

#include <memory>

#include "cli/machine_output.hpp"
#include "cli/option_values.hpp"
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

std::vector<std::string> kind_names() {
  std::vector<std::string> names;
  for (const DumpKind kind : dump_kinds()) names.emplace_back(to_string(kind));
  return names;
}

std::optional<DumpKind> asked_kind(const std::string& text) {
  if (text.empty()) return std::nullopt;
  if (const auto kind = dump_kind_from_string(text)) return kind;
  throw unknown_choice(text, "--as", kind_names());
}

void run_import(const ImportOptions& options, const Session& session) {
  check_machine_output(options.output);
  write_imported(import_files(options.files, asked_kind(options.as), options.name), options.output, session);
}

}  // namespace

void add_topo_import(CLI::App& topo, Session& session) {
  CLI::App* command = topo.add_subcommand("import", "turn what a machine prints into a machine file");
  const auto options = std::make_shared<ImportOptions>();
  command->add_option("FILE", options->files, "files of one machine, of any kinds; - is standard input")
      ->required();
  command->add_option("--as", options->as,
                      "kind of the files, where their look deceives: " + listed(kind_names()));
  command->add_option("--name", options->name, "name of the machine; else that of the first file");
  add_machine_output(*command, options->output);
  command->footer(
      "Examples:\n"
      "  lanecast topo import lspci.txt topo.txt -o box.yaml\n"
      "  nvidia-smi topo -m | lanecast topo import - --name box\n"
      "  lanecast topo import nccl-topo.xml --format table");
  command->callback([options, &session] { run_import(*options, session); });
}

}  // namespace lanecast
