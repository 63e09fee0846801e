#include "cli/topo_show.hpp"

#include <memory>

#include "cli/config_digest.hpp"
#include "cli/machine_input.hpp"
#include "cli/machine_options.hpp"
#include "cli/output.hpp"
#include "configs/machine_paths.hpp"
#include "configs/machine_writer.hpp"
#include "configs/reading.hpp"
#include "model/error.hpp"
#include "model/implementation/implementation.hpp"
#include "model/topology/routes.hpp"
#include "reports/difference_report.hpp"
#include "reports/nccl_topology.hpp"
#include "reports/topology_dot.hpp"
#include "reports/topology_report.hpp"

namespace lanecast {
namespace {

constexpr const char* machine_help =
    "a machine file, a shipped machine, a one-line machine, or what a machine prints (several files merge)";

struct ShowOptions {
  std::vector<std::string> inputs;
  std::vector<std::string> sets;
  bool tree = false;
  bool matrix = false;
  bool p2p = false;
  OutputOptions output;
};

Machine shown_machine(const ShowOptions& options, const Session& session) {
  Machine machine = told_machine_input(options.inputs, session);
  apply_sets(machine, options.sets);
  return machine;
}

void run_show(const ShowOptions& options, const Session& session) {
  const Format format = checked_output(options.output);
  const bool all = !options.tree && !options.matrix && !options.p2p;
  TopologyReport report;
  report.machine = shown_machine(options, session);
  report.run = session.run_info(config_digest(report.machine));
  report.tree = all || options.tree;
  report.matrix = all || options.matrix;
  report.p2p = all || options.p2p;
  report.level = default_p2p_level(Implementation(), report.machine,
                                   static_cast<int>(present_gpus(report.machine).size()));
  write_output(options.output, topology_text(report, format));
}

struct DiffOptions {
  std::string before;
  std::string after;
  OutputOptions output;
};

void run_diff(const DiffOptions& options, const Session& session) {
  const Format format = checked_output(options.output);
  const Machine before = told_machine_input({options.before}, session);
  const Machine after = told_machine_input({options.after}, session);
  DifferenceReport report;
  report.run = session.run_info("");
  report.before = options.before;
  report.after = options.after;
  report.differences = differences(before, after);
  write_output(options.output, difference_text(report, format));
  if (!any_change(report.differences)) return;
  throw Error(ErrorKind::check_failed, "the two differ",
              printable(options.before) + " and " + printable(options.after),
              "see the report; `lanecast doctor " + options.after + " --before " + options.before +
                  "` says what it costs");
}

struct ExportOptions {
  ShowOptions input;
  bool nccl_topology = false;
  bool dot = false;
  bool yaml = false;
  std::string path;
  bool force = false;
};

std::string exported(const Machine& machine, const ExportOptions& options, const Session& session) {
  if (options.dot) return topology_dot(machine);
  if (options.yaml) return write_machine(machine);
  const NcclTopologyFile topology = nccl_topology_xml(machine);
  for (const std::string& note : topology.warnings) session.note(note);
  return topology.xml;
}

void run_export(const ExportOptions& options, const Session& session) {
  OutputOptions output;
  output.path = options.path;
  output.force = options.force;
  checked_output(output);
  if (options.nccl_topology + options.dot + options.yaml != 1) {
    throw Error(ErrorKind::usage, "the form to export is not said, or said twice", "the command line",
                "take one of --nccl-topo, --dot and --yaml");
  }
  write_output(output, exported(shown_machine(options.input, session), options, session));
}

void add_machine_inputs(CLI::App& command, ShowOptions& options) {
  command.add_option("MACHINE", options.inputs, machine_help)->required();
  command.add_option("--set", options.sets, "change one value first: links.gpu0.width=x8 (repeatable)")
      ->allow_extra_args(false);
}

}  // namespace

void add_topo_show(CLI::App& topo, Session& session) {
  CLI::App* command =
      topo.add_subcommand("show", "print a machine as a tree, its distances and its peer access");
  const auto options = std::make_shared<ShowOptions>();
  add_machine_inputs(*command, *options);
  command->add_flag("--tree", options->tree, "the tree alone");
  command->add_flag("--matrix", options->matrix, "the matrix of `nvidia-smi topo -m` alone");
  command->add_flag("--p2p", options->p2p, "who may store into whose memory alone");
  add_output_options(*command, options->output);
  command->footer(
      "Examples:\n"
      "  lanecast topo show rtxpro6000x8-2switch\n"
      "  lanecast topo show '2x(sw:4xgpu)@gen4x16' --matrix\n"
      "  lanecast topo show lspci.txt topo.txt --tree");
  command->callback([options, &session] { run_show(*options, session); });
}

void add_topo_diff(CLI::App& topo, Session& session) {
  CLI::App* command =
      topo.add_subcommand("diff", "what changed between two dumps of one box; exit 3 if anything");
  const auto options = std::make_shared<DiffOptions>();
  command->add_option("A", options->before, "the older one: a machine file, or what a machine prints")
      ->required();
  command->add_option("B", options->after, "the newer one")->required();
  add_output_options(*command, options->output);
  command->callback([options, &session] { run_diff(*options, session); });
}

void add_topo_export(CLI::App& topo, Session& session) {
  CLI::App* command =
      topo.add_subcommand("export", "write a machine for NCCL, for Graphviz, or as a machine file");
  const auto options = std::make_shared<ExportOptions>();
  add_machine_inputs(*command, options->input);
  command->add_flag("--nccl-topo", options->nccl_topology, "NCCL's topology XML, for NCCL_TOPO_FILE");
  command->add_flag("--dot", options->dot, "Graphviz: `| dot -Tsvg > box.svg`");
  command->add_flag("--yaml", options->yaml, "a machine file");
  command->add_option("-o,--output", options->path, "write to this file (- is stdout)");
  command->add_flag("--force", options->force, "let -o overwrite a file");
  command->footer(
      "Examples:\n"
      "  lanecast topo export box.yaml --nccl-topo -o topo.xml     # NCCL_TOPO_FILE=topo.xml\n"
      "  lanecast topo export '4xgpu@gen5x16' --yaml -o four.yaml");
  command->callback([options, &session] { run_export(*options, session); });
}

}  // namespace lanecast
