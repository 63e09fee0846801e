#include "model/predict/plan_call.hpp"

#include <algorithm>
#include <cmath>

#include "model/implementation/engine_ways.hpp"
#include "model/predict/band.hpp"
#include "model/predict/call_kind.hpp"
#include "model/predict/schedule_traffic.hpp"
#include "model/predict/warnings.hpp"

namespace lanecast {
namespace {

constexpr double kNear = 2.0;                // of the best closed form: what may still be the fastest
constexpr std::size_t kMostCandidates = 12;  // that are simulated

SchedulePlan plan_resolved(const Machine& machine, const Profile& profile, ResolvedCall resolved,
                           std::uint64_t seed) {
  if (resolved.order().size() > 1) return plan_schedule(machine, profile, resolved, seed);
  SchedulePlan plan;
  plan.start = single_rank_time(profile, resolved.call);
  plan.resolved = std::move(resolved);
  return plan;
}

struct Candidate {
  SchedulePlan plan;
  Seconds estimate;
};

/// Plans of everything that the engine weighs, the one that the closed form calls fastest first.
std::vector<Candidate> engine_candidates(const Machine& machine, const Profile& profile,
                                         const Implementation& implementation,
                                         const CommunicatorSetup& communicator, const Call& call,
                                         std::uint64_t seed) {
  std::vector<Candidate> candidates;
  for (const EngineWay& way : engine_ways(machine, communicator, call)) {
    if (!way.refusal.empty()) continue;
    Call forced = call;
    forced.algorithm = way.algorithm;
    forced.protocol = way.protocol;
    SchedulePlan plan =
        plan_resolved(machine, profile, resolve_call(machine, implementation, communicator, forced), seed);
    plan.resolved.call.algorithm = call.algorithm;
    plan.resolved.call.protocol = call.protocol;
    const Seconds estimate = closed_form_time(plan);
    candidates.push_back({std::move(plan), estimate});
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.estimate < b.estimate; });
  return candidates;
}

bool is_open(const Implementation& implementation, const CommunicatorSetup& communicator, const Call& call) {
  const bool one_way = call.protocol && call.algorithm && variants_of(*call.algorithm).size() == 1;
  return implementation.library == Library::lanecast && communicator.ranks.size() > 1 && !one_way;
}

}  // namespace

std::vector<SchedulePlan> candidate_plans(const Machine& machine, const Profile& profile,
                                          const Implementation& implementation,
                                          const CommunicatorSetup& communicator, const Call& call,
                                          std::uint64_t seed) {
  std::vector<SchedulePlan> plans;
  if (is_open(implementation, communicator, call)) {
    std::vector<Candidate> candidates =
        engine_candidates(machine, profile, implementation, communicator, call, seed);
    for (Candidate& candidate : candidates) {
      const bool near = candidate.estimate.value() <= kNear * candidates.front().estimate.value();
      if (near && plans.size() < kMostCandidates) plans.push_back(std::move(candidate.plan));
    }
  }
  if (plans.empty()) {  // one way; or none, and then this says what is wrong
    plans.push_back(
        plan_resolved(machine, profile, resolve_call(machine, implementation, communicator, call), seed));
  }
  return plans;
}

SchedulePlan plan_call(const Machine& machine, const Profile& profile, const Implementation& implementation,
                       const CommunicatorSetup& communicator, const Call& call, std::uint64_t seed) {
  return std::move(candidate_plans(machine, profile, implementation, communicator, call, seed).front());
}

SchedulePlan plan_call(const Machine& machine, const Profile& profile, const Implementation& implementation,
                       const Call& call, std::uint64_t seed) {
  return plan_call(machine, profile, implementation, open_communicator(machine, implementation, call), call,
                   seed);
}

Prediction describe(const Profile& profile, const SchedulePlan& plan) {
  const ResolvedCall& resolved = plan.resolved;
  Prediction prediction;
  prediction.call = resolved.call;
  prediction.algorithm = resolved.algorithm;
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

void finish(const Machine& machine, const Profile& profile, const SchedulePlan& plan, Seconds time,
            Prediction& prediction) {
  prediction.time = time;
  const Band band = band_of(machine, profile, plan);
  prediction.time_low = time * band.low;
  prediction.time_high = time * band.high;
  prediction.warnings.insert(prediction.warnings.end(), band.warnings.begin(), band.warnings.end());
  const std::vector<double> wire = resource_wire_bytes(plan);
  prediction.bottleneck = bottleneck(plan.network, wire, time);
  const LinkLimit limit = link_limit(plan.network, wire);
  if (limit.resource >= 0) {
    prediction.time_low = std::max(prediction.time_low, limit.time);
    prediction.limit_busbw = (prediction.call.size / limit.time) * prediction.busbw_factor;
  }
}

}  // namespace lanecast
