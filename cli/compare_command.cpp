#include <algorithm>
#include <memory>
#include <utility>

#include "cli/commands.hpp"
#include "cli/compare_inputs.hpp"
#include "cli/compare_options.hpp"
#include "cli/config_digest.hpp"
#include "cli/measured_predictions.hpp"
#include "cli/option_values.hpp"
#include "cli/simulator.hpp"
#include "configs/reading.hpp"
#include "model/error.hpp"

namespace lanecast {
namespace {

constexpr int kMostJobs = 4096;
constexpr int kMostRows = 1'000'000;

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + printable(name);
  return text;
}

void refuse_files(const CompareOptions& options) {
  const std::vector<std::string>& files = options.files;
  if (std::count(files.begin(), files.end(), "-") + (options.machine.machine == "-" ? 1 : 0) > 1) {
    throw Error(ErrorKind::usage, "standard input stands for two files", "the command line",
                "give all but one of them by name");
  }
  if (!options.machine.machine.empty() || files.size() == 2) return;
  throw Error(ErrorKind::usage,
              files.size() == 1 ? "there is nothing to compare `" + printable(files.front()) + "` with"
                                : std::to_string(files.size()) + " files are too many",
              "the command line",
              "give MEASURED and PREDICTED, or --machine MACHINE to predict each row of the data");
}

/// The copies of pairwise tables that were measured, predicted.
std::vector<MeasuredMatrix> predicted_matrices(const Machine& machine, const Profile& profile,
                                               const std::vector<MeasuredMatrix>& measured) {
  static const std::vector<std::pair<std::string, MatrixKind>> kKinds{{"p2p", MatrixKind::p2p},
                                                                      {"bidir", MatrixKind::bidir},
                                                                      {"h2d", MatrixKind::h2d},
                                                                      {"d2h", MatrixKind::d2h},
                                                                      {"latency", MatrixKind::latency}};
  std::vector<MeasuredMatrix> predicted;
  for (const MeasuredMatrix& matrix : measured) {
    const bool known = std::any_of(predicted.begin(), predicted.end(), [&](const MeasuredMatrix& other) {
      return other.kind == matrix.kind && other.engine == matrix.engine &&
             other.peer_access == matrix.peer_access;
    });
    const auto kind = std::find_if(kKinds.begin(), kKinds.end(),
                                   [&](const auto& each) { return each.first == matrix.kind; });
    if (known || kind == kKinds.end()) continue;
    Machine used = machine;
    used.p2p.enabled = machine.p2p.enabled && matrix.peer_access;
    MeasuredMatrix rows = matrix;
    rows.rows =
        simulate_matrix(used, profile, matrix.engine == "sm" ? Engine::sm : Engine::copy, kind->second).rows;
    predicted.push_back(std::move(rows));
  }
  return predicted;
}

/// Both sides from files.
void compare_files(const CompareOptions& options, const ComparisonOptions& comparison, const Session& session,
                   ComparisonReport& report) {
  MeasuredData measured =
      read_measured_side({options.files[0]}, read_data_options(options.data, session), "");
  report.warnings = std::move(measured.warnings);
  const PredictedData predicted = read_predicted_side(options.files[1], report.warnings);
  report.calls = compare_calls(measured.calls, predicted.calls, comparison);
  report.matrices = compare_matrices(measured.matrices, predicted.matrices, report.calls.left_out);
  report.machine = predicted.machine;
  report.profile = predicted.profile;
  report.predicted = joined({options.files[1]});
  report.run = session.run_info("");
}

SimulationOptions simulation_options(const CompareOptions& options) {
  SimulationOptions simulation;
  simulation.seed = read_seed(options.seed, "--seed");
  simulation.jobs = static_cast<int>(read_integer(options.jobs, "--jobs", 0, kMostJobs));
  simulation.exact = options.exact;
  return simulation;
}

/// Each row of the data is predicted.
void compare_predicted(const CompareOptions& options, const ComparisonOptions& comparison,
                       const Session& session, ComparisonReport& report) {
  const MeasuredPredictionOptions how{options.implementation, options.nccl_model,
                                      simulation_options(options)};
  const Machine machine = read_machine(options.machine, session);
  const ProfileFor profile_for = [&](const Implementation& implementation) {
    return read_profile(options.machine.profile, options.machine.sets, machine, implementation, session);
  };
  MeasuredData measured =
      read_measured_side(options.files, read_data_options(options.data, session), options.implementation);
  require_simulator();
  report.warnings = std::move(measured.warnings);
  std::vector<LeftOutRows> left_out;
  const std::vector<MeasuredCall> selected = selected_calls(measured.calls, comparison, left_out);
  MeasuredPredictions predictions = predict_measured(machine, profile_for, selected, how, left_out);
  report.calls = arranged(std::move(predictions.rows), comparison, std::move(left_out));
  if (!measured.matrices.empty()) {
    const ChosenProfile copies = profile_for(Implementation());
    report.matrices =
        compare_matrices(measured.matrices, predicted_matrices(machine, copies.profile, measured.matrices),
                         report.calls.left_out);
    report.warnings.insert(report.warnings.end(), copies.warnings.begin(), copies.warnings.end());
    if (predictions.profiles.empty()) predictions.profiles.push_back(copies.profile.name);
  }
  report.warnings.insert(report.warnings.end(), predictions.warnings.begin(), predictions.warnings.end());
  report.machine = machine.name;
  report.profile = joined(predictions.profiles);
  report.predicted = "machine " + printable(machine.name) + ", profile " + report.profile +
                     (predictions.implementations.empty() ? "" : ", implementation ") +
                     joined(predictions.implementations);
  report.run = session.run_info(config_digest(machine));
}

std::string counted(std::size_t rows) { return std::to_string(rows) + (rows == 1 ? " row" : " rows"); }

std::string reasons_of(const std::vector<const LeftOutRows*>& left_out) {
  std::string text;
  for (const LeftOutRows* rows : left_out) {
    text += (text.empty() ? "" : "; ") + counted(rows->rows) + ": " + printable(rows->reason) +
            (rows->where.empty() ? "" : " (" + printable(rows->where) + ")");
  }
  return text;
}

/// What a reader of the figures must know of the rows.
void add_row_warnings(ComparisonReport& report) {
  std::vector<const LeftOutRows*> alone;
  for (const LeftOutRows& rows : report.calls.left_out) {
    if (rows.asked_for) continue;
    if (rows.reason == wrong_results) {
      report.warnings.push_back({"LC-COMPARE-01", "left out: " + reasons_of({&rows})});
    } else {
      alone.push_back(&rows);
    }
  }
  if (!alone.empty()) report.warnings.push_back({"LC-COMPARE-02", "left out: " + reasons_of(alone)});
  for (const std::string& difference : report.calls.differences)
    report.warnings.push_back({"LC-COMPARE-03", difference});
}

void refuse_nothing(const ComparisonReport& report) {
  const CallComparison& calls = report.calls;
  if (!calls.rows.empty() || !calls.first_rows.empty() || !report.matrices.empty()) return;
  std::vector<const LeftOutRows*> all;
  for (const LeftOutRows& rows : calls.left_out) all.push_back(&rows);
  throw Error(ErrorKind::usage,
              "nothing can be compared: " + (all.empty() ? "no row is there" : reasons_of(all)),
              report.measured + " and " + report.predicted,
              "predict the calls that were measured (their collective, ranks, protocol, place ...), or name "
              "the machine: --machine MACHINE");
}

void throw_if_beyond(const ComparisonReport& report) {
  if (!report.tolerance || report.tolerance->beyond.empty()) return;
  const ToleranceResult& result = *report.tolerance;
  throw Error(ErrorKind::check_failed,
              std::to_string(result.beyond.size()) + " beyond the tolerance of " + bound_of(result) +
                  ", the worst: " + text_of(result.beyond.front()),
              report.measured,
              result.of == ToleranceOf::max
                  ? "the report lists them; `--tolerance-of median` bounds each group's median instead"
                  : "the report lists them");
}

void run_compare(const CompareOptions& options, const Session& session) {
  const Format format = checked_output(options.output);
  refuse_files(options);
  const ComparisonOptions comparison = read_comparison_options(options);
  ComparisonReport report;
  report.shown = read_rows_shown(options);
  report.worst = static_cast<std::size_t>(read_integer(options.worst, "--worst", 0, kMostRows));
  if (!options.tolerance.empty())
    report.tolerance =
        ToleranceResult{read_share(options.tolerance, "--tolerance"), read_tolerance_of(options), {}};
  report.measured =
      joined(options.machine.machine.empty() ? std::vector<std::string>{options.files[0]} : options.files);
  report.in_place = options.in_place;
  report.with_nccl_model = options.nccl_model;
  if (options.machine.machine.empty()) {
    compare_files(options, comparison, session, report);
  } else {
    compare_predicted(options, comparison, session, report);
  }
  refuse_nothing(report);
  add_row_warnings(report);
  if (report.tolerance) {
    ToleranceResult& result = *report.tolerance;
    result.beyond = breaches(report.calls.rows, report.matrices, result.of, result.tolerance);
  }
  session.warn(report.warnings);
  write_output(options.output, comparison_text(report, format));
  throw_if_beyond(report);
}

}  // namespace

void add_compare_command(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("compare", "how far predictions are from measurements");
  const auto options = std::make_shared<CompareOptions>();
  add_compare_options(*command, *options);
  command->footer(
      "Exit code 3 where an error is beyond --tolerance.\n"
      "Examples:\n"
      "  lanecast compare measured.json predicted.json --tolerance 10%\n"
      "  lanecast compare --machine box.yaml all_reduce_perf.txt --min-size 1K\n"
      "  lanecast compare --machine h200x2-nvlink-vm nccl.csv --only protocol=ll,channels=2,8 "
      "--with-nccl-model\n"
      "  lanecast compare --machine box.yaml p2pBandwidthLatencyTest.txt\n"
      "  lanecast compare before.json after.json --tolerance 5% --tolerance-of median");
  command->callback([options, &session] { run_compare(*options, session); });
}

}  // namespace lanecast
