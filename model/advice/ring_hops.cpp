#include "model/advice/ring_hops.hpp"

#include "model/implementation/transport.hpp"
#include "model/predict/latency.hpp"
#include "model/topology/routes.hpp"

namespace lanecast {
namespace {

/// Values of a link on which its capacity and latency rest.
Link plain(Link link) {
  Link values;
  values.rate = link.rate;
  values.width = link.width;
  values.mps = link.mps;
  values.replay_rate = link.replay_rate;
  values.latency = link.latency;
  return values;
}

}  // namespace

RingHops::RingHops(const Machine& machine, const Profile& profile, const Implementation& implementation,
                   std::optional<Transport> transport, const std::vector<int>& ranks)
    : ranks_(ranks) {
  FlowNetworkBuilder builder(machine, profile, Engine::sm);
  const auto count = static_cast<int>(ranks.size());
  for (const int from : ranks) {
    const std::vector<int> up = links_to_root(machine, {NodeKind::gpu, from});
    own_link_.push_back(up.empty() ? -1 : up.front());
    link_values_.emplace_back();
    parent_.push_back(-1);
    if (!up.empty()) {
      const Link& link = machine.links[static_cast<std::size_t>(up.front())];
      link_values_.back() = plain(link);
      parent_.back() = static_cast<int>(link.from.kind) * 1'000'000 + link.from.index;
    }
    nvlink_.emplace_back();
    transport_.emplace_back();
    for (const int to : ranks) {
      nvlink_.back().push_back(from != to && nvlink_route(machine, from, to).has_value());
      if (from == to) {
        hops_.emplace_back();
        transport_.back().push_back(Transport::p2p);
        continue;
      }
      const Connection connection = connect(machine, implementation, transport, count, from, to);
      transport_.back().push_back(connection.transport);
      hops_.push_back(hop_of(machine, profile, connection, builder));
    }
  }
  network_ = builder.take();
  for (RingHop& hop : hops_) {
    for (auto& [resource, wire] : hop.seconds)
      wire /= network_.resources[static_cast<std::size_t>(resource)].capacity.value();
  }
}

/// With wire bytes in place of seconds.
RingHop RingHops::hop_of(const Machine& machine, const Profile& profile, const Connection& connection,
                         FlowNetworkBuilder& builder) const {
  RingHop hop;
  const auto add = [&](int lane) {
    const Lane& way = builder.network().lanes[static_cast<std::size_t>(lane)];
    for (const int resource : way.resources) {
      if (builder.network().resources[static_cast<std::size_t>(resource)].physical)
        hop.seconds.emplace_back(resource, way.wire_per_payload);
    }
  };
  const int from = connection.from_gpu;
  const int to = connection.to_gpu;
  if (connection.transport == Transport::p2p) {
    add(builder.add_peer(connection.nvlink ? *nvlink_route(machine, from, to)
                                           : *peer_route(machine, from, to)));
    hop.latency = peer_latency(machine, profile, from, to);
    return hop;
  }
  const int cpu = cpu_of(machine, {NodeKind::gpu, to}).value_or(0);
  const Route store = *host_route(machine, from, cpu, /*to_host=*/true);
  const Route load = *host_route(machine, to, cpu, /*to_host=*/false);
  add(builder.add_host(from, &store, cpu, nullptr, std::nullopt, BytesPerSecond(0)));
  add(builder.add_host(to, nullptr, std::nullopt, &load, cpu, BytesPerSecond(0)));
  hop.latency = host_flag_latency(machine, profile, store, load);
  return hop;
}

bool RingHops::interchangeable(std::size_t a, std::size_t b) const {
  if (parent_[a] != parent_[b] || parent_[a] < 0 || !(link_values_[a] == link_values_[b])) return false;
  for (std::size_t other = 0; other < ranks_.size(); ++other) {
    if (nvlink_[a][other] || nvlink_[b][other]) return false;
    if (other == a || other == b) continue;
    if (transport_[a][other] != transport_[b][other] || transport_[other][a] != transport_[other][b])
      return false;
  }
  return transport_[a][b] == transport_[b][a];
}

}  // namespace lanecast
