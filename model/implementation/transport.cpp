#include "model/implementation/transport.hpp"

#include "model/error.hpp"
#include "model/topology/routes.hpp"

namespace lanecast {
namespace {

void require_host_path(const Machine& machine, int from, int to, const std::string& refusal) {
  const bool to_host =
      host_route(machine, from, cpu_of(machine, {NodeKind::gpu, from}).value_or(0), true).has_value();
  if (to_host && cpu_of(machine, {NodeKind::gpu, to})) return;
  throw Error(ErrorKind::usage,
              "no way from " + pair_name(machine, from, to) + ": no peer access (" + refusal +
                  ") and no PCIe path to host memory",
              "machine `" + machine.name + "`", "describe the GPUs' PCIe links");
}

std::string reason_of_no_level(const NcclEnvironment& environment) {
  for (const NcclSetting& setting : environment.settings) {
    if (setting.name == "NCCL_P2P_DISABLE" && setting.value == "1") return "NCCL_P2P_DISABLE=1";
  }
  return "NCCL_P2P_LEVEL is LOC";
}

}  // namespace

std::string pair_name(const Machine& machine, int from_gpu, int to_gpu) {
  return "`" + machine.gpus[static_cast<std::size_t>(from_gpu)].name + "` to `" +
         machine.gpus[static_cast<std::size_t>(to_gpu)].name + "`";
}

PeerVerdict uses_peer_access(const Machine& machine, const Implementation& implementation,
                             std::optional<Transport> forced, int gpus, int from_gpu, int to_gpu) {
  if (forced == Transport::shm) return {false, "--transport shm"};
  if (forced == Transport::p2p) return peer_access(machine, from_gpu, to_gpu, Distance::sys);
  const NcclEnvironment& environment = implementation.environment;
  if (environment.p2p_level == PathType::loc) return {false, reason_of_no_level(environment)};
  if (environment.p2p_level) {
    PeerVerdict verdict = peer_access_within(machine, from_gpu, to_gpu, distance_of(*environment.p2p_level));
    if (verdict.by_level) verdict.reason += " (NCCL_P2P_LEVEL)";
    return verdict;
  }
  return peer_access(machine, from_gpu, to_gpu, default_p2p_level(implementation, machine, gpus));
}

Connection connect(const Machine& machine, const Implementation& implementation,
                   std::optional<Transport> forced, int gpus, int from, int to) {
  const PeerVerdict verdict = uses_peer_access(machine, implementation, forced, gpus, from, to);
  Connection link{from, to, Transport::shm, false, verdict.reason};
  if (forced == Transport::p2p && !verdict.allowed) {
    throw Error(ErrorKind::usage,
                "no peer access from " + pair_name(machine, from, to) + ": " + verdict.reason,
                "--transport p2p",
                "take --transport shm, or change what forbids it (gpus.NAME.p2p, p2p.enabled, p2p.level)");
  }
  if (verdict.allowed) {
    link.transport = Transport::p2p;
    link.nvlink = nvlink_route(machine, from, to).has_value();
    return link;
  }
  if (!forced && implementation.environment.shm_disable.value_or(false)) {
    throw Error(ErrorKind::usage,
                "NCCL_SHM_DISABLE=1 leaves only the network from " + pair_name(machine, from, to) + " (" +
                    verdict.reason + "), which is not modelled within a node",
                "NCCL_SHM_DISABLE", "leave it out, or allow peer access");
  }
  require_host_path(machine, from, to, verdict.reason);
  return link;
}

Ring connect_ring(const Machine& machine, const Implementation& implementation,
                  std::optional<Transport> forced, const std::vector<int>& order) {
  Ring ring;
  ring.order = order;
  for (std::size_t i = 0; order.size() > 1 && i < order.size(); ++i) {
    ring.links.push_back(connect(machine, implementation, forced, static_cast<int>(order.size()), order[i],
                                 order[(i + 1) % order.size()]));
  }
  return ring;
}

}  // namespace lanecast
