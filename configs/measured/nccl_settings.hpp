#pragma once
#include <map>
#include <string>

#include "configs/measured/measured_reading.hpp"
#include "model/measured/measurement.hpp"

namespace lanecast {

/// "nccl-2.28" of a release; of one that is not modelled the nearest, with a note.
std::string nccl_implementation(int minor, MeasuredReading& reading, int line);

/// Puts into the call what its NCCL variables leave no choice about: protocol, algorithm, transport and
/// registered buffers. What the call says already stays.
void settle_environment(MeasuredCall& measured);

}  // namespace lanecast
