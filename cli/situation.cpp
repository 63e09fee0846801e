#include "cli/situation.hpp"

#include <numeric>
#include <utility>

#include "cli/option_values.hpp"
#include "cli/simulator.hpp"
#include "configs/machine_paths.hpp"
#include "configs/profile_sets.hpp"
#include "model/error.hpp"
#include "reports/prediction_report.hpp"

namespace lanecast {
namespace {

constexpr int kMostJobs = 4096;

/// Of which sizes are multiples: whole elements, and whole blocks of them where each rank has a block.
std::uint64_t size_grain(const Call& call, std::size_t ranks) {
  const bool blocks =
      call.collective == Collective::all_gather || call.collective == Collective::reduce_scatter;
  return static_cast<std::uint64_t>(element_bytes(call.datatype)) * (blocks ? ranks : 1);
}

std::string rounding_reason(std::uint64_t grain) {
  return "sizes are rounded down to multiples of " + std::to_string(grain) + " bytes";
}

/// @throws Error  kind usage: none is left
std::vector<Bytes> multiples(const SweepOptions& sweep, std::uint64_t grain) {
  std::vector<Bytes> sizes = rounded_sizes(sweep_sizes(sweep), grain);
  if (!sizes.empty()) return sizes;
  throw Error(ErrorKind::usage, "no size is left: " + rounding_reason(grain), "-b, -e",
              "end at " + std::to_string(grain) + " bytes or more");
}

/// Sizes that the call can have.
std::vector<Bytes> sizes_of(const SituationOptions& options, const Call& call, std::size_t ranks,
                            const Session& session) {
  const std::uint64_t grain = size_grain(call, ranks);
  std::vector<Bytes> sizes = multiples(options.sweep, grain);
  const std::size_t asked = sweep_sizes(options.sweep).size();
  if (sizes.size() < asked) {
    session.note(rounding_reason(grain) + "; " + std::to_string(asked - sizes.size()) +
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

SimulationOptions simulation_options(const SituationOptions& options) {
  SimulationOptions simulation;
  simulation.seed = read_seed(options.seed, "--seed");
  simulation.jobs = static_cast<int>(read_integer(options.jobs, "--jobs", 0, kMostJobs));
  simulation.exact = options.exact;
  return simulation;
}

/// Everything that does not need the machine.
Situation without_machine(const SituationOptions& options, const Session& session) {
  Situation situation;
  situation.nccl = read_nccl_input(options.nccl, options.machine.machine);
  situation.implementation = implementation_from_string(
      implementation_name(asked_implementation(options.call, session), situation.nccl, session));
  situation.implementation.environment =
      read_environment(situation.nccl, situation.implementation, session, situation.warnings);
  situation.simulation = simulation_options(options);
  return situation;
}

void complete(Situation& situation, Call call, const SituationOptions& options, const Session& session) {
  situation.chosen = read_profile(options.machine.profile, options.machine.sets, situation.machine,
                                  situation.implementation, session);
  situation.warnings.insert(situation.warnings.end(), situation.chosen.warnings.begin(),
                            situation.chosen.warnings.end());
  situation.ranks = call_ranks(situation.machine, call);
  choose_root(call, situation.ranks);
  note_what_flags_override(call, situation.implementation.environment, session);
  note_other_ranks(situation.nccl, situation.ranks.size(), session);
  for (const Bytes size : sizes_of(options, call, situation.ranks.size(), session)) {
    situation.calls.push_back(call);
    situation.calls.back().size = size;
  }
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

void add_situation_options(CLI::App& command, SituationOptions& options) {
  add_machine_argument(command, options.machine.machine);
  add_profile_option(command, options.machine.profile);
  add_sweep_options(command, options.sweep);
  add_call_options(command, options.call);
  add_nccl_options(command, options.nccl);
  command.add_flag("--exact", options.exact, "simulate every slice; no folding of repeated loops and steps")
      ->group("Simulation");
  command.add_option("--seed", options.seed, "seed of the spread between channels")
      ->envname("LANECAST_SEED")
      ->capture_default_str()
      ->group("Simulation");
  command.add_option("--jobs", options.jobs, "simulations at a time; 0 is one a core")
      ->envname("LANECAST_JOBS")
      ->capture_default_str()
      ->group("Simulation");
}

Situation read_situation(const SituationOptions& options, const Session& session) {
  Situation situation = without_machine(options, session);
  const Call call = read_call(options.call, session);
  situation.machine = read_machine(options.machine, session);
  complete(situation, call, options, session);
  return situation;
}

Situation situation_on(const Machine& machine, const SituationOptions& options, const Session& session) {
  Situation situation = without_machine(options, session);
  const Call call = read_call(options.call, session);
  situation.machine = machine;
  apply_sets(situation.machine, machine_sets(options.machine.sets));
  complete(situation, call, options, session);
  return situation;
}

void share_sizes(std::vector<Situation*> situations, const SweepOptions& sweep) {
  std::uint64_t grain = 1;
  for (const Situation* situation : situations)
    grain = std::lcm(grain, size_grain(situation->calls.front(), situation->ranks.size()));
  const std::vector<Bytes> sizes = multiples(sweep, grain);
  for (Situation* situation : situations) {
    const Call call = situation->calls.front();
    situation->calls.assign(sizes.size(), call);
    for (std::size_t i = 0; i < sizes.size(); ++i) situation->calls[i].size = sizes[i];
  }
}

std::vector<Prediction> predict_situation(const Situation& situation) {
  std::vector<Prediction> predictions = predictor_of(situation)(situation.machine, situation.calls);
  for (Prediction& prediction : predictions) {
    prediction.warnings.insert(prediction.warnings.begin(), situation.warnings.begin(),
                               situation.warnings.end());
  }
  return predictions;
}

Predictor predictor_of(const Situation& situation) {
  return [&situation](const Machine& machine, const std::vector<Call>& calls) {
    return simulate_calls(machine, situation.profile(), situation.implementation, calls,
                          situation.simulation);
  };
}

}  // namespace lanecast
