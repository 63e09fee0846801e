#include <filesystem>
#include <memory>
#include <system_error>

#include "cli/commands.hpp"
#include "cli/config_digest.hpp"
#include "cli/nccl_files.hpp"
#include "cli/option_values.hpp"
#include "cli/output.hpp"
#include "cli/simulator.hpp"
#include "configs/quantity.hpp"
#include "configs/reading.hpp"
#include "model/error.hpp"
#include "reports/prediction_report.hpp"
#include "reports/tune_report.hpp"

namespace lanecast {
namespace {

struct TuneOptions {
  SituationOptions situation;
  std::string chunks = "16K:4M";
  std::string nccl_dir;
  OutputOptions output;
};

constexpr std::uint64_t kLargestChunk = std::uint64_t{1} << 30;  // bytes

/// From "4K:4M": the smallest, and twice the one before, up to the largest; "none": no curve.
std::vector<Bytes> read_chunks(const std::string& text) {
  if (text == "none") return {};
  const std::string flag = "--chunks " + printable(text);
  const std::vector<std::string> ends = split(text, ':');
  if (ends.size() != 2)
    throw Error(ErrorKind::usage, "`" + printable(text) + "` is not SMALLEST:LARGEST", flag,
                "write it like 4K:4M");
  const Bytes first = read_size(ends[0], flag);
  const Bytes last = read_size(ends[1], flag);
  if (first.value() == 0 || first > last || last.value() > kLargestChunk) {
    throw Error(ErrorKind::usage,
                "chunks cannot go from `" + printable(ends[0]) + "` to `" + printable(ends[1]) + "`", flag,
                "begin at 1 byte or more, and end at 1G at most");
  }
  std::vector<Bytes> chunks;
  for (std::uint64_t chunk = first.value(); chunk <= last.value(); chunk *= 2) chunks.emplace_back(chunk);
  return chunks;
}

void check(const TuneOptions& options, const Situation& situation) {
  if (situation.implementation.own_cost_model) {
    throw Error(ErrorKind::usage, "tuning rests on simulation, not on NCCL's own estimates",
                "--implementation", "take `nccl`, a release of it, `rccl` or `lanecast`");
  }
  if (!options.nccl_dir.empty() && situation.implementation.library == Library::lanecast) {
    throw Error(ErrorKind::usage, "the files are NCCL's, and the implementation is lanecast's engine",
                "--nccl-dir", "leave --nccl-dir out, or take `--implementation nccl`");
  }
}

/// The report would overwrite a file for NCCL.
void refuse_same_file(const TuneOptions& options) {
  if (options.nccl_dir.empty() || options.output.path.empty()) return;
  std::error_code unknown;
  for (const char* name : {nccl_environment_file, nccl_tuner_file, nccl_graph_file, nccl_topology_file}) {
    const auto file =
        std::filesystem::weakly_canonical(std::filesystem::path(options.nccl_dir) / name, unknown);
    if (file != std::filesystem::weakly_canonical(options.output.path, unknown)) continue;
    throw Error(ErrorKind::usage, "the report and a file for NCCL would be one file",
                "-o " + printable(options.output.path), "write the report elsewhere");
  }
}

void run_tune(const TuneOptions& options, const Session& session) {
  const Format format = checked_output(options.output);
  const std::vector<Bytes> chunks = read_chunks(options.chunks);
  const Situation situation = read_situation(options.situation, session);
  check(options, situation);
  const NcclFolder folder{options.nccl_dir, options.output.force};
  check_folder(folder);
  refuse_same_file(options);
  require_simulator();
  const PredictorOf predictors = [&](const Implementation& implementation) -> Predictor {
    return [&situation, implementation](const Machine& machine, const std::vector<Call>& calls) {
      return simulate_calls(machine, situation.profile(), implementation, calls, situation.simulation);
    };
  };
  TuneReport report;
  report.tuning =
      tune({situation.machine, situation.profile(), situation.implementation, situation.calls, chunks},
           predictors);
  if (!chunks.empty() && report.tuning.chunk_curve->points.empty())
    session.note("no chunk of --chunks " + printable(options.chunks) + " fits the call: there is no curve");
  if (!folder.path.empty())
    report.written = write_nccl_files(folder, situation, report.tuning, predictors, session);
  report.order_reason = explain(report.tuning.orders);
  report.run = session.run_info(config_digest(situation.machine));
  report.machine = situation.machine.name;
  report.profile = situation.profile().name;
  report.implementation = situation.implementation.name();
  report.seed = situation.simulation.seed;
  report.ranks = static_cast<int>(situation.ranks.size());
  session.warn(situation.warnings);
  session.warn(unique_warnings(report.tuning.best));
  write_output(options.output, tune_text(report, format));
}

}  // namespace

void add_tune_command(CLI::App& app, Session& session) {
  CLI::App* command =
      app.add_subcommand("tune", "best algorithm, protocol, channels, chunk and ring order; files for NCCL");
  const auto options = std::make_shared<TuneOptions>();
  options->situation.sweep = {"1K", "1G", "4", ""};
  add_situation_options(*command, options->situation);
  add_set_option(*command, options->situation.machine.sets);
  command
      ->add_option("--chunks", options->chunks,
                   "chunks of the curve for the largest call, each twice the one before; none: no curve")
      ->type_name("SMALLEST:LARGEST")
      ->capture_default_str()
      ->group("Tuning");
  command
      ->add_option("--nccl-dir", options->nccl_dir,
                   "write nccl.env, nccl_tuner.csv, nccl_graph.xml and nccl_topo.xml into this folder")
      ->type_name("DIR")
      ->group("Tuning");
  add_output_options(*command, options->output);
  command->footer(
      "Examples:\n"
      "  lanecast tune rtxpro6000x8-2switch\n"
      "  lanecast tune box.yaml --nccl-dir for-nccl --implementation nccl-2.28\n"
      "  lanecast tune l40sx4 --implementation lanecast -b 1M -e 256M -f 16 --chunks 4K:4M");
  command->callback([options, &session] { run_tune(*options, session); });
}

}  // namespace lanecast
