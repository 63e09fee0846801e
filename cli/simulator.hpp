#pragma once
#include <vector>

#include "sim/copies.hpp"
#include "sim/predict.hpp"

namespace lanecast {

/// Whether SimGrid was there when the command was built.
bool simulator_is_built_in();

/// @throws Error  kind runtime, where it was not: the closed form is never passed off as a simulation
void require_simulator();

/// The functions of `sim`, each refusing as above.
std::vector<Prediction> simulate_calls(const Machine& machine, const Profile& profile,
                                       const Implementation& implementation, const std::vector<Call>& calls,
                                       const SimulationOptions& options);
std::vector<CopyRate> simulate_flows(const Machine& machine, const Profile& profile, Engine engine,
                                     const std::vector<CopyFlow>& flows);
std::vector<Warning> warnings_of_flows(const Machine& machine, const std::vector<CopyFlow>& flows);
CopyMatrix simulate_matrix(const Machine& machine, const Profile& profile, Engine engine, MatrixKind kind);

}  // namespace lanecast
