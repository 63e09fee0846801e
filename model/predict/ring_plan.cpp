#include "model/predict/ring_plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "model/predict/latency.hpp"

namespace lanecast {
namespace {

constexpr double kFullThreads = 512;     // the rates' thread count (Simple, LL)
constexpr double kFullThreads128 = 640;  // LL128's
constexpr double kLlPayload = 8;         // payload of one LL line (facts.md A3)

/// What a position's rates and latencies depend on.
struct Neighbours {
  RingLink previous;
  RingLink next;
};

class RingPlanner {
 public:
  RingPlanner(const Machine& machine, const Profile& profile, const ResolvedCall& resolved)
      : machine_(machine),
        profile_(profile),
        resolved_(resolved),
        traits_(protocol_traits(resolved.protocol)),
        builder_(machine, profile, Engine::sm) {}

  std::vector<PositionPlan> positions(const Ring& ring) {
    std::vector<PositionPlan> plans;
    const std::size_t ranks = ring.order.size();
    for (std::size_t i = 0; i < ranks; ++i) {
      plans.push_back(position({ring.links[(i + ranks - 1) % ranks], ring.links[i]}));
    }
    return plans;
  }

  FlowNetwork network() { return builder_.take(); }

 private:
  PositionPlan position(const Neighbours& at) {
    PositionPlan plan;
    plan.to_next = hop(at.next);
    const int send = lane(at, false, true);
    const int relay = lane(at, true, true);
    const int receive = lane(at, true, false);
    for (std::size_t i = 0; i < ring_action_count; ++i) {
      const auto action = static_cast<RingAction>(i);
      OperationCost& cost = plan.operations[i];
      cost.lane = !receives(action) ? send : sends(action) ? relay : receive;
      const double packets =
          cost.lane < 0 ? 1.0
                        : builder_.network().lanes[static_cast<std::size_t>(cost.lane)].wire_per_payload;
      cost.wire_per_payload = traits_.wire_per_payload * packets;
      cost.rate = payload_rate(at, action) * cost.wire_per_payload;
      cost.overhead = overhead(at, action);
    }
    if (resolved_.registered) {
      plan.operations[static_cast<std::size_t>(RingAction::copy)].rate = BytesPerSecond(0);
    }
    return plan;
  }

  /// CPU whose memory holds the FIFO between two GPUs: the receiver's, or the sender's (facts.md A7,
  /// NCCL_SHM_LOCALITY).
  int fifo_cpu(const RingLink& link) const {
    const int gpu = resolved_.fifo_at_sender ? link.from_gpu : link.to_gpu;
    return cpu_of(machine_, {NodeKind::gpu, gpu}).value_or(0);
  }

  Route store_route(const RingLink& link) const {
    return *host_route(machine_, link.from_gpu, fifo_cpu(link), /*to_host=*/true);
  }
  Route load_route(const RingLink& link) const {
    return *host_route(machine_, link.to_gpu, fifo_cpu(link), /*to_host=*/false);
  }

  /// A load from the FIFO in host memory: the prior holds for a card on a root port of the memory's own
  /// socket.
  Seconds host_round_trip(const RingLink& link) const {
    const Seconds beyond =
        route_latency(machine_, profile_, load_route(link)) - profile_.time(Param::latency_root);
    return profile_.time(Param::host_read_round_trip) + 2.0 * beyond;
  }

  Route peer(const RingLink& link) const {
    return link.nvlink ? *nvlink_route(machine_, link.from_gpu, link.to_gpu)
                       : *peer_route(machine_, link.from_gpu, link.to_gpu);
  }

  HopCost hop(const RingLink& link) const {
    HopCost cost;
    Seconds out;  // until a store is where the receiver polls
    if (link.transport == Transport::shm) {
      out = 0.5 * profile_.time(Param::latency_gpu) + route_latency(machine_, profile_, store_route(link));
      cost.flag = out + profile_.value(Param::host_poll_share) * host_round_trip(link);
    } else {
      const Param base = link.nvlink ? Param::latency_nvlink : Param::latency_gpu;
      cost.flag = peer_latency(machine_, profile_, link.from_gpu, link.to_gpu);
      out = cost.flag - 0.5 * profile_.time(base);
    }
    cost.credit = cost.flag;
    if (!traits_.flag_in_line) cost.fence = profile_.time(Param::simple_fence_local) + 2.0 * out;
    return cost;
  }

  int lane(const Neighbours& at, bool receiving, bool sending) {
    const bool load = receiving && at.previous.transport == Transport::shm;
    const bool store = sending && at.next.transport == Transport::shm;
    const bool to_peer = sending && at.next.transport == Transport::p2p;
    if (to_peer && load) {  // loads from host memory, stores to a peer: the store's lane is the longer one
      return mixed_lane(at);
    }
    if (to_peer) return builder_.add_peer(peer(at.next));
    if (!load && !store) return -1;
    std::optional<Route> in, out;
    if (load) in = load_route(at.previous);
    if (store) out = store_route(at.next);
    return builder_.add_host(at.next.from_gpu, out ? &*out : nullptr,
                             out ? std::optional<int>(fifo_cpu(at.next)) : std::nullopt, in ? &*in : nullptr,
                             in ? std::optional<int>(fifo_cpu(at.previous)) : std::nullopt, joint_flow(at));
  }

  int mixed_lane(const Neighbours& at) {
    const Route in = load_route(at.previous);
    const int load = builder_.add_host(at.next.from_gpu, nullptr, std::nullopt, &in, fifo_cpu(at.previous),
                                       BytesPerSecond(0));
    return builder_.join(load, builder_.add_peer(peer(at.next)));
  }

  /// Wire rate at which one block loads from and stores to host memory together, both counted.
  BytesPerSecond joint_flow(const Neighbours& at) const {
    return payload_rate(at, RingAction::reduce_send) *
           (2.0 * traits_.wire_per_payload * builder_.reference_weight());
  }

  double thread_share() const {
    const double full = resolved_.protocol == Protocol::ll128 ? kFullThreads128 : kFullThreads;
    return resolved_.threads / full;
  }

  BytesPerSecond payload_rate(const Neighbours& at, RingAction action) const {
    const bool from_host = receives(action) && at.previous.transport == Transport::shm;
    const bool to_host = sends(action) && at.next.transport == Transport::shm;
    switch (resolved_.protocol) {
      case Protocol::simple:
        return simple_rate(action, from_host, to_host);
      case Protocol::ll:
        return line_rate(at, action, from_host, Param::ll_send, kLlPayload);
      case Protocol::ll128:
        return ll128_rate(at, action, from_host);
    }
    return BytesPerSecond(0);
  }

  BytesPerSecond simple_rate(RingAction action, bool from_host, bool to_host) const {
    const auto linear = [&](Param p) { return profile_.rate(p) * std::min(1.0, thread_share()); };
    const auto stores = [&](Param p) {
      return profile_.rate(p) *
             std::min(1.0, resolved_.threads / profile_.value(Param::send_threads_to_peak));
    };
    switch (action) {
      case RingAction::send:
      case RingAction::keep_send:
        return stores(to_host ? Param::simple_host_send : Param::simple_peer_send);
      case RingAction::reduce_send:
      case RingAction::reduce_keep_send:
      case RingAction::reduce_keep:
        return linear(from_host ? Param::simple_host_reduce_send : Param::simple_peer_reduce_send);
      case RingAction::copy_send:
        if (from_host) return linear(Param::simple_host_copy);
        return std::min(stores(to_host ? Param::simple_host_send : Param::simple_peer_send),
                        linear(Param::simple_peer_copy));
      case RingAction::copy:
        return linear(from_host ? Param::simple_host_copy : Param::simple_peer_copy);
    }
    return BytesPerSecond(0);
  }

  /// A receiving thread takes one line a turn: a load, a check and a store on (facts.md A3,
  /// h200-findings.md).
  BytesPerSecond line_rate(const Neighbours& at, RingAction action, bool from_host, Param send,
                           double bytes_in_flight) const {
    if (!receives(action)) return profile_.rate(send) * thread_share();
    const Seconds turn = from_host ? host_round_trip(at.previous) : profile_.time(Param::ll_peer_poll);
    const BytesPerSecond rate(resolved_.threads * bytes_in_flight / turn.value());
    return from_host ? rate : rate * l2_gain();
  }

  BytesPerSecond ll128_rate(const Neighbours& at, RingAction action, bool from_host) const {
    if (!receives(action)) return profile_.rate(Param::ll128_send) * thread_share();
    const Param peer_rate = action == RingAction::copy ? Param::ll128_copy : Param::ll128_reduce_send;
    const BytesPerSecond local = profile_.rate(peer_rate) * thread_share();
    if (!from_host) return local;
    const BytesPerSecond loads(resolved_.threads * profile_.value(Param::ll128_poll_bytes) /
                               host_round_trip(at.previous).value());
    return std::min(local, loads);
  }

  /// LL is fast while its buffers stay in the L2 cache (h200-findings.md).
  double l2_gain() const {
    const double working_set =
        static_cast<double>(resolved_.call.size.value()) * (resolved_.call.in_place ? 1 : 2);
    double cache = std::numeric_limits<double>::max();
    for (const int gpu : resolved_.order()) {
      const auto& l2 = machine_.gpus[static_cast<std::size_t>(gpu)].l2;
      cache = std::min(cache, static_cast<double>(l2.value_or(Bytes(0)).value()));
    }
    return working_set <= cache * profile_.value(Param::l2_share) ? profile_.value(Param::l2_hot_gain) : 1.0;
  }

  Seconds overhead(const Neighbours& at, RingAction action) const {
    const bool from_host = receives(action) && at.previous.transport == Transport::shm;
    const Seconds host_turn = from_host ? host_round_trip(at.previous) : Seconds(0);
    switch (resolved_.protocol) {
      case Protocol::simple:
        return profile_.time(Param::simple_overhead) + host_turn;
      case Protocol::ll: {
        // the poll that sees a line of a peer has loaded it already: what is left of the turn is the store on
        const Seconds stores_on = 0.5 * profile_.time(Param::ll_peer_poll);
        const Seconds first = receives(action) && !from_host ? stores_on : host_turn;
        return profile_.time(Param::ll_overhead) + first;
      }
      case Protocol::ll128:
        return profile_.time(Param::ll128_overhead) + host_turn;
    }
    return Seconds(0);
  }

  const Machine& machine_;
  const Profile& profile_;
  const ResolvedCall& resolved_;
  ProtocolTraits traits_;
  FlowNetworkBuilder builder_;
};

std::uint64_t mix(std::uint64_t x) {  // splitmix64 (Vigna): a seed to well-mixed bits
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

}  // namespace

std::vector<double> channel_factors(int channels, double spread, std::uint64_t seed) {
  std::vector<double> factors;
  for (int c = 0; c < channels; ++c) {
    const double place = channels == 1 ? 0.0 : 2.0 * c / (channels - 1) - 1.0;
    factors.push_back(1.0 + spread * place);
  }
  for (std::size_t i = factors.size(); i > 1; --i) std::swap(factors[i - 1], factors[mix(seed + i) % i]);
  // The last channel may have less to do than the others. Were it the slowest, a larger call could take less
  // time.
  if (!factors.empty()) std::iter_swap(factors.begin(), std::min_element(factors.begin(), factors.end()));
  return factors;
}

Seconds launch_time(const Profile& profile, const ResolvedCall& resolved) {
  const bool specialised = resolved.protocol == Protocol::ll;
  Seconds time = profile.time(specialised ? Param::base_specialised : Param::base_generic);
  if (!specialised) {
    // LL128 pays about 1 us at 320 to 640 threads, Simple 1.7 to 3.4 at 256 (h200-findings.md)
    const double share = resolved.protocol == Protocol::ll128 ? 0.4 : 1.0;
    if (resolved.threads >= 256) {
      time += share * profile.time(Param::block_start_256);
    } else if (resolved.threads >= 128) {
      time += share * profile.time(Param::block_start_128);
    }
  }
  if (resolved.registered) time += profile.time(Param::registration_exchange);
  if (resolved.call.launch == Launch::graph) {
    time += profile.time(Param::graph_replay) * (1.0 / resolved.call.iterations);
  }
  return time;
}

Seconds with_stream_period(const Profile& profile, Seconds device_time) {
  constexpr double kSoftness = 4;
  const double period = profile.time(Param::stream_period).value();
  return Seconds(
      std::pow(std::pow(period, kSoftness) + std::pow(device_time.value(), kSoftness), 1.0 / kSoftness));
}

Seconds single_rank_time(const Profile& profile, const Call& call) {
  ResolvedCall alone;
  alone.call = call;
  alone.threads = 96;
  Seconds time = launch_time(profile, alone);
  if (!call.in_place) time += call.size / profile.rate(Param::local_copy);
  return time;
}

namespace {

/// Rates of all channels of a ring together, in mean channels.
double sum_of_factors(const RingPlan& plan, std::size_t ring) {
  double sum = 0;
  for (std::size_t c = 0; c < plan.channel_factor.size(); ++c) {
    if (plan.resolved.ring_index(c) == ring) sum += plan.channel_factor[c];
  }
  return sum;
}

void add_rates(const RingPlan& plan, const OperationCost& cost, std::map<int, double>& rates) {
  if (cost.lane < 0) return;
  for (const int r : plan.network.lanes[static_cast<std::size_t>(cost.lane)].resources) {
    rates[r] += cost.rate.value();
  }
}

/// What the passing on of data asks of each resource: the bulk of a ring's work, and what links are
/// approached with.
std::vector<BytesPerSecond> relay_demand(const RingPlan& plan) {
  const Collective collective = plan.resolved.call.collective;
  const bool reduces = collective != Collective::all_gather && collective != Collective::broadcast;
  const auto relay = static_cast<std::size_t>(reduces ? RingAction::reduce_send : RingAction::copy_send);
  std::vector<BytesPerSecond> asked(plan.network.resources.size(), BytesPerSecond(0));
  for (std::size_t ring = 0; ring < plan.rings.size(); ++ring) {
    std::map<int, double> rates;
    for (const PositionPlan& position : plan.rings[ring]) add_rates(plan, position.operations[relay], rates);
    const double channels = sum_of_factors(plan, ring);
    for (const auto& [r, rate] : rates) asked[static_cast<std::size_t>(r)] += BytesPerSecond(rate * channels);
  }
  return asked;
}

}  // namespace

std::vector<BytesPerSecond> demand(const RingPlan& plan) {
  std::vector<BytesPerSecond> asked(plan.network.resources.size(), BytesPerSecond(0));
  for (std::size_t ring = 0; ring < plan.rings.size(); ++ring) {
    const double channels = sum_of_factors(plan, ring);
    for (const PositionPlan& position : plan.rings[ring]) {
      std::map<int, double> most;  // of this position, over its actions
      for (const OperationCost& cost : position.operations) {
        std::map<int, double> here;
        add_rates(plan, cost, here);
        for (const auto& [r, rate] : here) most[r] = std::max(most[r], rate);
      }
      for (const auto& [r, rate] : most)
        asked[static_cast<std::size_t>(r)] += BytesPerSecond(rate * channels);
    }
  }
  return asked;
}

RingPlan plan_ring(const Machine& machine, const Profile& profile, const ResolvedCall& resolved,
                   std::uint64_t seed) {
  RingPlan plan;
  plan.resolved = resolved;
  RingPlanner planner(machine, profile, resolved);
  plan.rings.clear();
  for (const Ring& ring : resolved.rings) plan.rings.push_back(planner.positions(ring));
  plan.network = planner.network();
  plan.channel_factor = channel_factors(resolved.channels, profile.value(Param::channel_spread), seed);
  const ProtocolTraits traits = protocol_traits(resolved.protocol);
  plan.flag_in_line = traits.flag_in_line;
  plan.fifo_slices = resolved.fifo_slices;
  plan.empty_overhead = traits.flag_in_line ? Seconds(0) : profile.time(Param::simple_empty_slice);
  plan.start = launch_time(profile, resolved);
  const std::vector<BytesPerSecond> asked = relay_demand(plan);
  for (std::size_t r = 0; r < asked.size(); ++r) {
    Resource& resource = plan.network.resources[r];
    if (!resource.soft_approach || resolved.channels == 1) continue;
    // fewer blocks than fill the link don't make it slower for one of them
    resource.usable = approach(resource.capacity, std::max(asked[r], resource.capacity),
                               profile.value(Param::pcie_approach_exponent));
  }
  return plan;
}

}  // namespace lanecast
