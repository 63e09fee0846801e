#include "model/predict/alternatives.hpp"

#include <algorithm>

#include "model/error.hpp"
#include "model/implementation/nccl/choice.hpp"
#include "model/implementation/nccl/thread_rules.hpp"
#include "model/implementation/work_split.hpp"
#include "model/predict/plan_call.hpp"
#include "model/predict/ring_traffic.hpp"

namespace lanecast {
namespace {

bool needs_network(NcclAlgorithm algorithm) {
  return algorithm == NcclAlgorithm::collnet_direct || algorithm == NcclAlgorithm::collnet_chain ||
         algorithm == NcclAlgorithm::nvls_tree || algorithm == NcclAlgorithm::pat;
}

std::vector<Alternative> nccl_ways(const Communicator& communicator, const Implementation& implementation,
                                   const Call& call) {
  const NcclChoice choice = choose(communicator, implementation, call);
  std::vector<Alternative> ways;
  for (const CostEstimate& line : choice.bill) {
    if (needs_network(line.algorithm)) continue;
    Alternative way;
    way.algorithm = line.algorithm;
    way.protocol = line.protocol;
    way.possible = line.possible;
    way.note = line.reason;
    way.taken = line.algorithm == choice.taken.algorithm && line.protocol == choice.taken.protocol;
    if (line.possible) way.nccl_estimate = line.time;
    if (line.possible && line.algorithm != NcclAlgorithm::ring) way.note = "not simulated yet";
    ways.push_back(std::move(way));
  }
  return ways;
}

std::vector<Alternative> engine_ways(const Communicator& communicator, const Call& call) {
  std::vector<Alternative> ways;
  const std::vector<RingLink>& links = communicator.rings.front().links;
  const bool nvlink = std::all_of(links.begin(), links.end(), [](const RingLink& l) { return l.nvlink; });
  for (const Protocol protocol : {Protocol::ll, Protocol::ll128, Protocol::simple}) {
    Alternative way;
    way.protocol = protocol;
    way.possible = call.protocol ? *call.protocol == protocol : fits(protocol, call);
    if (!way.possible)
      way.note = call.protocol ? "another protocol is forced" : "does not fit what is forced";
    if (protocol == Protocol::ll128 && !nvlink && call.protocol != protocol) {
      way.possible = false;
      way.note = "not safe over PCIe";
    }
    ways.push_back(std::move(way));
  }
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
    if (best == nullptr || way.prediction->time < best->prediction->time) best = &way;
  }
  return best;
}

Alternatives alternatives(const Communicator& communicator, const Implementation& implementation,
                          const Call& call) {
  Alternatives all;
  all.size = call.size;
  if (communicator.ranks.size() < 2) return all;
  all.ways =
      communicator.nccl ? nccl_ways(communicator, implementation, call) : engine_ways(communicator, call);
  return all;
}

bool is_unsafe(const Alternative& way) {
  if (!way.prediction) return false;
  const std::vector<Warning>& warnings = way.prediction->warnings;
  return std::any_of(warnings.begin(), warnings.end(),
                     [](const Warning& warning) { return warning.code == "LC-PROTO-01"; });
}

bool is_simulated(const Alternative& way) { return way.possible && way.algorithm == NcclAlgorithm::ring; }

Call call_of(const Call& call, const Alternative& way) {
  Call forced = call;
  forced.algorithm = algorithm_of(way.algorithm);
  forced.protocol = way.protocol;
  return forced;
}

Prediction nccl_estimate(const Machine& machine, const Profile& profile, const Implementation& implementation,
                         const Communicator& communicator, const Call& call) {
  if (!communicator.nccl) {
    throw Error(ErrorKind::usage, "NCCL's cost model has nothing to say of a call of one rank",
                "--implementation " + implementation.name(), "take two ranks or more");
  }
  const NcclChoice choice = choose(communicator, implementation, call);
  Call ring = call;
  ring.algorithm = Algorithm::ring;
  ring.protocol = choice.taken.protocol;
  const RingPlan plan = plan_call(machine, profile, implementation, communicator, ring, 1);
  Prediction prediction = describe(profile, plan);
  prediction.call = call;
  prediction.stands_in_for.clear();
  prediction.algorithm = algorithm_of(choice.taken.algorithm);
  const NcclBlocks blocks =
      nccl_blocks(nccl_rules(implementation.version()), choice.taken.algorithm, choice.taken.protocol,
                  call.size, static_cast<int>(communicator.ranks.size()),
                  choice.taken.algorithm == NcclAlgorithm::nvls ? communicator.nccl->nvls.channels
                                                                : communicator.channels(),
                  BytesPerSecond(communicator.nccl->ring.bus_GBps() * 1e9), implementation.environment);
  if (choice.taken.algorithm != NcclAlgorithm::ring) {
    prediction.channels = blocks.channels;
    prediction.threads = blocks.threads;
  }
  prediction.warnings = plan.resolved.warnings;
  prediction.warnings.push_back(
      {"LC-MODEL-01", "times are NCCL's own estimates, by which it chooses; nothing is simulated"});
  prediction.time = prediction.time_low = prediction.time_high = choice.taken.time;
  const LinkLimit limit = link_limit(plan.network, resource_wire_bytes(plan));
  if (limit.resource >= 0 && choice.taken.algorithm == NcclAlgorithm::ring)
    prediction.limit_busbw = (call.size / limit.time) * prediction.busbw_factor;
  return prediction;
}

}  // namespace lanecast
