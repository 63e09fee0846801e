#include "model/advice/ring_hops.hpp"

#include <algorithm>
#include <cmath>

#include "model/implementation/transport.hpp"
#include "model/predict/latency.hpp"
#include "model/topology/routes.hpp"

namespace lanecast {
namespace {

Femtoseconds rounded(Seconds time) { return Femtoseconds(std::llround(time.value() * 1e15)); }

/// What a lane crosses, each resource once.
std::vector<LinkUse> uses_of(const FlowNetwork& network, int lane) {
  std::vector<LinkUse> uses;
  for (const int resource : network.lanes[static_cast<std::size_t>(lane)].resources) {
    const auto known =
        std::find_if(uses.begin(), uses.end(), [&](const LinkUse& use) { return use.resource == resource; });
    if (known == uses.end()) {
      uses.push_back({resource, 1, {}});
    } else {
      ++known->times;
    }
  }
  for (LinkUse& use : uses) {
    const Resource& resource = network.resources[static_cast<std::size_t>(use.resource)];
    use.per_wire_byte = Seconds(use.times / resource.capacity.value());
  }
  return uses;
}

/// The lanes of a connection as `TurnCosts` makes them for Simple, but for the joint limit of a block that
/// loads and stores, which is no link's.
class HopBuilder {
 public:
  HopBuilder(const Machine& machine, const Profile& profile, bool fifo_at_sender)
      : machine_(machine),
        profile_(profile),
        fifo_at_sender_(fifo_at_sender),
        builder_(machine, profile, Engine::sm) {}

  RingHop hop(const Connection& link) {
    return link.transport == Transport::p2p ? to_peer(link) : through_host(link);
  }
  FlowNetwork take() { return builder_.take(); }

 private:
  RingHop to_peer(const Connection& link) {
    const int from = link.from_gpu;
    const int to = link.to_gpu;
    RingHop hop;
    const Route route = link.nvlink ? *nvlink_route(machine_, from, to) : *peer_route(machine_, from, to);
    store(builder_.add_peer(route), hop);
    hop.latency = rounded(peer_latency(machine_, profile_, from, to));
    return hop;
  }

  RingHop through_host(const Connection& link) {
    const NodeId owner{NodeKind::gpu, fifo_at_sender_ ? link.from_gpu : link.to_gpu};
    const int cpu = cpu_of(machine_, owner).value_or(0);
    const Route out = *host_route(machine_, link.from_gpu, cpu, /*to_host=*/true);
    const Route in = *host_route(machine_, link.to_gpu, cpu, /*to_host=*/false);
    RingHop hop;
    store(builder_.add_host(link.from_gpu, &out, cpu, nullptr, std::nullopt, BytesPerSecond(0)), hop);
    const int load = builder_.add_host(link.to_gpu, nullptr, std::nullopt, &in, cpu, BytesPerSecond(0));
    hop.loads = uses_of(builder_.network(), load);
    hop.load_packets = builder_.network().lanes[static_cast<std::size_t>(load)].wire_per_payload;
    hop.latency = rounded(host_flag_latency(machine_, profile_, out, in));
    return hop;
  }

  void store(int lane, RingHop& hop) const {
    hop.stores = uses_of(builder_.network(), lane);
    hop.store_packets = builder_.network().lanes[static_cast<std::size_t>(lane)].wire_per_payload;
  }

  const Machine& machine_;
  const Profile& profile_;
  bool fifo_at_sender_;
  FlowNetworkBuilder builder_;
};

}  // namespace

bool RingHop::crosses(int resource) const {
  const auto is_it = [&](const LinkUse& use) { return use.resource == resource; };
  return std::any_of(stores.begin(), stores.end(), is_it) || std::any_of(loads.begin(), loads.end(), is_it);
}

RingHops::RingHops(const Machine& machine, const Profile& profile, const Implementation& implementation,
                   std::optional<Transport> transport, const std::vector<int>& ranks)
    : ranks_(ranks) {
  HopBuilder builder(machine, profile, implementation.environment.shm_locality == 1);
  const auto count = static_cast<int>(ranks.size());
  for (const int from : ranks) {
    for (const int to : ranks) {
      hops_.push_back(from == to ? RingHop{}
                                 : builder.hop(connect(machine, implementation, transport, count, from, to)));
    }
  }
  network_ = builder.take();
}

}  // namespace lanecast
