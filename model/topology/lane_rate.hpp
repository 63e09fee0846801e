#pragma once
#include "model/topology/machine.hpp"

namespace lanecast {

/// Rate of one NVLink of a bundle, or of a whole socket link, per direction; 20 GB/s where the machine states
/// none (docs/machine-file.md).
inline BytesPerSecond lane_rate(const Link& link) { return link.lane_rate.value_or(BytesPerSecond(20e9)); }

}  // namespace lanecast
