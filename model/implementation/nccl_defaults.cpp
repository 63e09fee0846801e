#include "model/implementation/nccl_defaults.hpp"

#include <algorithm>

#include "model/topology/routes.hpp"

namespace lanecast {
namespace {

constexpr double kNarrowRingGBps = 12;  // at most this: 256 threads (facts.md A5.2)
constexpr double kWideRingGBps = 24;    // from this: two search channels fit (facts.md A8, A10)

bool all_nvlink(const ResolvedCall& resolved) {
  return !resolved.links.empty() && std::all_of(resolved.links.begin(), resolved.links.end(),
                                                [](const RingLink& l) { return l.nvlink; });
}

bool crosses_sockets(const Machine& machine, const ResolvedCall& resolved) {
  return std::any_of(resolved.links.begin(), resolved.links.end(), [&](const RingLink& l) {
    return !l.nvlink && pcie_distance(machine, l.from_gpu, l.to_gpu) == Distance::sys;
  });
}

int default_channels(const Machine& machine, const Implementation& implementation,
                     const ResolvedCall& resolved) {
  if (resolved.links.empty()) return 1;
  if (all_nvlink(resolved)) {
    const bool hopper = std::all_of(resolved.order.begin(), resolved.order.end(), [&](int gpu) {
      return machine.gpus[static_cast<std::size_t>(gpu)].sm >= 90;
    });
    return hopper ? 24 : 12;
  }
  if (implementation.library == Library::lanecast) return 8;
  const bool wide = nccl_ring_GBps(machine, resolved) >= kWideRingGBps;
  return wide && !crosses_sockets(machine, resolved) ? 4 : 2;
}

int default_threads(const Machine& machine, const ResolvedCall& resolved) {
  if (resolved.protocol != Protocol::simple) return protocol_traits(resolved.protocol).max_threads;
  const double ring = nccl_ring_GBps(machine, resolved);
  return ring > 0 && ring <= kNarrowRingGBps ? 256 : 512;
}

std::uint64_t bytes_per_thread(const ResolvedCall& resolved) {
  switch (resolved.protocol) {
    case Protocol::simple:
      return 64;
    case Protocol::ll:
      return 8 * static_cast<std::uint64_t>(resolved.order.size());
    case Protocol::ll128:
      return 8;
  }
  return 64;
}

}  // namespace

double nccl_link_GBps(const Link& link) {
  constexpr double kClass[] = {15, 30, 60, 120, 240, 480};
  return link.width * kClass[static_cast<int>(link.rate) - 1] / 80.0;
}

double nccl_ring_GBps(const Machine& machine, const ResolvedCall& resolved) {
  double slowest = 0;
  const auto cross = [&](const std::optional<Route>& route) {
    if (!route) return;
    for (const RouteLeg& leg : route->legs) {
      const Link& link = machine.links[static_cast<std::size_t>(leg.link)];
      if (link.kind != LinkKind::pcie) continue;
      const double rate = nccl_link_GBps(link);
      slowest = slowest == 0 ? rate : std::min(slowest, rate);
    }
  };
  for (const RingLink& hop : resolved.links) {
    if (hop.nvlink) continue;
    if (hop.transport == Transport::p2p) {
      cross(peer_route(machine, hop.from_gpu, hop.to_gpu));
      continue;
    }
    const int cpu = cpu_of(machine, {NodeKind::gpu, hop.to_gpu}).value_or(0);
    cross(host_route(machine, hop.from_gpu, cpu, /*to_host=*/true));
    cross(host_route(machine, hop.to_gpu, cpu, /*to_host=*/false));
  }
  return slowest;
}

BlockShape block_shape(const Machine& machine, const Implementation& implementation,
                       const ResolvedCall& resolved) {
  const Call& call = resolved.call;
  BlockShape shape;
  shape.channels = call.channels.value_or(default_channels(machine, implementation, resolved));
  shape.threads = call.threads.value_or(default_threads(machine, resolved));
  const std::uint64_t threshold = bytes_per_thread(resolved);
  const auto too_much = [&] {
    return call.size.value() <
           static_cast<std::uint64_t>(shape.channels) * static_cast<std::uint64_t>(shape.threads) * threshold;
  };
  while (!call.channels && shape.channels > 1 && too_much()) --shape.channels;
  while (!call.threads && shape.channels == 1 && shape.threads % 128 == 0 && too_much()) shape.threads /= 2;
  // 96 threads at least; Simple's sync warp counts towards them (facts.md A5.3)
  if (!call.threads && resolved.protocol != Protocol::simple) shape.threads = std::max(shape.threads, 96);
  return shape;
}

std::optional<Bytes> default_chunk(const Implementation& implementation, const ResolvedCall& resolved) {
  if (implementation.library == Library::lanecast && resolved.protocol == Protocol::simple &&
      !resolved.call.buffsize) {
    return Bytes(512u << 10);
  }
  return std::nullopt;
}

}  // namespace lanecast
