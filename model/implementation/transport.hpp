#pragma once
#include <optional>
#include <string>
#include <vector>

#include "model/implementation/implementation.hpp"
#include "model/topology/peer_access.hpp"

namespace lanecast {

/// Whether the implementation uses peer access between two GPUs.
/// @param forced  p2p: as far as the machine's own level allows; shm: nowhere; absent: by its own rule
/// @param gpus    that take part
PeerVerdict uses_peer_access(const Machine& machine, const Implementation& implementation,
                             std::optional<Transport> forced, int gpus, int from_gpu, int to_gpu);

/// How one rank reaches another.
/// @param gpus    that take part
/// @throws Error  kind usage: peer access forced where it cannot be, or no way at all between the two
Connection connect(const Machine& machine, const Implementation& implementation,
                   std::optional<Transport> forced, int gpus, int from, int to);

/// A ring over these GPUs with the transport between each two neighbours; no links for one GPU.
/// @throws Error  kind usage: peer access forced where it cannot be, or no way at all between two
Ring connect_ring(const Machine& machine, const Implementation& implementation,
                  std::optional<Transport> forced, const std::vector<int>& order);

/// "`gpu0` to `gpu1`".
std::string pair_name(const Machine& machine, int from_gpu, int to_gpu);

}  // namespace lanecast
