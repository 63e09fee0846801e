#include "model/predict/turn_costs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/implementation/nccl/thread_rules.hpp"
#include "model/predict/latency.hpp"

namespace lanecast {
namespace {

constexpr double kFullThreads = 512;     // the rates' thread count (Simple, LL)
constexpr double kFullThreads128 = 640;  // LL128's
constexpr double kWarp = 32;
constexpr double kPackBytes = 16;  // that a thread of Simple loads at once
constexpr double kLlPayload = 8;   // payload of one LL line (facts.md A3)

bool over_host(const Connection* link) { return link != nullptr && link->transport == Transport::shm; }

/// Streams that stay within the GPU share one flow: it takes as long as they do side by side.
void add_flow(std::vector<FlowCost>& flows, const FlowCost& flow) {
  const bool local_is_there =
      std::any_of(flows.begin(), flows.end(), [](const FlowCost& other) { return other.lane < 0; });
  if (flow.lane < 0 && local_is_there) return;
  flows.push_back(flow);
}

/// Turns of a direct exchange that deal to, or take from, one peer after the other: the block's warps see to
/// several peers side by side, so that only the first of them waits for its barrier and its loads.
bool beside_the_one_before(const ChannelWork& work, int step) {
  if (work.schedule != Schedule::two_shot || step == 0) return false;
  const Turn before = turn_of(work, step - 1);
  const Turn turn = turn_of(work, step);
  return before.from.count == turn.from.count && before.to.count == turn.to.count;
}

}  // namespace

TurnCosts::TurnCosts(const Machine& machine, const Profile& profile, const ResolvedCall& resolved)
    : machine_(machine),
      profile_(profile),
      resolved_(resolved),
      traits_(protocol_traits(resolved.protocol)),
      builder_(machine, profile, Engine::sm, traits_.flag_in_line) {}

std::vector<PositionPlan> TurnCosts::positions(const std::vector<ChannelWork>& works,
                                               const std::vector<int>& order) {
  std::vector<PositionPlan> plans;
  for (const ChannelWork& work : works) plans.push_back(position(work, order));
  return plans;
}

PositionPlan TurnCosts::position(ChannelWork work, const std::vector<int>& order) {
  gpu_ = order[static_cast<std::size_t>(work.position)];
  source_ = usual_source(work, order);
  PositionPlan plan;
  const int strands = strand_count(work);
  for (work.strand = 0; work.strand < strands; ++work.strand) {
    threads_ = strand_threads(resolved_.protocol, resolved_.threads, work.strand, strands);
    if (work.schedule == Schedule::ring) {
      add_ring_kinds(work, order, plan);
    } else {
      add_kinds(work, order, plan);
    }
  }
  const auto by_position = [](const auto& a, const auto& b) { return a.first < b.first; };
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  std::sort(plan.hops.begin(), plan.hops.end(), by_position);
  plan.hops.erase(std::unique(plan.hops.begin(), plan.hops.end(), same), plan.hops.end());
  return plan;
}

/// All actions between the two neighbours, taken or not: they are few, and what a ring asks of links is told
/// by its passing on, which two ranks have none of.
void TurnCosts::add_ring_kinds(const ChannelWork& work, const std::vector<int>& order, PositionPlan& plan) {
  const auto at = [&](int position) { return order[static_cast<std::size_t>(position % work.ranks)]; };
  const Connection& previous = resolved_.connection(at(work.position + work.ranks - 1), gpu_);
  const Connection& next = resolved_.connection(gpu_, at(work.position + 1));
  std::vector<std::vector<TurnPart>> kinds;
  for (int kind = 0; kind < ring_kinds; ++kind) {
    const auto action = static_cast<TurnAction>(kind);
    kinds.push_back(
        parts(action, {{receives(action) ? &previous : nullptr, sends(action) ? &next : nullptr}}));
  }
  add_hop((work.position + 1) % work.ranks, order, plan);
  plan.strands.push_back(std::move(kinds));
}

void TurnCosts::add_kinds(const ChannelWork& work, const std::vector<int>& order, PositionPlan& plan) {
  std::vector<std::vector<TurnPart>> kinds(static_cast<std::size_t>(kind_count(work)));
  for (int step = 0; step < step_count(work); ++step) {
    const Turn turn = turn_of(work, step);
    auto& kind = kinds[static_cast<std::size_t>(turn.kind)];
    if (!kind.empty()) continue;
    kind = parts(action_of(turn), streams_of(turn, order));
    if (beside_the_one_before(work, step)) {
      kind.front().beside = true;
      kind.front().overhead = Seconds(0);
    }
    for (int k = 0; k < turn.to.count; ++k) add_hop(turn.to.at(k), order, plan);
  }
  plan.strands.push_back(std::move(kinds));
}

void TurnCosts::add_hop(int to, const std::vector<int>& order, PositionPlan& plan) const {
  plan.hops.emplace_back(to, hop(resolved_.connection(gpu_, order[static_cast<std::size_t>(to)])));
}

const Connection* TurnCosts::usual_source(const ChannelWork& work, const std::vector<int>& order) const {
  const Connection* source = nullptr;
  const auto consider = [&](int from) {
    const Connection& link = resolved_.connection(order[static_cast<std::size_t>(from)], gpu_);
    if (source == nullptr || (over_host(&link) && !over_host(source))) source = &link;
  };
  if (work.schedule == Schedule::ring) {
    consider((work.position + work.ranks - 1) % work.ranks);
    return source;
  }
  for_each_turn(work, [&](const ChannelWork&, const Turn& turn) {
    for (int k = 0; k < turn.from.count; ++k) consider(turn.from.at(k));
  });
  return source;
}

std::vector<TurnCosts::Stream> TurnCosts::streams_of(const Turn& turn, const std::vector<int>& order) const {
  std::vector<Stream> streams(static_cast<std::size_t>(std::max(turn.from.count, turn.to.count)));
  for (int k = 0; k < turn.from.count; ++k) {
    const int from = order[static_cast<std::size_t>(turn.from.at(k))];
    streams[static_cast<std::size_t>(k)].in = &resolved_.connection(from, gpu_);
  }
  for (int k = 0; k < turn.to.count; ++k) {
    const int to = order[static_cast<std::size_t>(turn.to.at(k))];
    streams[static_cast<std::size_t>(k)].out = &resolved_.connection(gpu_, to);
  }
  return streams;
}

std::vector<TurnPart> TurnCosts::parts(TurnAction action, const std::vector<Stream>& streams) {
  if (!resolved_.store_and_forward || !receives(action) || !sends(action)) return {part(action, streams)};
  std::vector<Stream> in, out;
  for (const Stream& stream : streams) {
    if (stream.in != nullptr) in.push_back({stream.in, nullptr});
    if (stream.out != nullptr) out.push_back({nullptr, stream.out});
  }
  return {part(reduces(action) ? TurnAction::reduce_keep : TurnAction::copy, in),
          part(TurnAction::send, out)};
}

TurnPart TurnCosts::part(TurnAction action, const std::vector<Stream>& streams) {
  TurnPart cost;
  cost.receives = receives(action);
  cost.sends = sends(action);
  for (const Stream& stream : streams) {
    cost.overhead = std::max(cost.overhead, overhead(action, stream));
    if (cost.rounds.pack_bytes == 0) cost.rounds = rounds(stream);
    add_flow(cost.flows, flow(action, stream, streams.size()));
  }
  if (resolved_.registered && action == TurnAction::copy) cost.flows.front().rate = BytesPerSecond(0);
  return cost;
}

FlowCost TurnCosts::flow(TurnAction action, const Stream& stream, std::size_t streams) {
  FlowCost cost;
  cost.lane = lane(stream);
  const double packets =
      cost.lane < 0 ? 1.0 : builder_.network().lanes[static_cast<std::size_t>(cost.lane)].wire_per_payload;
  cost.wire_per_payload = traits_.wire_per_payload * packets;
  cost.rate = payload_rate(stream, action) * (cost.wire_per_payload / static_cast<double>(streams));
  return cost;
}

bool TurnCosts::pulled(const Connection* link) const {
  return link != nullptr && pulls(resolved_.algorithm) && link->transport == Transport::p2p;
}

/// CPU whose memory holds the FIFO between two GPUs: the receiver's, or the sender's (facts.md A7,
/// NCCL_SHM_LOCALITY).
int TurnCosts::fifo_cpu(const Connection& link) const {
  const int gpu = resolved_.fifo_at_sender ? link.from_gpu : link.to_gpu;
  return cpu_of(machine_, {NodeKind::gpu, gpu}).value_or(0);
}

Route TurnCosts::store_route(const Connection& link) const {
  return *host_route(machine_, link.from_gpu, fifo_cpu(link), /*to_host=*/true);
}

Route TurnCosts::load_route(const Connection& link) const {
  return *host_route(machine_, link.to_gpu, fifo_cpu(link), /*to_host=*/false);
}

Route TurnCosts::peer(const Connection& link) const {
  return link.nvlink ? *nvlink_route(machine_, link.from_gpu, link.to_gpu)
                     : *peer_route(machine_, link.from_gpu, link.to_gpu);
}

Seconds TurnCosts::host_round_trip(const Connection& link) const {
  return lanecast::host_round_trip(machine_, profile_, load_route(link));
}

HopCost TurnCosts::hop(const Connection& link) const {
  HopCost cost;
  Seconds out;  // until a store is where the receiver polls
  if (link.transport == Transport::shm) {
    out = 0.5 * profile_.time(Param::latency_gpu) + route_latency(machine_, profile_, store_route(link));
    cost.flag = host_flag_latency(machine_, profile_, store_route(link), load_route(link));
  } else {
    const Param base = link.nvlink ? Param::latency_nvlink : Param::latency_gpu;
    cost.flag = peer_latency(machine_, profile_, link.from_gpu, link.to_gpu);
    out = cost.flag - 0.5 * profile_.time(base);
  }
  cost.credit = cost.flag;
  if (traits_.flag_in_line && link.transport == Transport::shm)
    cost.look = profile_.time(Param::ll_host_credit);
  if (traits_.flag_in_line) return cost;
  cost.fence = profile_.time(Param::simple_fence_local);
  if (!pulled(&link)) cost.fence += 2.0 * out;  // pulled data wait in the sender's own memory
  return cost;
}

int TurnCosts::lane(const Stream& stream) {
  const std::optional<int> memory = memory_lane(stream);
  const std::optional<int> peers = peer_lane(stream);
  if (memory && peers) return builder_.join(*memory, *peers);
  return memory ? *memory : peers.value_or(-1);
}

/// Loads from and stores to host memory. A load beside stores to a peer has no joint limit of its own.
std::optional<int> TurnCosts::memory_lane(const Stream& stream) {
  const bool load = over_host(stream.in);
  const bool store = over_host(stream.out);
  if (!load && !store) return std::nullopt;
  std::optional<Route> in, out;
  if (load) in = load_route(*stream.in);
  if (store) out = store_route(*stream.out);
  const bool beside_peer = (stream.out != nullptr && !store && !pulled(stream.out)) || pulled(stream.in);
  return builder_.add_host(gpu_, out ? &*out : nullptr,
                           out ? std::optional<int>(fifo_cpu(*stream.out)) : std::nullopt,
                           in ? &*in : nullptr, in ? std::optional<int>(fifo_cpu(*stream.in)) : std::nullopt,
                           beside_peer ? BytesPerSecond(0) : joint_flow(stream), fifo_share());
}

std::optional<int> TurnCosts::peer_lane(const Stream& stream) {
  const bool load = pulled(stream.in);
  const bool store = stream.out != nullptr && !over_host(stream.out) && !pulled(stream.out);
  if (load) return builder_.add_peer_read(peer(*stream.in));  // what is pulled is never pushed on
  if (store) return builder_.add_peer(peer(*stream.out));
  return std::nullopt;
}

/// Wire rate at which one block loads from and stores to host memory together, both counted.
BytesPerSecond TurnCosts::joint_flow(const Stream& stream) const {
  return payload_rate({source_, stream.out}, TurnAction::reduce_send) *
         (2.0 * traits_.wire_per_payload * builder_.reference_weight());
}

double TurnCosts::thread_share() const {
  return threads_ / (resolved_.protocol == Protocol::ll128 ? kFullThreads128 : kFullThreads);
}

BytesPerSecond TurnCosts::payload_rate(const Stream& stream, TurnAction action) const {
  switch (resolved_.protocol) {
    case Protocol::simple:
      return simple_rate(stream, action);
    case Protocol::ll:
      return ll_rate(stream, action);
    case Protocol::ll128:
      return ll128_rate(stream, action);
  }
  return BytesPerSecond(0);
}

BytesPerSecond TurnCosts::simple_rate(const Stream& stream, TurnAction action) const {
  const bool from_host = over_host(stream.in);
  const bool to_host = over_host(stream.out);
  const Param exponent = from_host ? Param::host_thread_exponent : Param::peer_thread_exponent;
  const double share =
      std::pow(std::min(1.0, thread_share()), profile_.value(exponent)) * (from_host ? fifo_share() : 1.0);
  const auto grown = [&](Param p) { return profile_.rate(p) * share; };
  const auto stores = [&](Param p) {
    return profile_.rate(p) * std::min(1.0, threads_ / profile_.value(Param::send_threads_to_peak));
  };
  const auto pull = [&](BytesPerSecond rate) {
    return pulled(stream.in) ? std::min(rate, pull_rate(*stream.in)) : rate;
  };
  switch (action) {
    case TurnAction::send:
    case TurnAction::keep_send:
      if (pulled(stream.out)) return grown(Param::simple_peer_copy);  // into its own buffer
      return stores(to_host ? Param::simple_host_send : Param::simple_peer_send);
    case TurnAction::reduce_send:
    case TurnAction::reduce_keep_send:
    case TurnAction::reduce_keep:
      return pull(grown(from_host ? Param::simple_host_reduce_send : Param::simple_peer_reduce_send));
    case TurnAction::copy_send:
      if (from_host) return grown(Param::simple_host_copy);
      return std::min(stores(to_host ? Param::simple_host_send : Param::simple_peer_send),
                      grown(Param::simple_peer_copy));
    case TurnAction::copy:
      return pull(grown(from_host ? Param::simple_host_copy : Param::simple_peer_copy));
  }
  return BytesPerSecond(0);
}

/// Small FIFOs stay nearer to the CPU, in its caches; 1 at Simple's usual 4 MiB.
double TurnCosts::fifo_share() const {
  if (resolved_.protocol != Protocol::simple) return 1.0;
  return std::pow(4.0 * 1024 * 1024 / static_cast<double>(resolved_.buffsize.value()),
                  profile_.value(Param::host_fifo_exponent));
}

/// Loads from a peer's memory keep as many bytes in flight as loads from host memory do; their round trip is
/// that of a flag, twice.
BytesPerSecond TurnCosts::pull_rate(const Connection& link) const {
  const double in_flight = profile_.rate(Param::simple_host_reduce_send).value() *
                           profile_.time(Param::host_read_round_trip).value() * std::min(1.0, thread_share());
  const Seconds round_trip = 2.0 * peer_latency(machine_, profile_, link.to_gpu, link.from_gpu);
  return BytesPerSecond(in_flight / round_trip.value());
}

/// A receiving thread takes one line a turn: a load, a check and a store on (facts.md A3, h200-findings.md).
BytesPerSecond TurnCosts::ll_rate(const Stream& stream, TurnAction action) const {
  if (!receives(action)) return profile_.rate(Param::ll_send) * thread_share();
  const bool from_host = over_host(stream.in);
  const Seconds beyond =
      from_host ? host_round_trip(*stream.in) - profile_.time(Param::host_read_round_trip) : Seconds(0);
  const Seconds turn = profile_.time(from_host ? Param::ll_host_poll : Param::ll_peer_poll) + beyond;
  if (from_host) return BytesPerSecond(threads_ * kLlPayload / turn.value());
  const double grown = std::pow(thread_share(), profile_.value(Param::ll_thread_exponent));
  return BytesPerSecond(kFullThreads * kLlPayload / turn.value() * grown) * l2_gain();
}

BytesPerSecond TurnCosts::ll128_rate(const Stream& stream, TurnAction action) const {
  const double grown = std::pow(thread_share(), profile_.value(Param::ll128_thread_exponent));
  if (!receives(action)) return profile_.rate(Param::ll128_send) * grown;
  const Param peer_rate = action == TurnAction::copy ? Param::ll128_copy : Param::ll128_reduce_send;
  const BytesPerSecond local = profile_.rate(peer_rate) * grown;
  if (!over_host(stream.in)) return local;
  const BytesPerSecond loads(threads_ * profile_.value(Param::ll128_poll_bytes) /
                             host_round_trip(*stream.in).value());
  return std::min(local, loads);
}

/// LL is faster while its buffers stay in the L2 cache (h200-findings.md): less and less, the more of them
/// don't.
double TurnCosts::l2_gain() const {
  const Call& call = resolved_.call;
  const auto working_set = static_cast<double>(
      call.working_set.value_or(Bytes(call.size.value() * (call.in_place ? 1 : 2))).value());
  double cache = std::numeric_limits<double>::max();
  for (const int gpu : resolved_.order()) {
    const auto& l2 = machine_.gpus[static_cast<std::size_t>(gpu)].l2;
    cache = std::min(cache, static_cast<double>(l2.value_or(Bytes(0)).value()));
  }
  if (cache <= 0) return 1.0;
  const double full = working_set / (cache * profile_.value(Param::l2_share));
  const double hot = 1.0 / (1.0 + std::pow(full, profile_.value(Param::l2_exponent)));
  return 1.0 + (profile_.value(Param::l2_hot_gain) - 1.0) * hot;
}

LoadRounds TurnCosts::rounds(const Stream& stream) const {
  LoadRounds rounds;
  if (resolved_.protocol != Protocol::simple || stream.in == nullptr) return rounds;
  if (over_host(stream.in)) {
    rounds.round_trip = host_round_trip(*stream.in);
  } else if (pulled(stream.in)) {
    rounds.round_trip = 2.0 * peer_latency(machine_, profile_, stream.in->to_gpu, stream.in->from_gpu);
  } else {
    return rounds;
  }
  rounds.pack_bytes = threads_ * kPackBytes;
  rounds.hunk_bytes = resolved_.packs_ahead * kWarp * kPackBytes;
  return rounds;
}

Seconds TurnCosts::overhead(TurnAction action, const Stream& stream) const {
  Seconds turn;  // a load of what comes from afar
  if (over_host(stream.in)) turn = host_round_trip(*stream.in);
  if (pulled(stream.in))
    turn = 2.0 * peer_latency(machine_, profile_, stream.in->to_gpu, stream.in->from_gpu);
  switch (resolved_.protocol) {
    case Protocol::simple:
      return profile_.time(Param::simple_overhead) + profile_.value(Param::simple_first_load) * turn;
    case Protocol::ll: {
      // the poll that sees a line of a peer has loaded it already: what is left of the turn is the store on
      const Seconds stores_on = 0.5 * profile_.time(Param::ll_peer_poll);
      const bool near = receives(action) && stream.in != nullptr && !over_host(stream.in);
      return profile_.time(Param::ll_overhead) + (near ? stores_on : turn);
    }
    case Protocol::ll128:
      return profile_.time(Param::ll128_overhead) + turn;
  }
  return Seconds(0);
}

}  // namespace lanecast
