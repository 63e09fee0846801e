#pragma once
#include <functional>
#include <string>
#include <vector>

#include "configs/profile_choice.hpp"
#include "model/measured/comparison.hpp"
#include "model/topology/machine.hpp"
#include "sim/predict.hpp"

namespace lanecast {

/// The measured call on this machine's GPUs: its first ones, where a call says how many took part.
/// @throws Error  kind usage: more GPUs than there are
Call call_on(const Machine& machine, const MeasuredCall& measured);

/// @throws Error  kind usage: what no simulation knows
void refuse_unknown_ways(const MeasuredCall& measured);

/// What the call ran with: as asked, else as it says, else NCCL, in the environment that it states.
/// @throws Error  kind usage: no such implementation, a variable that it would refuse
Implementation implementation_of(const MeasuredCall& measured, const std::string& asked,
                                 std::vector<Warning>& warnings);

/// Equal for calls of one implementation in one environment.
std::string implementation_key(const MeasuredCall& measured, const std::string& asked);

/// The numbers of the model for an implementation.
using ProfileFor = std::function<ChosenProfile(const Implementation&)>;

/// How measured calls are predicted.
struct MeasuredPredictionOptions {
  std::string implementation;  // empty: as the data say, else NCCL
  bool with_nccl_model = false;
  SimulationOptions simulation;
};

/// Measured calls beside their predictions.
struct MeasuredPredictions {
  std::vector<ComparedRow> rows;
  std::vector<Warning> warnings;             // of the predictions, and of NCCL's variables
  std::vector<std::string> implementations;  // whose decisions were predicted, each once
  std::vector<std::string> profiles;         // that were used, each once
};

/// Predicts each measured call on a machine, with its own keys and NCCL's variables. Calls that are equal are
/// simulated once.
///
/// Where a call says how many GPUs took part and the machine has more, its first ones are taken.
/// @param left_out  gains the calls that cannot be predicted, by reason
/// @throws Error    kind usage: an implementation that is asked for and not known; kind runtime, as
///                  simulate_calls
MeasuredPredictions predict_measured(const Machine& machine, const ProfileFor& profile_for,
                                     const std::vector<MeasuredCall>& measured,
                                     const MeasuredPredictionOptions& options,
                                     std::vector<LeftOutRows>& left_out);

}  // namespace lanecast
