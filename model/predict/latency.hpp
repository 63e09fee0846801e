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

}  // namespace lanecast
