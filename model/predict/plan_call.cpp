#include "model/predict/plan_call.hpp"

#include <algorithm>
#include <cmath>

#include "model/error.hpp"
#include "model/implementation/nccl/choice.hpp"
#include "model/predict/ring_traffic.hpp"
#include "model/predict/warnings.hpp"

namespace lanecast {
namespace {

constexpr double kSmallBytes = 64.0 * 1024;  // up to here latency decides, and the band of latencies holds
constexpr double kLargeBytes = 4.0 * 1024 * 1024;  // from here bandwidth does

RingPlan plan_resolved(const Machine& machine, const Profile& profile, ResolvedCall resolved,
                       std::uint64_t seed) {
  if (resolved.order().size() > 1) return plan_ring(machine, profile, resolved, seed);
  RingPlan plan;
  plan.start = single_rank_time(profile, resolved.call);
  plan.resolved = std::move(resolved);
  return plan;
}

std::vector<Protocol> candidates(const ResolvedCall& resolved) {
  const bool nvlink = std::all_of(resolved.links().begin(), resolved.links().end(),
                                  [](const RingLink& link) { return link.nvlink; });
  if (nvlink) return {Protocol::ll, Protocol::ll128, Protocol::simple};
  return {Protocol::ll, Protocol::simple};
}

std::string transport_name(const ResolvedCall& resolved) {
  bool p2p = false;
  bool shm = false;
  for (const Ring& ring : resolved.rings) {
    for (const RingLink& link : ring.links) (link.transport == Transport::shm ? shm : p2p) = true;
  }
  if (shm) return p2p ? "mixed" : "shm";
  return "p2p";
}

double band(const Profile& profile, Bytes size) {
  const double small = profile.value(Param::band_latency);
  const double large = profile.value(Param::band_bandwidth);
  const double bytes = std::clamp(static_cast<double>(size.value()), kSmallBytes, kLargeBytes);
  const double share = std::log(bytes / kSmallBytes) / std::log(kLargeBytes / kSmallBytes);
  return small + share * (large - small);
}

/// The engine's choice: the protocol that the closed form calls fastest.
RingPlan fastest_plan(const Machine& machine, const Profile& profile, const Implementation& implementation,
                      const Communicator& communicator, const Call& call, RingPlan best, std::uint64_t seed) {
  Seconds shortest(0);
  for (const Protocol protocol : candidates(best.resolved)) {
    if (!fits(protocol, call))
      continue;  // Simple, which was planned first, has said what is wrong if none does
    Call forced = call;
    forced.protocol = protocol;
    RingPlan plan =
        plan_resolved(machine, profile, resolve_call(machine, implementation, communicator, forced), seed);
    const Seconds time = closed_form_time(plan);
    if (shortest.value() > 0 && time >= shortest) continue;
    shortest = time;
    best = std::move(plan);
  }
  best.resolved.call.protocol.reset();
  return best;
}

}  // namespace

RingPlan plan_call(const Machine& machine, const Profile& profile, const Implementation& implementation,
                   const Communicator& communicator, const Call& call, std::uint64_t seed) {
  RingPlan plan =
      plan_resolved(machine, profile, resolve_call(machine, implementation, communicator, call), seed);
  const bool open = !call.protocol && implementation.library == Library::lanecast;
  if (!open || plan.resolved.order().size() < 2) return plan;
  return fastest_plan(machine, profile, implementation, communicator, call, std::move(plan), seed);
}

RingPlan plan_call(const Machine& machine, const Profile& profile, const Implementation& implementation,
                   const Call& call, std::uint64_t seed) {
  return plan_call(machine, profile, implementation, open_communicator(machine, implementation, call), call,
                   seed);
}

Prediction describe(const Profile& profile, const RingPlan& plan) {
  const ResolvedCall& resolved = plan.resolved;
  Prediction prediction;
  prediction.call = resolved.call;
  prediction.protocol = resolved.protocol;
  prediction.stands_in_for = resolved.stands_in_for;
  prediction.transport = transport_name(resolved);
  prediction.channels = resolved.channels;
  prediction.threads = resolved.threads;
  prediction.chunk = resolved.chunk;
  prediction.buffsize = resolved.buffsize;
  prediction.ring_order = resolved.order();
  prediction.busbw_factor = busbw_factor(resolved.call.collective, static_cast<int>(resolved.order().size()));
  prediction.warnings = resolved.warnings;
  for (Warning& warning : prior_warnings(profile)) prediction.warnings.push_back(std::move(warning));
  return prediction;
}

void finish(const Profile& profile, const RingPlan& plan, Seconds time, Prediction& prediction) {
  prediction.time = time;
  const double width = band(profile, prediction.call.size);
  prediction.time_low = time * (1.0 / (1.0 + width));
  prediction.time_high = time * (1.0 + width);
  const std::vector<double> wire = resource_wire_bytes(plan);
  prediction.bottleneck = bottleneck(plan.network, wire, time);
  const LinkLimit limit = link_limit(plan.network, wire);
  if (limit.resource >= 0) {
    prediction.time_low = std::max(prediction.time_low, limit.time);
    prediction.limit_busbw = (prediction.call.size / limit.time) * prediction.busbw_factor;
  }
}

}  // namespace lanecast
