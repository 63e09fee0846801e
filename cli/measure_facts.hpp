#pragma once
#include "cli/session.hpp"
#include "hw/device_discovery.hpp"
#include "hw/measure/gpu_state.hpp"
#include "reports/measure_report.hpp"

namespace lanecast {

/// The system, the driver and the GPUs that CUDA shows.
/// @param all  also the machine file of `topo discover`, which keeps the GPUs busy for about a second
MeasuredMachine measured_machine(const CudaDevices& cuda, bool all, const Session& session);

/// Adds what a watch has seen, by bus id.
void add_states(const std::vector<GpuStates>& states, MeasuredMachine& machine);

}  // namespace lanecast
