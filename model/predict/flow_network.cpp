#include "model/predict/flow_network.hpp"

#include <algorithm>
#include <cmath>

#include "model/topology/lane_rate.hpp"

namespace lanecast {

BytesPerSecond soft_capacity(BytesPerSecond capacity, const SoftCapacity& soft, int flows) {
  if (flows <= 0 || soft.flow_rate.value() <= 0) return capacity;
  const double ratio = capacity.value() / (static_cast<double>(flows) * soft.flow_rate.value());
  return capacity * std::pow(1.0 + std::pow(ratio, soft.exponent), -1.0 / soft.exponent);
}

BytesPerSecond approach(BytesPerSecond capacity, BytesPerSecond demand, double exponent) {
  if (demand.value() <= 0) return capacity;
  return capacity * std::pow(1.0 + std::pow(capacity / demand, exponent), -1.0 / exponent);
}

FlowNetworkBuilder::FlowNetworkBuilder(const Machine& machine, const Profile& profile, Engine engine,
                                       bool lines)
    : machine_(machine), profile_(profile), engine_(engine), lines_(lines) {}

double FlowNetworkBuilder::reference_weight() const {
  const Traffic traffic = engine_ == Engine::sm ? Traffic::sm_store : Traffic::copy_store;
  return wire_per_payload(profile_, traffic, packet_payload(profile_, traffic, Bytes(256)));
}

int FlowNetworkBuilder::resource(const Key& key, const Resource& made) {
  const auto [at, fresh] = made_.try_emplace(key, static_cast<int>(network_.resources.size()));
  if (fresh) {
    network_.resources.push_back(made);
    network_.resources.back().usable = made.capacity;
  }
  return at->second;
}

int FlowNetworkBuilder::push(const Lane& lane) {
  const auto same = std::find(network_.lanes.begin(), network_.lanes.end(), lane);
  if (same != network_.lanes.end()) return static_cast<int>(same - network_.lanes.begin());
  network_.lanes.push_back(lane);
  return static_cast<int>(network_.lanes.size()) - 1;
}

BytesPerSecond FlowNetworkBuilder::capacity_of(const Link& link) const {
  switch (link.kind) {
    case LinkKind::pcie: {
      const Traffic traffic = engine_ == Engine::sm ? Traffic::sm_store : Traffic::copy_store;
      const Bytes packet = packet_payload(profile_, traffic, link.mps);
      const auto overhead =
          static_cast<std::uint64_t>(std::llround(profile_.value(Param::pcie_write_overhead)));
      return pcie_capacity(profile_, link, packet + Bytes(overhead));
    }
    case LinkKind::nvlink: {
      const Param stores = lines_ ? Param::nvlink_line_efficiency : Param::nvlink_sm_efficiency;
      const Param share = engine_ == Engine::sm ? stores : Param::nvlink_copy_efficiency;
      return lane_rate(link) * (link.count * profile_.value(share));
    }
    case LinkKind::socket:
      return lane_rate(link) * reference_weight();
  }
  return BytesPerSecond(0);
}

double FlowNetworkBuilder::dllp_share_of_packets() const {
  const Traffic traffic = engine_ == Engine::sm ? Traffic::sm_store : Traffic::copy_store;
  const double overhead = profile_.value(Param::pcie_write_overhead);
  const auto payload = static_cast<double>(packet_payload(profile_, traffic, Bytes(256)).value());
  return (256.0 + overhead) / (payload + overhead);
}

void FlowNetworkBuilder::cross_pcie(Lane& lane, int index, bool forward, bool host, bool peer_at_root) {
  const Link& link = machine_.links[static_cast<std::size_t>(index)];
  const BytesPerSecond capacity = capacity_of(link);
  lane.resources.push_back(resource({Share::direction, index, forward},
                                    {link.name, forward ? "down" : "up", capacity, {}, {}, false, true}));
  const bool leaf = link.to.kind == NodeKind::gpu;
  const Param loss = !leaf ? Param::duplex_uplink : host ? Param::duplex_host : Param::duplex_peer;
  const double lost = profile_.value(loss) * (leaf && host ? 1.0 : dllp_share_of_packets());
  const BytesPerSecond both = capacity * (2.0 * (1.0 - std::min(lost, 0.5)));
  const Share share = leaf && host ? Share::host_duplex : Share::duplex;
  lane.resources.push_back(resource({share, index, false}, {link.name, "both", both, {}, {}, false, true}));
  if (!host) {  // through host memory, the joint capacity of loads and stores is approached softly instead
    for (std::size_t i = lane.resources.size() - 2; i < lane.resources.size(); ++i) {
      network_.resources[static_cast<std::size_t>(lane.resources[i])].soft_approach = true;
    }
  }
  const Seconds exit = aspm_exit(profile_, link);
  if (exit.value() > 0) lane.sleeping.push_back({index, exit});
  if (!peer_at_root || link.from.kind != NodeKind::root) return;
  const RootComplex& root = machine_.roots[static_cast<std::size_t>(link.from.index)];
  if (root.p2p_port_rate) {
    lane.resources.push_back(
        resource({Share::port, index, forward}, {link.name + " port",
                                                 forward ? "down" : "up",
                                                 *root.p2p_port_rate * reference_weight(),
                                                 {},
                                                 {},
                                                 false,
                                                 true}));
  }
}

void FlowNetworkBuilder::cross_nvlink(Lane& lane, int index, bool forward) {
  const Link& crossed = machine_.links[static_cast<std::size_t>(index)];
  const NodeId sender = forward ? crossed.from : crossed.to;
  BytesPerSecond capacity(0);
  const std::vector<int> together = parallel_nvlinks(machine_, index);
  for (const int link : together) capacity += capacity_of(machine_.links[static_cast<std::size_t>(link)]);
  const Link& first = machine_.links[static_cast<std::size_t>(together.front())];
  const bool same_way =
      sender.kind == first.from.kind && (sender.kind == NodeKind::nvswitch || sender == first.from);
  const std::string way = node_name(machine_, same_way ? first.from : first.to) + " to " +
                          node_name(machine_, same_way ? first.to : first.from);
  // duplex costs nothing (facts.md G)
  lane.resources.push_back(resource({Share::direction, together.front(), same_way},
                                    {first.name, way, capacity, {}, {}, false, true}));
}

void FlowNetworkBuilder::cross_socket(Lane& lane, int index, bool forward) {
  const Link& link = machine_.links[static_cast<std::size_t>(index)];
  const std::string way = node_name(machine_, forward ? link.from : link.to) + " to " +
                          node_name(machine_, forward ? link.to : link.from);
  const BytesPerSecond capacity = capacity_of(link);
  lane.resources.push_back(
      resource({Share::direction, index, forward}, {link.name, way, capacity, {}, {}, false, true}));
  const BytesPerSecond both = capacity * (2.0 * (1.0 - profile_.value(Param::socket_duplex)));
  lane.resources.push_back(
      resource({Share::duplex, index, false}, {link.name, "both", both, {}, {}, false, true}));
}

void FlowNetworkBuilder::cross(Lane& lane, const Route& route, bool host) {
  const bool peer_at_root = !host && !route.roots.empty();
  for (const RouteLeg& leg : route.legs) {
    switch (machine_.links[static_cast<std::size_t>(leg.link)].kind) {
      case LinkKind::pcie:
        cross_pcie(lane, leg.link, leg.forward, host, peer_at_root);
        break;
      case LinkKind::nvlink:
        cross_nvlink(lane, leg.link, leg.forward);
        break;
      case LinkKind::socket:
        cross_socket(lane, leg.link, leg.forward);
        break;
    }
  }
  if (host) return;
  for (const int index : route.roots) {
    const RootComplex& root = machine_.roots[static_cast<std::size_t>(index)];
    if (!root.p2p_rate) continue;
    lane.resources.push_back(
        resource({Share::root, index, false},
                 {root.name, "peer traffic", *root.p2p_rate * reference_weight(), {}, {}, false, true}));
  }
}

Bytes FlowNetworkBuilder::route_mps(const Route& route) const {
  Bytes mps{4096};
  for (const RouteLeg& leg : route.legs) {
    const Link& link = machine_.links[static_cast<std::size_t>(leg.link)];
    if (link.kind == LinkKind::pcie) mps = std::min(mps, link.mps);
  }
  return mps;
}

bool FlowNetworkBuilder::passes_intel_root(const Route& route) const {
  return std::any_of(route.roots.begin(), route.roots.end(), [&](int index) {
    const int cpu = machine_.roots[static_cast<std::size_t>(index)].cpu;
    return machine_.cpus[static_cast<std::size_t>(cpu)].vendor == "intel";
  });
}

bool FlowNetworkBuilder::old_copy_engine(const Route& route) const {
  if (route.legs.empty()) return false;
  const RouteLeg& first = route.legs.front();  // data leave the source over its own link
  const NodeId source = machine_.links[static_cast<std::size_t>(first.link)].to;
  if (first.forward || source.kind != NodeKind::gpu) return false;
  const int sm = machine_.gpus[static_cast<std::size_t>(source.index)].sm;
  return sm > 0 && sm < 90;
}

double FlowNetworkBuilder::weight(const Route& route, Traffic traffic, bool host) const {
  if (route.nvlink) return 1.0;
  Bytes packet = packet_payload(profile_, traffic, route_mps(route));
  if (traffic == Traffic::copy_store && old_copy_engine(route)) {
    packet = std::min(
        packet,
        Bytes(static_cast<std::uint64_t>(std::llround(profile_.value(Param::pcie_copy_payload_old)))));
  }
  // Intel root complexes re-issue peer writes as 64 B packets (facts.md A8, C9)
  if (!host && passes_intel_root(route)) packet = std::min(packet, Bytes(64));
  return wire_per_payload(profile_, traffic, packet);
}

int FlowNetworkBuilder::add_peer(const Route& route) {
  Lane lane;
  lane.wire_per_payload =
      weight(route, engine_ == Engine::sm ? Traffic::sm_store : Traffic::copy_store, /*host=*/false);
  cross(lane, route, /*host=*/false);
  return push(lane);
}

int FlowNetworkBuilder::add_peer_read(const Route& route) {
  Lane lane;
  lane.wire_per_payload =
      weight(route, engine_ == Engine::sm ? Traffic::sm_load : Traffic::copy_load, /*host=*/false);
  cross(lane, route, /*host=*/false);
  return push(lane);
}

int FlowNetworkBuilder::join(int first, int second) {
  Lane lane = network_.lanes[static_cast<std::size_t>(first)];
  const Lane& other = network_.lanes[static_cast<std::size_t>(second)];
  lane.resources.insert(lane.resources.end(), other.resources.begin(), other.resources.end());
  lane.wire_per_payload = std::max(lane.wire_per_payload, other.wire_per_payload);
  lane.sleeping.insert(lane.sleeping.end(), other.sleeping.begin(), other.sleeping.end());
  return push(lane);
}

int FlowNetworkBuilder::add_host(int gpu, const Route* store, std::optional<int> store_cpu, const Route* load,
                                 std::optional<int> load_cpu, BytesPerSecond joint_flow,
                                 double joint_factor) {
  Lane lane;
  const bool sm = engine_ == Engine::sm;
  const auto memory = [&](int cpu) {
    const Cpu& owner = machine_.cpus[static_cast<std::size_t>(cpu)];
    lane.resources.push_back(resource(
        {Share::memory, cpu, false},
        {"memory " + owner.name, "both", owner.memory_rate * reference_weight(), {}, {}, false, true}));
  };
  lane.wire_per_payload = 0;
  for (const auto& [route, cpu, traffic] :
       {std::tuple{load, load_cpu, sm ? Traffic::sm_load : Traffic::copy_load},
        std::tuple{store, store_cpu, sm ? Traffic::sm_store : Traffic::copy_store}}) {
    if (route == nullptr) continue;
    lane.wire_per_payload = std::max(lane.wire_per_payload, weight(*route, traffic, /*host=*/true));
    cross(lane, *route, /*host=*/true);
    memory(cpu.value());
  }
  if (sm && joint_flow.value() > 0) {
    const int own = links_to_root(machine_, {NodeKind::gpu, gpu}).front();
    const Link& link = machine_.links[static_cast<std::size_t>(own)];
    const Param share = lines_ ? Param::host_line_joint_share : Param::host_joint_share;
    const Param exponent = lines_ ? Param::host_line_joint_exponent : Param::host_joint_exponent;
    const BytesPerSecond joint = capacity_of(link) * (2.0 * profile_.value(share) * joint_factor);
    const SoftCapacity soft{profile_.value(exponent), joint_flow};
    const int shared =
        resource({Share::joint, gpu, false}, {link.name, "loads and stores", joint, soft, {}, false, false});
    if (load != nullptr) lane.resources.push_back(shared);
    if (store != nullptr) lane.resources.push_back(shared);
  }
  return push(lane);
}

}  // namespace lanecast
