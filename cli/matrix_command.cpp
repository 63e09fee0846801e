#include <memory>

#include "cli/commands.hpp"
#include "cli/config_digest.hpp"
#include "cli/machine_options.hpp"
#include "cli/option_values.hpp"
#include "cli/output.hpp"
#include "cli/simulator.hpp"
#include "configs/reading.hpp"
#include "model/error.hpp"
#include "model/predict/warnings.hpp"
#include "reports/copy_report.hpp"

namespace lanecast {
namespace {

struct MatrixOptions {
  MachineOptions machine;
  OutputOptions output;
  std::string kind = "p2p";
  std::string engine = "ce";
  std::string flows;
};

Error bad_flow(const std::string& flow) {
  return {ErrorKind::usage, "`" + printable(flow) + "` is no copy", "--flows",
          "write SOURCE>DESTINATION, each a GPU index or `host`, separated by commas: '0>4,1>5'"};
}

std::optional<int> read_end(const std::string& text, const std::string& flow) {
  if (text == "host") return std::nullopt;
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos || text.size() > 9) {
    throw bad_flow(flow);
  }
  return std::stoi(text);
}

std::vector<CopyFlow> read_flows(const std::string& text) {
  std::vector<CopyFlow> flows;
  for (const std::string& piece : split(text, ',')) {
    const std::vector<std::string> ends = split(piece, '>');
    if (ends.size() != 2) throw bad_flow(piece);
    flows.push_back({read_end(ends[0], piece), read_end(ends[1], piece)});
  }
  return flows;
}

MatrixEnds ends_of(MatrixKind kind) {
  if (kind == MatrixKind::h2d) return MatrixEnds::host_to_gpu;
  if (kind == MatrixKind::d2h) return MatrixEnds::gpu_to_host;
  return MatrixEnds::gpu_to_gpu;
}

void add_general_warnings(const Machine& machine, const ChosenProfile& chosen,
                          std::vector<Warning>& warnings) {
  warnings.insert(warnings.end(), chosen.warnings.begin(), chosen.warnings.end());
  for (Warning& warning : degraded_link_warnings(machine)) warnings.push_back(std::move(warning));
  for (Warning& warning : prior_warnings(chosen.profile)) warnings.push_back(std::move(warning));
}

std::string flows_result(const MatrixOptions& options, const Machine& machine, const ChosenProfile& chosen,
                         Engine engine, const Session& session, Format format) {
  FlowsReport report;
  report.run = session.run_info(config_digest(machine));
  report.machine = machine.name;
  report.profile = chosen.profile.name;
  report.engine = options.engine;
  const std::vector<CopyFlow> flows = read_flows(options.flows);
  for (const CopyRate& copy : simulate_flows(machine, chosen.profile, engine, flows)) {
    report.flows.push_back({copy.flow.source, copy.flow.destination, copy.rate, copy.bottleneck});
  }
  report.warnings = warnings_of_flows(machine, flows);
  add_general_warnings(machine, chosen, report.warnings);
  session.warn(report.warnings);
  return flows_text(report, format);
}

/// Each pair on its own, as the cells of the table are.
std::vector<Warning> warnings_of_pairs(const Machine& machine, const std::vector<int>& gpus) {
  std::vector<Warning> warnings;
  for (const int source : gpus) {
    for (const int destination : gpus) {
      if (source == destination) continue;
      for (Warning& warning : warnings_of_flows(machine, {{source, destination}})) {
        warnings.push_back(std::move(warning));
      }
    }
  }
  return warnings;
}

std::string matrix_result(const MatrixOptions& options, const Machine& machine, const ChosenProfile& chosen,
                          Engine engine, MatrixKind kind, const Session& session, Format format) {
  const CopyMatrix matrix = simulate_matrix(machine, chosen.profile, engine, kind);
  MatrixReport report;
  report.run = session.run_info(config_digest(machine));
  report.machine = machine.name;
  report.profile = chosen.profile.name;
  report.kind = options.kind;
  report.engine = options.engine;
  report.unit = kind == MatrixKind::latency ? "us" : "GB/s";
  report.ends = ends_of(kind);
  report.gpus = matrix.gpus;
  report.rows = matrix.rows;
  if (report.ends == MatrixEnds::gpu_to_gpu) report.warnings = warnings_of_pairs(machine, matrix.gpus);
  add_general_warnings(machine, chosen, report.warnings);
  session.warn(report.warnings);
  return matrix_text(report, format);
}

void run_matrix(const MatrixOptions& options, const Session& session) {
  const Format format = checked_output(options.output);
  const auto kind = read_choice<MatrixKind>(options.kind, "--kind",
                                            {{"p2p", MatrixKind::p2p},
                                             {"bidir", MatrixKind::bidir},
                                             {"h2d", MatrixKind::h2d},
                                             {"d2h", MatrixKind::d2h},
                                             {"latency", MatrixKind::latency}});
  const auto engine =
      read_choice<Engine>(options.engine, "--engine", {{"ce", Engine::copy}, {"sm", Engine::sm}});
  const Machine machine = read_machine(options.machine, session);
  const ChosenProfile chosen =
      read_profile(options.machine.profile, options.machine.sets, machine, Implementation(), session);
  require_simulator();
  write_output(options.output, options.flows.empty()
                                   ? matrix_result(options, machine, chosen, engine, kind, session, format)
                                   : flows_result(options, machine, chosen, engine, session, format));
}

}  // namespace

void add_matrix_command(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("matrix", "predict the pairwise tables of p2pBandwidthLatencyTest");
  const auto options = std::make_shared<MatrixOptions>();
  add_machine_options(*command, options->machine);
  CLI::Option* kind = command->add_option("--kind", options->kind, "p2p, bidir, h2d, d2h or latency")
                          ->capture_default_str()
                          ->group("Copies");
  command->add_option("--engine", options->engine, "ce (copy engines) or sm (thread blocks)")
      ->capture_default_str()
      ->group("Copies");
  command->add_option("--flows", options->flows, "these copies at once: '0>4,1>5'; GPU index or host")
      ->excludes(kind)
      ->group("Copies");
  add_output_options(*command, options->output);
  command->footer(
      "Examples:\n"
      "  lanecast matrix rtxpro6000x8-2switch\n"
      "  lanecast matrix rtxpro6000x8-2switch --kind bidir --engine sm\n"
      "  lanecast matrix rtxpro6000x8-2switch --flows '0>4,1>5,host>2'");
  command->callback([options, &session] { run_matrix(*options, session); });
}

}  // namespace lanecast
