#pragma once
#include <optional>

#include "model/implementation/communicator.hpp"

namespace lanecast {

/// Channels of lanecast's own engine: 24 over NVLink from sm_90, 12 before; 8 where PCIe takes part.
int engine_channels(const Machine& machine, const Ring& ring);

/// Chunk that the engine takes of its own accord for a protocol; absent: NCCL's, from the buffer.
std::optional<Bytes> engine_chunk(Protocol protocol);

}  // namespace lanecast
