#pragma once
#include <optional>
#include <vector>

#include "hw/measure/micro_machine.hpp"
#include "hw/measure/micro_points.hpp"

namespace lanecast {

/// How long and how often.
struct MicroEffort {
  int repeats = 5;
  Seconds window{2e-3};  // of one repeat, for rates of thread blocks
};

/// What one flow of a point gave in each repeat; one of the two vectors may be empty.
struct MicroFinding {
  std::vector<BytesPerSecond> rates;
  std::vector<Seconds> times;
};

/// The benchmarks by kind; each returns a finding for each flow, after a warm-up that does not count.
/// @throws Error  kind runtime
std::vector<MicroFinding> measure_sm_rates(const MicroPoint& point, const MicroMachine& machine,
                                           const MicroEffort& effort);
std::vector<MicroFinding> measure_engine_rates(const MicroPoint& point, const MicroMachine& machine,
                                               const MicroEffort& effort);
std::vector<MicroFinding> measure_flights(const MicroPoint& point, const MicroMachine& machine,
                                          const MicroEffort& effort);
std::vector<MicroFinding> measure_fences(const MicroPoint& point, const MicroMachine& machine,
                                         const MicroEffort& effort);
std::vector<MicroFinding> measure_sm_pipelines(const MicroPoint& point, const MicroMachine& machine,
                                               const MicroEffort& effort);
std::vector<MicroFinding> measure_engine_pipelines(const MicroPoint& point, const MicroMachine& machine,
                                                   const MicroEffort& effort);
std::vector<MicroFinding> measure_launches(const MicroPoint& point, const MicroMachine& machine,
                                           const MicroEffort& effort);

/// Keeps a stream of the current device busy for so long, 10 ms at most: work can gather behind it.
void hold_stream(MicroMachine::Stream stream, Seconds time);

}  // namespace lanecast
