#pragma once
#include "model/profile/profile.hpp"
#include "model/topology/machine.hpp"
#include "model/topology/routes.hpp"

namespace lanecast {

/// What switches, roots, sockets and cables on a route add to a one-way trip. Two roots are one traversal,
/// the slower one's. Values of the machine's file go before the profile's. Source of the priors: facts.md C5,
/// C9.
Seconds route_latency(const Machine& machine, const Profile& profile, const Route& route);

/// One way from a store on one GPU to the poll on another that sees it, over NVLink or PCIe peer access.
/// @throws Error  kind usage: no route between the two
Seconds peer_latency(const Machine& machine, const Profile& profile, int from_gpu, int to_gpu);

/// A load from a FIFO in host memory and its answer: the prior holds for a card on a root port of the
/// memory's own socket. @param load  from the memory to the GPU
Seconds host_round_trip(const Machine& machine, const Profile& profile, const Route& load);

/// One way from a store into host memory to the poll on another GPU that sees it there.
Seconds host_flag_latency(const Machine& machine, const Profile& profile, const Route& store,
                          const Route& load);

}  // namespace lanecast
