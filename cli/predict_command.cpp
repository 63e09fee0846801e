#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "cli/call_options.hpp"
#include "cli/commands.hpp"
#include "cli/config_digest.hpp"
#include "cli/machine_options.hpp"
#include "cli/nccl_options.hpp"
#include "cli/option_values.hpp"
#include "cli/output.hpp"
#include "cli/simulator.hpp"
#include "cli/sweep_sizes.hpp"
#include "model/error.hpp"
#include "model/predict/alternatives.hpp"
#include "reports/prediction_report.hpp"

namespace lanecast {
namespace {

struct PredictOptions {
  MachineOptions machine;
  SweepOptions sweep;
  CallOptions call;
  NcclOptions nccl;
  OutputOptions output;
  std::string seed = "1";
  std::string jobs = "0";
  std::string trace;
  bool exact = false;
  bool why = false;
};

constexpr int kMostJobs = 4096;

/// Sizes that the call can have: whole elements, and whole blocks of them where each rank has a block.
std::vector<Bytes> sizes_of(const PredictOptions& options, const Call& call, std::size_t ranks,
                            const Session& session) {
  const bool blocks =
      call.collective == Collective::all_gather || call.collective == Collective::reduce_scatter;
  const std::uint64_t grain = static_cast<std::uint64_t>(element_bytes(call.datatype)) * (blocks ? ranks : 1);
  const std::vector<Bytes> asked = sweep_sizes(options.sweep);
  std::vector<Bytes> sizes = rounded_sizes(asked, grain);
  const std::string reason = "sizes are rounded down to multiples of " + std::to_string(grain) + " bytes";
  if (sizes.empty()) {
    throw Error(ErrorKind::usage, "no size is left: " + reason, "-b, -e",
                "end at " + std::to_string(grain) + " bytes or more");
  }
  if (sizes.size() < asked.size()) {
    session.note(reason + "; " + std::to_string(asked.size() - sizes.size()) +
                 " of them were empty or repeated");
  }
  return sizes;
}

/// Where no root is named, the first rank is it.
void choose_root(Call& call, const std::vector<int>& order) {
  if (call.root < 0) call.root = call.ranks.empty() ? order.front() : call.ranks.front();
  if (!has_root(call.collective)) return;
  for (const int gpu : order) {
    if (gpu == call.root) return;
  }
  throw Error(ErrorKind::usage, "GPU " + std::to_string(call.root) + " takes no part in the call", "--root",
              "take one of the ranks as the root");
}

SimulationOptions simulation_options(const PredictOptions& options) {
  SimulationOptions simulation;
  simulation.seed = read_seed(options.seed, "--seed");
  simulation.jobs = static_cast<int>(read_integer(options.jobs, "--jobs", 0, kMostJobs));
  simulation.exact = options.exact;
  return simulation;
}

std::vector<Prediction> timed(const Session& session, const std::function<std::vector<Prediction>()>& run) {
  const auto begin = std::chrono::steady_clock::now();
  std::vector<Prediction> predictions = run();
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
  session.detail("simulated " + std::to_string(predictions.size()) + " calls in " +
                 std::to_string(spent.count()) + " s");
  return predictions;
}

/// With NCCL's own cost model nothing is simulated.
std::vector<Prediction> own_estimates(const Machine& machine, const Profile& profile,
                                      const Implementation& implementation,
                                      const CommunicatorSetup& communicator, const std::vector<Call>& calls) {
  std::vector<Prediction> predictions;
  for (const Call& call : calls)
    predictions.push_back(nccl_estimate(machine, profile, implementation, communicator, call));
  return predictions;
}

/// Whether a prediction is this way's own.
bool shows(const Prediction& prediction, const Alternative& way) {
  return is_simulated(way) && prediction.algorithm == way.algorithm && prediction.protocol == way.protocol;
}

/// The ways of each call, with the predictions of those that the simulator knows. What is predicted already
/// is not simulated again.
WhyReport weigh(const Machine& machine, const Profile& profile, const Implementation& implementation,
                CommunicatorSetup communicator, const std::vector<Call>& calls,
                const SimulationOptions& simulation, const std::vector<Prediction>& predictions) {
  WhyReport why;
  why.communicator = std::move(communicator);
  for (const Gpu& gpu : machine.gpus) why.gpu_names.push_back(gpu.name);
  std::vector<Call> others;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    why.sizes.push_back(alternatives(machine, profile, implementation, why.communicator, calls[i]));
    for (Alternative& way : why.sizes.back().ways) {
      if (!implementation.own_cost_model && shows(predictions[i], way)) {
        way.prediction = predictions[i];
      } else if (is_simulated(way)) {
        others.push_back(call_of(calls[i], way));
      }
    }
  }
  Implementation simulated = implementation;
  simulated.own_cost_model = false;
  const std::vector<Prediction> more = simulate_calls(machine, profile, simulated, others, simulation);
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

void run_predict(const PredictOptions& options, const Session& session) {
  if (!options.trace.empty()) {
    throw Error(ErrorKind::usage, "`--trace` comes with a later version", "--trace", "leave it out");
  }
  const Format format = checked_output(options.output);
  std::vector<Warning> warnings;
  const NcclInput nccl = read_nccl_input(options.nccl, options.machine.machine);
  Implementation implementation = implementation_from_string(
      implementation_name(asked_implementation(options.call, session), nccl, session));
  implementation.environment = read_environment(nccl, implementation, session, warnings);
  const SimulationOptions simulation = simulation_options(options);
  Call call = read_call(options.call, session);
  const Machine machine = read_machine(options.machine, session);
  const ChosenProfile chosen =
      read_profile(options.machine.profile, options.machine.sets, machine, implementation, session);
  const Profile& profile = chosen.profile;
  warnings.insert(warnings.end(), chosen.warnings.begin(), chosen.warnings.end());
  const std::vector<int> order = call_ranks(machine, call);
  choose_root(call, order);
  note_what_flags_override(call, implementation.environment, session);
  note_other_ranks(nccl, order.size(), session);
  std::optional<CommunicatorSetup> communicator;
  if (nccl.log || options.why || implementation.own_cost_model)
    communicator = open_communicator(machine, implementation, call);
  if (nccl.log) note_log_differs(nccl, *communicator, session);

  std::vector<Call> calls;
  for (const Bytes size : sizes_of(options, call, order.size(), session)) {
    calls.push_back(call);
    calls.back().size = size;
  }
  if (!implementation.own_cost_model || options.why) require_simulator();
  PredictionReport report;
  report.predictions = timed(session, [&] {
    return implementation.own_cost_model
               ? own_estimates(machine, profile, implementation, *communicator, calls)
               : simulate_calls(machine, profile, implementation, calls, simulation);
  });
  for (Prediction& prediction : report.predictions)
    prediction.warnings.insert(prediction.warnings.begin(), warnings.begin(), warnings.end());
  if (options.why) {
    report.why =
        weigh(machine, profile, implementation, *communicator, calls, simulation, report.predictions);
    mark_taken(report.predictions, *report.why);
  }
  report.run = session.run_info(config_digest(machine));
  report.machine = machine.name;
  report.profile = profile.name;
  report.implementation = implementation.name();
  report.simulated = !implementation.own_cost_model;
  for (const NcclSetting& setting : implementation.environment.settings)
    report.nccl_environment[setting.name] = setting.value;
  report.gpus = order;
  report.seed = simulation.seed;
  session.warn(unique_warnings(report.predictions));
  write_output(options.output, prediction_text(report, format));
}

void add_sweep_options(CLI::App& command, SweepOptions& options) {
  const auto add = [&](const char* flags, std::string& value, const char* text) {
    return command.add_option(flags, value, text)->group("Sizes");
  };
  add("-b,--begin", options.begin, "smallest size; K, M and G are powers of 1024")->capture_default_str();
  add("-e,--end", options.end, "largest size")->capture_default_str();
  CLI::Option* factor = add("-f,--factor", options.factor, "growth from size to size")->capture_default_str();
  add("-i,--increment", options.step, "step from size to size, instead of -f")->excludes(factor);
}

}  // namespace

void add_predict_command(CLI::App& app, Session& session) {
  CLI::App* command =
      app.add_subcommand("predict", "predict how long a collective takes, over a sweep of sizes");
  const auto options = std::make_shared<PredictOptions>();
  add_machine_options(*command, options->machine);
  add_sweep_options(*command, options->sweep);
  add_call_options(*command, options->call);
  add_nccl_options(*command, options->nccl);
  command->add_flag("--exact", options->exact, "simulate every slice; no folding of repeated loops and steps")
      ->group("Simulation");
  command
      ->add_flag("--why", options->why,
                 "show what the implementation weighs, its own estimates beside predictions")
      ->group("How it runs");
  command->add_option("--seed", options->seed, "seed of the spread between channels")
      ->envname("LANECAST_SEED")
      ->capture_default_str()
      ->group("Simulation");
  command->add_option("--jobs", options->jobs, "simulations at a time; 0 is one a core")
      ->envname("LANECAST_JOBS")
      ->capture_default_str()
      ->group("Simulation");
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
