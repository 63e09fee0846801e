#pragma once
#include <optional>

#include "model/implementation/communicator.hpp"

namespace lanecast {

/// Ranks beyond which a direct exchange is refused: it has a connection for each two, on every channel.
inline constexpr int kMostDirectRanks = 64;

/// Most channels of lanecast's own engine: over NVLink 64 from sm_90, 12 before; where host memory takes part
/// 16 from sm_90; else 8. Small calls take fewer.
int engine_channels(const Machine& machine, const Ring& ring);

/// FIFO of a connection, wire bytes; absent: NCCL's, for rings. Of connections between any two ranks there
/// are many, so that they are smaller: 1 MiB (Simple), 512 KiB (LL), a quarter of NCCL's (LL128).
std::optional<Bytes> engine_buffsize(Protocol protocol, Algorithm algorithm);

/// Chunk that the engine takes of its own accord; absent: NCCL's, from the buffer. Simple: 512 KiB in rings,
/// 256 KiB between any two, in trees 128 KiB, where a chunk goes through many ranks one after the other.
std::optional<Bytes> engine_chunk(Protocol protocol, Algorithm algorithm);

/// The same for channels of odd number. Through host memory, a ring's first turns only store, and its last
/// ones only load: with equal chunks all channels come to the same turn at the same time, and what loads and
/// stores share lies half idle. With chunks of two sizes, 512 and 320 KiB, they go out of step (2 x H200, 16
/// channels, 256 MiB: 35.6 against 38.2 GB/s; over NVLink it gains nothing: docs/engine.md).
std::optional<Bytes> engine_odd_chunk(Protocol protocol, Algorithm algorithm, const Ring& ring);

}  // namespace lanecast
