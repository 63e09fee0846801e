#include "model/advice/tune.hpp"

#include <algorithm>
#include <utility>

#include "model/error.hpp"
#include "model/implementation/communicator.hpp"

namespace lanecast {
namespace {

constexpr double kGain = 0.01;  // on geometric average

std::vector<int> sorted(std::vector<int> ranks) {
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

WayLists engine_lists() {
  WayLists lists;
  lists.channels = {1, 2, 4, 8, 16, 32};
  lists.threads = {128, 256, 512};
  for (std::uint64_t chunk = 16U << 10; chunk <= (2U << 20); chunk *= 2) lists.chunks.emplace_back(chunk);
  return lists;
}

/// Threads and chunks of NCCL are a job's, not a call's (`tune_nccl`). No more channels than the user lets
/// NCCL have.
WayLists nccl_lists(const Implementation& implementation) {
  WayLists lists;
  lists.channels = {1, 2, 4, 8, 16, 32};
  if (const auto most = implementation.environment.max_channels)
    std::erase_if(lists.channels, [&](int count) { return count > *most; });
  return lists;
}

std::vector<Call> in_order(std::vector<Call> calls, const std::vector<int>& order) {
  for (Call& call : calls) {
    call.ranks = order;
    call.order_given = true;
  }
  return calls;
}

/// The engine is told everything by the call.
void tune_engine(const WayQuestion& question, const std::vector<Call>& calls, Tuning& tuning,
                 std::vector<Call>& tuned_calls) {
  tuning.best = best_ways(question, calls, tuning.as_is);
  if (calls.front().order_given) return;
  std::vector<Call> ordered = in_order(calls, tuning.orders.best.order);
  const std::vector<Prediction> best =
      best_ways(question, ordered, question.predict(question.machine, ordered));
  if (mean_factor(tuning.best, best) > 1 - kGain) return;
  tuning.order_gains = true;
  tuning.best = best;
  tuned_calls = std::move(ordered);
}

/// NCCL told that links can do what they do, not what they could: what a topology file says.
Machine as_it_runs(Machine machine) {
  for (Link& link : machine.links) {
    if (link.kind != LinkKind::pcie) continue;
    link.max_rate = link.rate;
    link.max_width = link.width;
  }
  return machine;
}

/// The calls as the tuner's file has them run by itself: no more channels than NCCL sets up.
std::vector<Prediction> by_tuner_alone(const WayQuestion& question, const std::vector<Call>& calls,
                                       const Tuning& tuning) {
  const int there = open_communicator(question.machine, question.implementation, calls.front()).channels();
  std::vector<Call> forced;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const Prediction& best = tuning.best[i];
    forced.push_back(best.stands_in_for.empty() ? forced_as(calls[i], best) : calls[i]);
    forced.back().threads.reset();
    forced.back().channels = std::min(best.channels, there);
  }
  return question.predict(question.machine, forced);
}

/// Each file by itself, and whether it gains on top of the variables: the tuner's then decides what the
/// topology could.
std::vector<NcclAdvice> file_advice(const WayQuestion& question, const std::vector<Call>& calls,
                                    const Predictor& exporting, const Tuning& tuning) {
  const Machine& machine = question.machine;
  const std::vector<Call>& ordered = tuning.nccl->calls;
  const std::vector<Prediction> variables = exporting(machine, ordered);
  const Machine honest = as_it_runs(machine);
  const bool degraded = !(honest == machine);
  NcclAdvice tuner{"NCCL_TUNER_CONFIG_FILE", nccl_tuner_file,
                   "algorithm, protocol and channels by size, read by NCCL's example tuner plugin",
                   mean_factor(variables, tuning.best) <= 1 - kGain, by_tuner_alone(question, calls, tuning)};
  NcclAdvice graph{"NCCL_GRAPH_FILE", nccl_graph_file,
                   "the order of the ring and its channels, without a search", tuning.order_gains,
                   tuning.order_gains ? question.predict(machine, in_order(calls, tuning.orders.best.order))
                                      : tuning.as_is};
  NcclAdvice topology{"NCCL_TOPO_FILE", nccl_topology_file,
                      "links as they run: NCCL before 2.30.7 looks at what they could do", false,
                      degraded ? question.predict(honest, calls) : tuning.as_is};
  topology.gains =
      degraded && !tuner.gains && mean_factor(variables, exporting(honest, ordered)) <= 1 - kGain;
  return {tuner, graph, topology};
}

}  // namespace

Tuning tune(const TuneInput& input, const PredictorOf& predictor_of) {
  const std::vector<int> ranks = call_ranks(input.machine, input.calls.front());
  if (ranks.size() < 2) {
    throw Error(ErrorKind::usage, "there is nothing to tune about a call of one rank", "--ranks",
                "take two ranks or more");
  }
  const bool engine = input.implementation.library == Library::lanecast;
  const Predictor predict = predictor_of(input.implementation);
  const WayQuestion question{input.machine, input.profile, input.implementation, predict,
                             engine ? engine_lists() : nccl_lists(input.implementation)};
  Tuning tuning;
  tuning.as_is = predict(input.machine, input.calls);
  tuning.orders = best_ring_order(input.machine, input.profile, input.implementation,
                                  input.calls.front().transport, sorted(ranks));
  std::vector<Call> calls = input.calls;
  Implementation implementation = input.implementation;
  if (engine) {
    tune_engine(question, input.calls, tuning, calls);
  } else {
    tuning.nccl = tune_nccl(question, input.calls, tuning.orders, predictor_of);
    tuning.best = tuning.nccl->best;
    calls = tuning.nccl->calls;
    implementation = tuning.nccl->implementation;
    tuning.order_gains = calls.front().order_given && !input.calls.front().order_given;
    const Implementation exported = with_variables(input.implementation, tuning.nccl->variables);
    const Predictor with_exported = predictor_of(exported);
    tuning.files = file_advice(question, input.calls, with_exported, tuning);
    tuning.exported = tuning.files.front().gains ? tuning.best : with_exported(input.machine, calls);
  }
  const Predictor tuned_predict = predictor_of(implementation);
  const WayQuestion tuned{input.machine, input.profile, implementation, tuned_predict, question.lists};
  tuning.crossovers = crossovers(tuned, calls, tuning.best);
  if (!input.chunks.empty()) {
    tuning.chunk_curve = ChunkCurve{calls.back(), tuning.best.back(), {}};
    tuning.chunk_curve->points = chunk_curve(tuned, calls.back(), tuning.best.back(), input.chunks);
  }
  return tuning;
}

}  // namespace lanecast
