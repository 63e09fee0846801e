#include "model/advice/way_search.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "model/error.hpp"
#include "model/predict/alternatives.hpp"
#include "model/predict/plan_call.hpp"
#include "model/predict/schedule_traffic.hpp"

namespace lanecast {
namespace {

constexpr double kHopeless = 2;            // of the best by the closed form: not simulated
constexpr double kManySlices = 5e4;        // links decide such a call, and the closed form is good at that
constexpr double kHopelessWhenLong = 1.2;  // of the best, for those
constexpr double kNear = 1.6;              // of the best: may win with other channels
constexpr double kWorth = 0.01;            // of the time: less is not worth another choice, or more channels
constexpr std::size_t kMostForThreads = 3;
constexpr std::size_t kMostForChunks = 2;

/// A way that was tried for a call.
struct Tried {
  Call call;
  Prediction prediction;
};

bool corrupts(const Prediction& prediction) {
  return std::any_of(prediction.warnings.begin(), prediction.warnings.end(),
                     [](const Warning& warning) { return warning.code == "LC-PROTO-01"; });
}

/// Whether the implementation takes the call at all.
bool is_possible(const WayQuestion& question, const CommunicatorSetup& communicator, const Call& call) {
  try {
    resolve_call(question.machine, question.implementation, communicator, call);
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// All calls that are tried at one time, for every size.
class Trials {
 public:
  Trials(const WayQuestion& question, const std::vector<Call>& calls)
      : question_(question), tried_(calls.size()) {
    communicator_ = open_communicator(question.machine, question.implementation, calls.front());
  }

  void propose(std::size_t size, const Call& call) {
    if (!is_possible(question_, communicator_, call)) return;
    proposed_.push_back(call);
    of_size_.push_back(size);
  }

  /// Predicts what was proposed; what is safe counts as tried, the fastest first.
  void run() {
    const std::vector<Prediction> predictions = question_.predict(question_.machine, proposed_);
    for (std::size_t i = 0; i < predictions.size(); ++i) {
      if (!corrupts(predictions[i])) tried_[of_size_[i]].push_back({proposed_[i], predictions[i]});
    }
    for (std::vector<Tried>& ways : tried_) {
      std::stable_sort(ways.begin(), ways.end(),
                       [](const Tried& a, const Tried& b) { return a.prediction.time < b.prediction.time; });
    }
    proposed_.clear();
    of_size_.clear();
  }

  const std::vector<Tried>& tried(std::size_t size) const { return tried_[size]; }
  const CommunicatorSetup& communicator() const { return communicator_; }

 private:
  const WayQuestion& question_;
  CommunicatorSetup communicator_;
  std::vector<Call> proposed_;
  std::vector<std::size_t> of_size_;
  std::vector<std::vector<Tried>> tried_;  // [size]
};

/// A way of a call, before it is simulated.
struct Candidate {
  Call call;
  Seconds estimate{0};  // the closed form's
  bool long_winded = false;
};

Candidate candidate(const WayQuestion& question, const CommunicatorSetup& communicator, const Call& call) {
  const SchedulePlan plan =
      plan_call(question.machine, question.profile, question.implementation, communicator, call, 1);
  double slices = 0;
  for (const auto& channel : plan.resolved.work) {
    for (const std::uint64_t count : count_turns(channel.front()).slices)
      slices += static_cast<double>(count) * static_cast<double>(channel.size());
  }
  return {call, closed_form_time(plan), slices > kManySlices};
}

/// Every way of each call that may win.
void propose_ways(const WayQuestion& question, const std::vector<Call>& calls, Trials& trials) {
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const Alternatives all = alternatives(question.machine, question.profile, question.implementation,
                                          trials.communicator(), calls[i]);
    std::vector<Candidate> ways;
    for (const Alternative& way : all.ways) {
      const Call call = call_of(calls[i], way);
      if (is_simulated(way) && is_possible(question, trials.communicator(), call))
        ways.push_back(candidate(question, trials.communicator(), call));
    }
    const auto best = std::min_element(ways.begin(), ways.end(), [](const Candidate& x, const Candidate& y) {
      return x.estimate < y.estimate;
    });
    for (const Candidate& way : ways) {
      const double hopeless = way.long_winded ? kHopelessWhenLong : kHopeless;
      if (way.estimate.value() <= hopeless * best->estimate.value()) trials.propose(i, way.call);
    }
  }
}

/// Proposes variations of the best `most` ways of each size that are within `near` of the best.
template <class Vary>
void propose_variations(std::size_t sizes, std::size_t most, double near, const Vary& vary, Trials& trials) {
  for (std::size_t i = 0; i < sizes; ++i) {
    const std::vector<Tried> ways = trials.tried(i);
    for (std::size_t w = 0; w < std::min(most, ways.size()); ++w) {
      if (ways[w].prediction.time.value() > near * ways.front().prediction.time.value()) break;
      for (const Call& call : vary(ways[w])) trials.propose(i, call);
    }
  }
  trials.run();
}

std::vector<Call> with_channels(const Tried& way, const std::vector<int>& counts) {
  std::vector<Call> calls;
  for (const int channels : counts) {
    if (channels == way.prediction.channels) continue;
    calls.push_back(way.call);
    calls.back().channels = channels;
  }
  return calls;
}

std::vector<Call> with_threads(const Tried& way, const std::vector<int>& counts) {
  std::vector<Call> calls;
  for (const int threads : counts) {
    if (threads == way.prediction.threads) continue;
    calls.push_back(way.call);
    calls.back().threads = threads;
  }
  return calls;
}

std::vector<Call> with_chunks(const Tried& way, const std::vector<Bytes>& chunks) {
  std::vector<Call> calls;
  for (const Bytes chunk : chunks) {
    if (chunk == way.prediction.chunk) continue;
    calls.push_back(way.call);
    calls.back().chunk = chunk;
  }
  return calls;
}

/// Of the ways that are as good as the fastest, that with the fewest channels: each is a multiprocessor that
/// computes nothing meanwhile. Null: none was tried.
const Prediction* cheapest_of_the_fastest(const std::vector<Tried>& ways) {
  const Prediction* cheapest = nullptr;
  for (const Tried& way : ways) {
    if (way.prediction.time.value() > (1 + kWorth) * ways.front().prediction.time.value()) break;
    if (cheapest == nullptr || way.prediction.channels < cheapest->channels) cheapest = &way.prediction;
  }
  return cheapest;
}

/// Sizes between two, a tenth apart, whole elements.
std::vector<Bytes> sizes_between(Bytes from, Bytes to, std::uint64_t grain) {
  constexpr double kStep = 1.1;
  std::vector<Bytes> sizes;
  for (double at = static_cast<double>(from.value()) * kStep; at < static_cast<double>(to.value());
       at *= kStep) {
    const Bytes size(static_cast<std::uint64_t>(at) / grain * grain);
    if (size > from && size < to && (sizes.empty() || size > sizes.back())) sizes.push_back(size);
  }
  return sizes;
}

bool same_way(const Prediction& a, const Prediction& b) {
  return a.algorithm == b.algorithm && a.protocol == b.protocol;
}

/// The connection's buffer that makes NCCL's chunk this large: the two keep their ratio.
Bytes buffer_for(const Prediction& way, Bytes chunk) {
  const double ratio = static_cast<double>(way.buffsize.value()) / static_cast<double>(way.chunk.value());
  return Bytes(static_cast<std::uint64_t>(std::llround(ratio * static_cast<double>(chunk.value()))));
}

}  // namespace

Call forced_as(const Call& call, const Prediction& way) {
  Call forced = call;
  forced.algorithm = way.algorithm;
  forced.protocol = way.protocol;
  forced.channels = way.call.channels;
  forced.threads = way.call.threads;
  forced.chunk = way.call.chunk;
  return forced;
}

std::string way_name(const Prediction& way) {
  return to_string(way.algorithm) + std::string("/") + to_string(way.protocol);
}

std::vector<Prediction> best_ways(const WayQuestion& question, const std::vector<Call>& calls,
                                  const std::vector<Prediction>& as_is) {
  Trials trials(question, calls);
  propose_ways(question, calls, trials);
  trials.run();
  const WayLists& lists = question.lists;
  const std::size_t all = ~std::size_t{0};
  if (!lists.channels.empty())
    propose_variations(
        calls.size(), all, kNear, [&](const Tried& way) { return with_channels(way, lists.channels); },
        trials);
  if (!lists.threads.empty())
    propose_variations(
        calls.size(), kMostForThreads, kNear,
        [&](const Tried& way) { return with_threads(way, lists.threads); }, trials);
  if (!lists.chunks.empty())
    propose_variations(
        calls.size(), kMostForChunks, kNear, [&](const Tried& way) { return with_chunks(way, lists.chunks); },
        trials);
  std::vector<Prediction> best;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const Prediction* way =
        as_is[i].stands_in_for.empty() ? cheapest_of_the_fastest(trials.tried(i)) : nullptr;
    const bool better =
        way != nullptr && (corrupts(as_is[i]) || way->time.value() < (1 - kWorth) * as_is[i].time.value());
    best.push_back(better ? *way : as_is[i]);
  }
  return best;
}

std::vector<Crossover> crossovers(const WayQuestion& question, const std::vector<Call>& calls,
                                  const std::vector<Prediction>& best) {
  std::vector<Crossover> found;
  for (std::size_t i = 1; i < best.size(); ++i) {
    if (same_way(best[i - 1], best[i])) continue;
    const auto grain =
        static_cast<std::uint64_t>(element_bytes(calls[i].datatype)) * best[i].ring_order.size();
    std::vector<Call> asked;
    for (const Bytes size : sizes_between(calls[i - 1].size, calls[i].size, grain)) {
      for (const Prediction* way : {&best[i - 1], &best[i]}) {
        asked.push_back(forced_as(calls[i], *way));
        asked.back().size = size;
      }
    }
    const std::vector<Prediction> times = question.predict(question.machine, asked);
    Bytes size = calls[i].size;
    for (std::size_t k = times.size(); k >= 2 && times[k - 1].time < times[k - 2].time; k -= 2)
      size = asked[k - 1].size;
    found.push_back({size, best[i - 1], best[i]});
  }
  return found;
}

std::vector<ChunkPoint> chunk_curve(const WayQuestion& question, const Call& call, const Prediction& way,
                                    const std::vector<Bytes>& chunks) {
  const bool by_buffer = question.implementation.library != Library::lanecast;
  const CommunicatorSetup communicator = open_communicator(question.machine, question.implementation, call);
  std::vector<Call> asked;
  std::vector<ChunkPoint> points;
  for (const Bytes chunk : chunks) {
    Call one = forced_as(call, way);
    one.chunk.reset();
    if (by_buffer) {
      one.buffsize = buffer_for(way, chunk);
    } else {
      one.chunk = chunk;
    }
    if (!is_possible(question, communicator, one)) continue;
    asked.push_back(one);
    points.push_back({chunk, {}});
  }
  const std::vector<Prediction> predictions = question.predict(question.machine, asked);
  for (std::size_t i = 0; i < points.size(); ++i) points[i].prediction = predictions[i];
  return points;
}

}  // namespace lanecast
