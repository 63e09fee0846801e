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

/// Threads and chunks of NCCL are a job's, not a call's (`tune_nccl`).
WayLists nccl_lists() {
  WayLists lists;
  lists.channels = {1, 2, 4, 8, 16, 32};
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

std::vector<NcclAdvice> file_advice(const WayQuestion& question, const std::vector<Call>& calls,
                                    const Tuning& tuning) {
  const Machine& machine = question.machine;
  WayQuestion within = question;
  const int channels = open_communicator(machine, question.implementation, calls.front()).channels();
  std::erase_if(within.lists.channels, [&](int count) { return count > channels; });
  NcclAdvice tuner{
      "NCCL_TUNER_CONFIG_FILE", nccl_tuner_file,
      "algorithm, protocol and channels by size, read by NCCL's example tuner plugin (NCCL_TUNER_PLUGIN)",
      false, best_ways(within, calls, tuning.as_is)};
  NcclAdvice graph{"NCCL_GRAPH_FILE",
                   nccl_graph_file,
                   "the order of the ring and its channels, without a search",
                   false,
                   {}};
  graph.alone = tuning.order_gains ? question.predict(machine, in_order(calls, tuning.orders.best.order))
                                   : tuning.as_is;
  NcclAdvice topology{"NCCL_TOPO_FILE",
                      nccl_topology_file,
                      "links as they run: NCCL before 2.30.7 looks at what they could do",
                      false,
                      {}};
  const Machine honest = as_it_runs(machine);
  topology.alone = honest == machine ? tuning.as_is : question.predict(honest, calls);
  std::vector<NcclAdvice> files{tuner, graph, topology};
  for (NcclAdvice& file : files) file.gains = mean_factor(tuning.as_is, file.alone) <= 1 - kGain;
  return files;
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
                             engine ? engine_lists() : nccl_lists()};
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
    tuning.files = file_advice(question, input.calls, tuning);
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
