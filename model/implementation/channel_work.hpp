#pragma once
#include <cstdint>

#include "model/implementation/implementation.hpp"
#include "model/implementation/work_split.hpp"

namespace lanecast {

/// Elements that the call's channels share: of the whole buffer, or of one rank's block.
/// @throws Error  kind usage: a size that is no positive multiple of the element (x ranks), or above 4 TiB
std::uint64_t elements_of(const Call& call, int ranks);

/// Gives every channel its share and every position its place in the schedule. Channels without a share are
/// left out.
/// @param resolved  algorithm, protocol, channels and orders are set; at least 2 ranks
/// @param count     from elements_of
/// @throws Error    kind usage: a root that doesn't take part
void split_work(ResolvedCall& resolved, const ChunkGeometry& geometry, std::uint64_t count,
                Bytes min_traffic);

}  // namespace lanecast
