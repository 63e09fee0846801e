#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "cli/commands.hpp"
#include "cli/config_digest.hpp"
#include "cli/output.hpp"
#include "cli/simulator.hpp"
#include "cli/situation.hpp"
#include "model/error.hpp"
#include "model/predict/alternatives.hpp"
#include "reports/prediction_report.hpp"

namespace lanecast {
namespace {

struct PredictOptions {
  SituationOptions situation;
  OutputOptions output;
  std::string trace;
  bool why = false;
};

std::vector<Prediction> timed(const Session& session, const std::function<std::vector<Prediction>()>& run) {
  const auto begin = std::chrono::steady_clock::now();
  std::vector<Prediction> predictions = run();
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
  session.detail("simulated " + std::to_string(predictions.size()) + " calls in " +
                 std::to_string(spent.count()) + " s");
  return predictions;
}

/// With NCCL's own cost model nothing is simulated.
std::vector<Prediction> own_estimates(const Situation& situation, const CommunicatorSetup& communicator) {
  std::vector<Prediction> predictions;
  for (const Call& call : situation.calls) {
    predictions.push_back(
        nccl_estimate(situation.machine, situation.profile(), situation.implementation, communicator, call));
    predictions.back().warnings.insert(predictions.back().warnings.begin(), situation.warnings.begin(),
                                       situation.warnings.end());
  }
  return predictions;
}

/// Whether a prediction is this way's own.
bool shows(const Prediction& prediction, const Alternative& way) {
  return is_simulated(way) && prediction.algorithm == way.algorithm && prediction.protocol == way.protocol;
}

/// The ways of each call, with the predictions of those that the simulator knows. What is predicted already
/// is not simulated again.
WhyReport weigh(const Situation& situation, CommunicatorSetup communicator,
                const std::vector<Prediction>& predictions) {
  const Implementation& implementation = situation.implementation;
  WhyReport why;
  why.communicator = std::move(communicator);
  for (const Gpu& gpu : situation.machine.gpus) why.gpu_names.push_back(gpu.name);
  std::vector<Call> others;
  for (std::size_t i = 0; i < situation.calls.size(); ++i) {
    const Call& call = situation.calls[i];
    why.sizes.push_back(
        alternatives(situation.machine, situation.profile(), implementation, why.communicator, call));
    for (Alternative& way : why.sizes.back().ways) {
      if (!implementation.own_cost_model && shows(predictions[i], way)) {
        way.prediction = predictions[i];
      } else if (is_simulated(way)) {
        others.push_back(call_of(call, way));
      }
    }
  }
  Implementation simulated = implementation;
  simulated.own_cost_model = false;
  const std::vector<Prediction> more =
      simulate_calls(situation.machine, situation.profile(), simulated, others, situation.simulation);
  auto next = more.begin();
  for (Alternatives& size : why.sizes) {
    for (Alternative& way : size.ways) {
      if (is_simulated(way) && !way.prediction) way.prediction = *next++;
    }
  }
  return why;
}

/// Our engine takes the fastest: what the prediction shows.
void mark_taken(const std::vector<Prediction>& predictions, WhyReport& why) {
  if (why.communicator.nccl) return;
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    for (Alternative& way : why.sizes[i].ways) way.taken = shows(predictions[i], way);
  }
}

/// What the report says of the situation, without predictions.
PredictionReport report_head(const Situation& situation, const Session& session) {
  PredictionReport report;
  report.run = session.run_info(config_digest(situation.machine));
  report.machine = situation.machine.name;
  report.profile = situation.profile().name;
  report.implementation = situation.implementation.name();
  report.simulated = !situation.implementation.own_cost_model;
  for (const NcclSetting& setting : situation.implementation.environment.settings)
    report.nccl_environment[setting.name] = setting.value;
  report.gpus = situation.ranks;
  report.seed = situation.simulation.seed;
  return report;
}

void run_predict(const PredictOptions& options, const Session& session) {
  if (!options.trace.empty()) {
    throw Error(ErrorKind::usage, "`--trace` comes with a later version", "--trace", "leave it out");
  }
  const Format format = checked_output(options.output);
  const Situation situation = read_situation(options.situation, session);
  const Implementation& implementation = situation.implementation;
  std::optional<CommunicatorSetup> communicator;
  if (situation.nccl.log || options.why || implementation.own_cost_model)
    communicator = open_communicator(situation.machine, implementation, situation.calls.front());
  if (situation.nccl.log) note_log_differs(situation.nccl, *communicator, session);
  if (!implementation.own_cost_model || options.why) require_simulator();

  PredictionReport report = report_head(situation, session);
  report.predictions = timed(session, [&] {
    return implementation.own_cost_model ? own_estimates(situation, *communicator)
                                         : predict_situation(situation);
  });
  if (options.why) {
    report.why = weigh(situation, *communicator, report.predictions);
    mark_taken(report.predictions, *report.why);
  }
  session.warn(unique_warnings(report.predictions));
  write_output(options.output, prediction_text(report, format));
}

}  // namespace

void add_predict_command(CLI::App& app, Session& session) {
  CLI::App* command =
      app.add_subcommand("predict", "predict how long a collective takes, over a sweep of sizes");
  const auto options = std::make_shared<PredictOptions>();
  add_situation_options(*command, options->situation);
  add_set_option(*command, options->situation.machine.sets);
  command
      ->add_flag("--why", options->why,
                 "show what the implementation weighs, its own estimates beside predictions")
      ->group("How it runs");
  command->add_option("--trace", options->trace, "comes with a later version")->group("");
  add_output_options(*command, options->output);
  command->footer(
      "Examples:\n"
      "  lanecast predict v100x2-pcie3-switch -b 1K -e 256M -f 4\n"
      "  lanecast predict box.yaml --collective all_gather --protocol ll --format json -o box.json\n"
      "  lanecast predict h200x2-nvlink-vm --implementation nccl-2.28 --why -b 1K -e 1M -f 4\n"
      "  lanecast predict box.yaml --nccl-env NCCL_P2P_LEVEL=SYS --nccl-env NCCL_PROTO=Simple\n"
      "  lanecast predict box.yaml --set links.uplink0.rate=gen2 -b 64M -e 64M");
  command->callback([options, &session] { run_predict(*options, session); });
}

}  // namespace lanecast
