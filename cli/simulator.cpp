#include "cli/simulator.hpp"

#include "model/error.hpp"

namespace lanecast {

bool simulator_is_built_in() {
#ifdef LANECAST_WITH_SIM
  return true;
#else
  return false;
#endif
}

void require_simulator() {
  if (simulator_is_built_in()) return;
  throw Error(ErrorKind::runtime, "this lanecast was built without SimGrid and cannot predict", "the build",
              "install libsimgrid-dev and build again");
}

#ifdef LANECAST_WITH_SIM

std::vector<Prediction> simulate_calls(const Machine& machine, const Profile& profile,
                                       const Implementation& implementation, const std::vector<Call>& calls,
                                       const SimulationOptions& options) {
  return predict(machine, profile, implementation, calls, options);
}

std::vector<CopyRate> simulate_flows(const Machine& machine, const Profile& profile, Engine engine,
                                     const std::vector<CopyFlow>& flows) {
  return concurrent_copies(machine, profile, engine, flows);
}

std::vector<Warning> warnings_of_flows(const Machine& machine, const std::vector<CopyFlow>& flows) {
  return copy_warnings(machine, flows);
}

CopyMatrix simulate_matrix(const Machine& machine, const Profile& profile, Engine engine, MatrixKind kind) {
  return copy_matrix(machine, profile, engine, kind);
}

#else

std::vector<Prediction> simulate_calls(const Machine&, const Profile&, const Implementation&,
                                       const std::vector<Call>&, const SimulationOptions&) {
  require_simulator();
  return {};
}

std::vector<CopyRate> simulate_flows(const Machine&, const Profile&, Engine, const std::vector<CopyFlow>&) {
  require_simulator();
  return {};
}

std::vector<Warning> warnings_of_flows(const Machine&, const std::vector<CopyFlow>&) {
  require_simulator();
  return {};
}

CopyMatrix simulate_matrix(const Machine&, const Profile&, Engine, MatrixKind) {
  require_simulator();
  return {};
}

#endif

}  // namespace lanecast
