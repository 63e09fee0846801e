#pragma once
#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/call_options.hpp"
#include "cli/machine_options.hpp"
#include "cli/nccl_options.hpp"
#include "cli/sweep_sizes.hpp"
#include "model/advice/predictor.hpp"
#include "model/implementation/communicator.hpp"
#include "sim/predict.hpp"

namespace lanecast {

/// The flags that say what is to be predicted, as typed.
struct SituationOptions {
  MachineOptions machine;
  SweepOptions sweep;
  CallOptions call;
  NcclOptions nccl;
  std::string seed = "1";
  std::string jobs = "0";
  bool exact = false;
};

/// All of them but `--set`.
void add_situation_options(CLI::App& command, SituationOptions& options);

/// All that a prediction follows from.
struct Situation {
  Machine machine;
  ChosenProfile chosen;
  Implementation implementation;
  NcclInput nccl;
  std::vector<Warning> warnings;  // of the environment and of the choice of the profile
  std::vector<int> ranks;         // GPU indices that take part
  std::vector<Call> calls;        // one a size, at least one
  SimulationOptions simulation;

  const Profile& profile() const { return chosen.profile; }
};

/// Reads the machine, applies what the flags say, and resolves nothing that the implementation decides.
/// @throws Error  kind usage, with what is wrong and the flag that says so
Situation read_situation(const SituationOptions& options, const Session& session);

/// The same on a machine that is read already; `--set` of `options` is applied to it.
Situation situation_on(const Machine& machine, const SituationOptions& options, const Session& session);

/// Gives several situations the same sizes: those of `sweep`, rounded down to what each of their calls can
/// have.
/// @throws Error  kind usage: no size is left
void share_sizes(std::vector<Situation*> situations, const SweepOptions& sweep);

/// Predicts the situation's calls, warnings of the situation in front of each prediction's own.
/// @throws Error  as `predict`; kind runtime where there is no simulator
std::vector<Prediction> predict_situation(const Situation& situation);

/// Asks the simulator with the situation's profile, implementation and options. The situation must outlive
/// it.
Predictor predictor_of(const Situation& situation);

}  // namespace lanecast
