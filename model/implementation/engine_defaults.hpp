#pragma once
#include <optional>

#include "model/implementation/communicator.hpp"

namespace lanecast {

/// Ranks beyond which a direct exchange is refused: it has a connection for each two, on every channel.
inline constexpr int kMostDirectRanks = 64;

/// Channels of lanecast's own engine: 24 over NVLink from sm_90, 12 before; 8 where PCIe takes part.
int engine_channels(const Machine& machine, const Ring& ring);

/// Chunk that the engine takes of its own accord; absent: NCCL's, from the buffer. Simple: 512 KiB, in trees
/// 128 KiB, where a chunk goes through many ranks one after the other.
std::optional<Bytes> engine_chunk(Protocol protocol, Algorithm algorithm);

}  // namespace lanecast
