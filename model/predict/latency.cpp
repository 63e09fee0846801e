#include "model/predict/latency.hpp"

#include <algorithm>

#include "model/error.hpp"

namespace lanecast {

Seconds route_latency(const Machine& machine, const Profile& profile, const Route& route) {
  Seconds sum(0);
  for (const int index : route.switches) {
    const auto& own = machine.switches[static_cast<std::size_t>(index)].latency;
    sum += own.value_or(profile.time(Param::latency_switch));
  }
  // From root to root is one traversal of the CPU's fabric: a second root or quadrant adds 10 ns (facts.md
  // C5).
  Seconds fabric(0);
  for (const int index : route.roots) {
    const auto& own = machine.roots[static_cast<std::size_t>(index)].latency;
    fabric = std::max(fabric, own.value_or(profile.time(Param::latency_root)));
  }
  sum += fabric;
  for (const RouteLeg& leg : route.legs) {
    const Link& link = machine.links[static_cast<std::size_t>(leg.link)];
    const bool socket = link.kind == LinkKind::socket;
    sum += link.latency.value_or(socket ? profile.time(Param::latency_socket) : Seconds(0));
  }
  return sum;
}

Seconds peer_latency(const Machine& machine, const Profile& profile, int from_gpu, int to_gpu) {
  if (const auto nvlink = nvlink_route(machine, from_gpu, to_gpu)) {
    return profile.time(Param::latency_nvlink) + route_latency(machine, profile, *nvlink);
  }
  const auto route = peer_route(machine, from_gpu, to_gpu);
  if (!route) {
    throw Error(ErrorKind::usage,
                "no route between GPU " + std::to_string(from_gpu) + " and GPU " + std::to_string(to_gpu),
                "machine `" + machine.name + "`",
                "describe their PCIe links and the links between the sockets");
  }
  return profile.time(Param::latency_gpu) + route_latency(machine, profile, *route);
}

Seconds host_round_trip(const Machine& machine, const Profile& profile, const Route& load) {
  const Seconds beyond = route_latency(machine, profile, load) - profile.time(Param::latency_root);
  return profile.time(Param::host_read_round_trip) + 2.0 * beyond;
}

Seconds host_flag_latency(const Machine& machine, const Profile& profile, const Route& store,
                          const Route& load) {
  return 0.5 * profile.time(Param::latency_gpu) + route_latency(machine, profile, store) +
         profile.value(Param::host_poll_share) * host_round_trip(machine, profile, load);
}

}  // namespace lanecast
