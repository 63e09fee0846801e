#pragma once
#include <optional>

#include "model/implementation/communicator.hpp"

namespace lanecast {

/// Ranks beyond which a direct exchange is refused: it has a connection for each two, on every channel.
inline constexpr int kMostDirectRanks = 64;

/// Channels of lanecast's own engine: 24 over NVLink from sm_90, 12 before; 8 where PCIe takes part.
int engine_channels(const Machine& machine, const Ring& ring);

/// FIFO of a connection, wire bytes; absent: NCCL's, for rings. Of connections between any two ranks there
/// are many, so that they are smaller: 1 MiB (Simple), 512 KiB (LL), a quarter of NCCL's (LL128).
std::optional<Bytes> engine_buffsize(Protocol protocol, Algorithm algorithm);

/// Chunk that the engine takes of its own accord; absent: NCCL's, from the buffer. Simple: 512 KiB in rings,
/// 256 KiB between any two, in trees 128 KiB, where a chunk goes through many ranks one after the other.
std::optional<Bytes> engine_chunk(Protocol protocol, Algorithm algorithm);

}  // namespace lanecast
