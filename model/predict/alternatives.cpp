#include "model/predict/alternatives.hpp"

#include <algorithm>
#include <cmath>

#include "model/error.hpp"
#include "model/implementation/engine_ways.hpp"
#include "model/implementation/nccl/choice.hpp"
#include "model/implementation/nccl/thread_rules.hpp"
#include "model/implementation/work_split.hpp"
#include "model/predict/plan_call.hpp"
#include "model/predict/schedule_traffic.hpp"

namespace lanecast {
namespace {

bool needs_network(NcclAlgorithm algorithm) {
  return algorithm == NcclAlgorithm::collnet_direct || algorithm == NcclAlgorithm::collnet_chain ||
         algorithm == NcclAlgorithm::nvls_tree || algorithm == NcclAlgorithm::pat;
}

std::vector<Alternative> nccl_ways(const CommunicatorSetup& communicator,
                                   const Implementation& implementation, const Call& call) {
  const NcclChoice choice = choose(communicator, implementation, call);
  std::vector<Alternative> ways;
  for (const CostEstimate& line : choice.bill) {
    if (needs_network(line.algorithm)) continue;
    Alternative way;
    way.algorithm = algorithm_of(line.algorithm);
    way.protocol = line.protocol;
    way.possible = line.possible;
    way.note = line.reason;
    way.taken = line.algorithm == choice.taken.algorithm && line.protocol == choice.taken.protocol;
    if (line.possible) way.nccl_estimate = line.time;
    if (line.possible && !is_simulated(line.algorithm)) way.note = "not simulated";
    ways.push_back(std::move(way));
  }
  return ways;
}

void mark_hopeless(const std::vector<Seconds>& estimates, std::vector<Alternative>& ways) {
  constexpr double kHopeless = 8;  // times the best
  Seconds best(0);
  for (std::size_t i = 0; i < ways.size(); ++i) {
    if (ways[i].possible && (best.value() == 0 || estimates[i] < best)) best = estimates[i];
  }
  for (std::size_t i = 0; i < ways.size(); ++i) {
    if (!ways[i].possible || estimates[i] / best < kHopeless) continue;
    ways[i].hopeless = true;
    ways[i].note = "not simulated: about " + std::to_string(std::lround(estimates[i] / best)) +
                   " times as slow as the best by the closed form";
  }
}

std::vector<Alternative> ways_of_engine(const Machine& machine, const Profile& profile,
                                        const Implementation& implementation,
                                        const CommunicatorSetup& communicator, const Call& call) {
  std::vector<Alternative> ways;
  std::vector<Seconds> estimates;
  for (const EngineWay& weighed : engine_ways(machine, communicator, call)) {
    Alternative way;
    way.algorithm = weighed.algorithm;
    way.protocol = weighed.protocol;
    way.possible = weighed.refusal.empty();
    way.note = weighed.refusal;
    estimates.emplace_back(0);
    if (way.possible) {
      estimates.back() =
          closed_form_time(plan_call(machine, profile, implementation, communicator, call_of(call, way), 1));
    }
    ways.push_back(std::move(way));
  }
  mark_hopeless(estimates, ways);
  return ways;
}

}  // namespace

const Alternative* Alternatives::taken() const {
  const auto at = std::find_if(ways.begin(), ways.end(), [](const Alternative& way) { return way.taken; });
  return at == ways.end() ? nullptr : &*at;
}

const Alternative* Alternatives::fastest() const {
  const Alternative* best = nullptr;
  for (const Alternative& way : ways) {
    if (!way.prediction || !way.possible || is_unsafe(way)) continue;
    if (best == nullptr || way.prediction->time < best->prediction->time ||
        (way.taken && way.prediction->time == best->prediction->time))
      best = &way;
  }
  return best;
}

Alternatives alternatives(const Machine& machine, const Profile& profile,
                          const Implementation& implementation, const CommunicatorSetup& communicator,
                          const Call& call) {
  Alternatives all;
  all.size = call.size;
  if (communicator.ranks.size() < 2) return all;
  all.ways = communicator.nccl ? nccl_ways(communicator, implementation, call)
                               : ways_of_engine(machine, profile, implementation, communicator, call);
  return all;
}

bool is_unsafe(const Alternative& way) {
  if (!way.prediction) return false;
  const std::vector<Warning>& warnings = way.prediction->warnings;
  return std::any_of(warnings.begin(), warnings.end(),
                     [](const Warning& warning) { return warning.code == "LC-PROTO-01"; });
}

bool is_simulated(const Alternative& way) {
  return way.possible && !way.hopeless && way.algorithm != Algorithm::nvls;
}

Call call_of(const Call& call, const Alternative& way) {
  Call forced = call;
  forced.algorithm = way.algorithm;
  forced.protocol = way.protocol;
  return forced;
}

Prediction nccl_estimate(const Machine& machine, const Profile& profile, const Implementation& implementation,
                         const CommunicatorSetup& communicator, const Call& call) {
  if (!communicator.nccl) {
    throw Error(ErrorKind::usage, "NCCL's cost model has nothing to say of a call of one rank",
                "--implementation " + implementation.name(), "take two ranks or more");
  }
  const NcclChoice choice = choose(communicator, implementation, call);
  const bool simulated = is_simulated(choice.taken.algorithm);
  Call shown = call;  // whose plan stands for it
  shown.algorithm = simulated ? algorithm_of(choice.taken.algorithm) : Algorithm::ring;
  shown.protocol = choice.taken.protocol;
  const SchedulePlan plan = plan_call(machine, profile, implementation, communicator, shown, 1);
  Prediction prediction = describe(profile, plan);
  prediction.call = call;
  prediction.stands_in_for.clear();
  prediction.algorithm = algorithm_of(choice.taken.algorithm);
  if (!simulated) {
    const NcclBlocks blocks =
        nccl_blocks(nccl_rules(implementation.version()), choice.taken.algorithm, choice.taken.protocol,
                    call.size, static_cast<int>(communicator.ranks.size()), communicator.nccl->nvls.channels,
                    BytesPerSecond(communicator.nccl->ring.bus_GBps() * 1e9), implementation.environment);
    prediction.channels = blocks.channels;
    prediction.threads = blocks.threads;
  }
  prediction.warnings = plan.resolved.warnings;
  prediction.warnings.push_back(
      {"LC-MODEL-01", "times are NCCL's own estimates, by which it chooses; nothing is simulated"});
  prediction.time = prediction.time_low = prediction.time_high = choice.taken.time;
  const LinkLimit limit = link_limit(plan.network, resource_wire_bytes(plan));
  if (limit.resource >= 0 && simulated)
    prediction.limit_busbw = (call.size / limit.time) * prediction.busbw_factor;
  return prediction;
}

}  // namespace lanecast
