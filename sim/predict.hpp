#pragma once
#include <cstdint>
#include <vector>

#include "model/implementation/implementation.hpp"
#include "model/predict/prediction.hpp"
#include "model/profile/profile.hpp"

namespace lanecast {

struct SimulationOptions {
  std::uint64_t seed = 1;
  bool exact = false;   // simulate every slice; no folding
  int jobs = 0;         // child processes at a time; 0: one a core
  bool shares = false;  // also say where the time goes (`Prediction::shares`)
};

/// Predicts each call by simulation, in children of this process, and gives the answers in the order of the
/// calls.
///
/// Where the engine may choose (`candidate_plans`), all candidates are simulated and the fastest is the
/// answer. A pure function of its arguments. Each child runs one engine of SimGrid (it allows one a process).
/// @throws Error  kind usage: a call that cannot be (message names the size); kind runtime: a simulation that
/// SimGrid
///                aborted, or that ran out of memory, with SimGrid's own last words
std::vector<Prediction> predict(const Machine& machine, const Profile& profile,
                                const Implementation& implementation, const std::vector<Call>& calls,
                                const SimulationOptions& options);

/// Times of resolved calls by SimGrid, as `predict` has them, in their order: what fits are checked with.
std::vector<Seconds> simulated_times(const Machine& machine, const Profile& profile,
                                     const std::vector<ResolvedCall>& calls, std::uint64_t seed);

}  // namespace lanecast
