#include "model/implementation/engine_defaults.hpp"

#include <algorithm>

namespace lanecast {

namespace {

bool through_host(const Ring& ring) {
  return std::any_of(ring.links.begin(), ring.links.end(),
                     [](const Connection& link) { return link.transport == Transport::shm; });
}

}  // namespace

int engine_channels(const Machine& machine, const Ring& ring) {
  if (ring.links.empty()) return 1;
  const bool nvlink =
      std::all_of(ring.links.begin(), ring.links.end(), [](const Connection& link) { return link.nvlink; });
  const bool hopper = std::all_of(ring.order.begin(), ring.order.end(), [&](int gpu) {
    return machine.gpus[static_cast<std::size_t>(gpu)].sm >= 90;
  });
  if (nvlink) return hopper ? 64 : 12;
  return hopper && through_host(ring) ? 16 : 8;
}

std::optional<Bytes> engine_buffsize(Protocol protocol, Algorithm algorithm) {
  if (algorithm == Algorithm::ring) return std::nullopt;
  switch (protocol) {
    case Protocol::simple:
      return Bytes(1u << 20);
    case Protocol::ll:
      return Bytes(512u << 10);
    case Protocol::ll128:
      return Bytes(4'915'200 / 4);
  }
  return std::nullopt;
}

std::optional<Bytes> engine_chunk(Protocol protocol, Algorithm algorithm) {
  if (protocol != Protocol::simple) return std::nullopt;
  if (algorithm == Algorithm::tree || algorithm == Algorithm::hierarchical_tree) return Bytes(128u << 10);
  return Bytes(algorithm == Algorithm::ring ? 512u << 10 : 256u << 10);
}

std::optional<Bytes> engine_odd_chunk(Protocol protocol, Algorithm algorithm, const Ring& ring) {
  if (through_host(ring) && protocol == Protocol::simple && algorithm == Algorithm::ring)
    return Bytes(320u << 10);
  return engine_chunk(protocol, algorithm);
}

}  // namespace lanecast
