#include "model/predict/plan_call.hpp"

#include <algorithm>
#include <cmath>

#include "model/error.hpp"
#include "model/implementation/work_split.hpp"
#include "model/predict/ring_traffic.hpp"
#include "model/predict/warnings.hpp"

namespace lanecast {
namespace {

constexpr double kSmallBytes = 64.0 * 1024;  // up to here latency decides, and the band of latencies holds
constexpr double kLargeBytes = 4.0 * 1024 * 1024;  // from here bandwidth does

RingPlan plan_with(const Machine& machine, const Profile& profile, const Implementation& implementation,
                   const Call& call, std::uint64_t seed) {
  ResolvedCall resolved = resolve_call(machine, implementation, call);
  if (resolved.order.size() > 1) return plan_ring(machine, profile, resolved, seed);
  RingPlan plan;
  plan.resolved = std::move(resolved);
  plan.start = single_rank_time(profile, call);
  return plan;
}

std::vector<Protocol> candidates(const ResolvedCall& resolved) {
  const bool nvlink = std::all_of(resolved.links.begin(), resolved.links.end(),
                                  [](const RingLink& link) { return link.nvlink; });
  if (nvlink) return {Protocol::ll, Protocol::ll128, Protocol::simple};
  return {Protocol::ll, Protocol::simple};
}

std::string transport_name(const ResolvedCall& resolved) {
  const auto shm = std::count_if(resolved.links.begin(), resolved.links.end(),
                                 [](const RingLink& link) { return link.transport == Transport::shm; });
  if (shm == 0) return "p2p";
  return shm == static_cast<std::ptrdiff_t>(resolved.links.size()) ? "shm" : "mixed";
}

double band(const Profile& profile, Bytes size) {
  const double small = profile.value(Param::band_latency);
  const double large = profile.value(Param::band_bandwidth);
  const double bytes = std::clamp(static_cast<double>(size.value()), kSmallBytes, kLargeBytes);
  const double share = std::log(bytes / kSmallBytes) / std::log(kLargeBytes / kSmallBytes);
  return small + share * (large - small);
}

/// Whether a protocol can take the chunk, buffer and threads that the call forces.
bool fits(Protocol protocol, const Call& call) {
  if (call.threads && *call.threads > protocol_traits(protocol).max_threads) return false;
  try {
    chunk_geometry(protocol, call.collective, call.buffsize, call.chunk);
    return true;
  } catch (const Error&) {
    return false;  // Simple, which was planned first, has said what is wrong if nothing fits
  }
}

/// NCCL decides by rules that are not modelled yet; whoever leaves a choice open must know.
void add_default_warnings(const Implementation& implementation, const Call& call, ResolvedCall& resolved) {
  if (implementation.library != Library::nccl) return;
  if (!call.protocol || !call.channels) {
    resolved.warnings.push_back(
        {"LC-IMPL-01",
         "what the call leaves open of protocol and channels is a simple default; NCCL's own "
         "choice is not modelled yet. Name --protocol and --channels to be sure"});
  }
  if (resolved.order.size() > 2 && !call.order_given) {
    resolved.warnings.push_back(
        {"LC-IMPL-02", "the ring goes by GPU index; NCCL's own search for an order is not modelled yet"});
  }
}

}  // namespace

RingPlan plan_call(const Machine& machine, const Profile& profile, const Implementation& implementation,
                   const Call& call, std::uint64_t seed) {
  RingPlan best = plan_with(machine, profile, implementation, call, seed);
  if (best.resolved.order.size() < 2) return best;
  if (!call.protocol) {
    const std::vector<Protocol> protocols = candidates(best.resolved);
    Seconds shortest(0);
    for (const Protocol protocol : protocols) {
      if (!fits(protocol, call)) continue;
      Call forced = call;
      forced.protocol = protocol;
      RingPlan plan = plan_with(machine, profile, implementation, forced, seed);
      const Seconds time = closed_form_time(plan);
      if (shortest.value() > 0 && time >= shortest) continue;
      shortest = time;
      best = std::move(plan);
    }
    best.resolved.call.protocol.reset();
  }
  add_default_warnings(implementation, call, best.resolved);
  return best;
}

Prediction describe(const Profile& profile, const RingPlan& plan) {
  const ResolvedCall& resolved = plan.resolved;
  Prediction prediction;
  prediction.call = resolved.call;
  prediction.protocol = resolved.protocol;
  prediction.transport = transport_name(resolved);
  prediction.channels = resolved.channels;
  prediction.threads = resolved.threads;
  prediction.chunk = resolved.chunk;
  prediction.buffsize = resolved.buffsize;
  prediction.ring_order = resolved.order;
  prediction.busbw_factor = busbw_factor(resolved.call.collective, static_cast<int>(resolved.order.size()));
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
