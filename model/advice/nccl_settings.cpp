#include "model/advice/nccl_settings.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "model/error.hpp"
#include "model/implementation/communicator.hpp"
#include "model/implementation/transport.hpp"
#include "model/topology/change_list.hpp"

namespace lanecast {
namespace {

constexpr double kGain = 0.01;  // on geometric average: less is not worth a variable

std::string percent_faster(double factor) {
  const long tenths = std::lround(1000 * (1 - factor));
  return std::to_string(tenths / 10) + "." + std::to_string(std::abs(tenths % 10)) + " %";
}

bool is_set(const Implementation& implementation, const std::string& name) {
  const auto& settings = implementation.environment.settings;
  return std::any_of(settings.begin(), settings.end(),
                     [&](const NcclSetting& setting) { return setting.name == name; });
}

/// Pairs of ranks that use peer access.
int peer_pairs(const Machine& machine, const Implementation& implementation, const std::vector<int>& ranks) {
  int pairs = 0;
  const auto count = static_cast<int>(ranks.size());
  for (const int a : ranks) {
    for (const int b : ranks) {
      if (a != b && uses_peer_access(machine, implementation, std::nullopt, count, a, b).allowed) ++pairs;
    }
  }
  return pairs;
}

/// The state of the search: what is set so far, and what that gains.
class Search {
 public:
  Search(const WayQuestion& question, const std::vector<Call>& calls, const PredictorOf& predictor_of)
      : question_(question), as_asked_(calls), predictor_of_(predictor_of) {
    tuning_.calls = calls;
    tuning_.implementation = question.implementation;
    tuning_.best = best_under(tuning_.implementation, calls);
  }

  void try_levels() {
    const Implementation& own = question_.implementation;
    if (is_set(own, "NCCL_P2P_LEVEL") || is_set(own, "NCCL_P2P_DISABLE") || question_.machine.p2p.level)
      return;
    const std::vector<int> ranks = call_ranks(question_.machine, as_asked_.front());
    int pairs = peer_pairs(question_.machine, own, ranks);
    for (const char* level : {"PXB", "PHB", "SYS"}) {
      const Implementation raised = with_variable(own, "NCCL_P2P_LEVEL", level);
      const int more = peer_pairs(question_.machine, raised, ranks);
      if (more <= pairs) continue;
      consider(best_under(raised, tuning_.calls), "NCCL_P2P_LEVEL", level,
               "peer access for " + std::to_string(more) + " of " +
                   std::to_string(ranks.size() * (ranks.size() - 1)) + " pairs of ranks instead of " +
                   std::to_string(pairs) +
                   "; the others go through host memory. Check first that peer access gives right data: some "
                   "roots and IOMMUs corrupt it");
      pairs = more;
    }
  }

  void try_order(const RingOrders& orders) {
    if (tuning_.calls.front().order_given) return;
    std::vector<Call> ordered = tuning_.calls;
    for (Call& call : ordered) {
      call.ranks = orders.best.order;
      call.order_given = true;
    }
    const std::vector<Prediction> best = as_found(tuning_.implementation, ordered);
    if (mean_factor(tuning_.best, best) > 1 - kGain) return;
    tuning_.best = best;
    tuning_.calls = std::move(ordered);
  }

  /// NCCL's communicator has as many channels as a call may use: a call that wants more needs them to be
  /// there.
  void try_channels() {
    const Implementation& implementation = tuning_.implementation;
    const int there = open_communicator(question_.machine, implementation, tuning_.calls.front()).channels();
    const int wanted = most_channels(tuning_.best);
    if (wanted <= there) return;
    const std::vector<Prediction> within = best_under(implementation, tuning_.calls, there);
    const double factor = mean_factor(within, tuning_.best);
    if (factor > 1 - kGain || is_set(implementation, "NCCL_MIN_NCHANNELS") ||
        is_set(implementation, "NCCL_MIN_CTAS")) {
      tuning_.best = within;
      return;
    }
    const std::string name = "NCCL_MIN_NCHANNELS";
    const std::string value = std::to_string(wanted);
    tuning_.variables.push_back({name, value,
                                 "NCCL sets up " + std::to_string(there) +
                                     " channels by itself, and the tuner can take no more than there are; "
                                     "with the best ways by size, " +
                                     percent_faster(factor) +
                                     " faster on average over the sizes than without it",
                                 true, alone(name, value)});
  }

  void try_numbers(const char* name, const std::vector<std::uint64_t>& values, const std::string& reason) {
    if (is_set(tuning_.implementation, name)) return;
    for (const std::uint64_t value : values) {
      const std::string text = std::to_string(value);
      consider(as_found(with_variable(tuning_.implementation, name, text), tuning_.calls), name, text,
               reason);
    }
  }

  /// With all variables set, other ways may have become the best.
  void search_again() {
    if (tuning_.variables.empty() && !tuning_.calls.front().order_given) return;
    tuning_.best = best_under(tuning_.implementation, tuning_.calls);
  }

  NcclTuning take() { return std::move(tuning_); }

 private:
  /// @param most  channels
  std::vector<Prediction> best_under(const Implementation& implementation, const std::vector<Call>& calls,
                                     int most = std::numeric_limits<int>::max()) const {
    const Predictor predict = predictor_of_(implementation);
    WayQuestion question{question_.machine, question_.profile, implementation, predict, question_.lists};
    std::erase_if(question.lists.channels, [&](int count) { return count > most; });
    return best_ways(question, calls, predict(question_.machine, calls));
  }

  std::vector<Prediction> alone(const std::string& name, const std::string& value) const {
    return predictor_of_(with_variable(question_.implementation, name, value))(question_.machine, as_asked_);
  }

  /// The calls run in the ways found so far, under other variables or in another order.
  std::vector<Prediction> as_found(const Implementation& implementation,
                                   const std::vector<Call>& calls) const {
    std::vector<Call> forced;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const bool own = !tuning_.best[i].stands_in_for.empty();
      forced.push_back(own ? calls[i] : forced_as(calls[i], tuning_.best[i]));
    }
    return predictor_of_(implementation)(question_.machine, forced);
  }

  /// Keeps the variable where everything together (`best`) gets faster by it; it then replaces an earlier
  /// value.
  void consider(const std::vector<Prediction>& best, const std::string& name, const std::string& value,
                const std::string& reason) {
    const double factor = mean_factor(tuning_.best, best);
    if (factor > 1 - kGain) return;
    const auto same = [&](const NcclAdvice& advice) { return advice.name == name; };
    auto& variables = tuning_.variables;
    variables.erase(std::remove_if(variables.begin(), variables.end(), same), variables.end());
    variables.push_back({name, value,
                         reason + "; with the best ways by size, " + percent_faster(factor) +
                             " faster on average over the sizes than without it",
                         true, alone(name, value)});
    tuning_.implementation = with_variable(tuning_.implementation, name, value);
    tuning_.best = best;
  }

  const WayQuestion& question_;
  const std::vector<Call>& as_asked_;
  const PredictorOf& predictor_of_;
  NcclTuning tuning_;
};

}  // namespace

Implementation with_variable(Implementation implementation, const std::string& name,
                             const std::string& value) {
  std::vector<NcclSetting> settings = implementation.environment.settings;
  settings.push_back({name, value, "tune"});
  std::vector<Warning> ignored;  // told where the variable is used
  implementation.environment = read_nccl_environment(settings, implementation.version(), ignored);
  return implementation;
}

Implementation with_variables(Implementation implementation, const std::vector<NcclAdvice>& variables) {
  for (const NcclAdvice& advice : variables)
    implementation = with_variable(std::move(implementation), advice.name, advice.value);
  return implementation;
}

double mean_factor(const std::vector<Prediction>& before, const std::vector<Prediction>& after) {
  double logs = 0;
  for (std::size_t i = 0; i < before.size(); ++i) logs += std::log(after[i].time / before[i].time);
  return std::exp(logs / static_cast<double>(before.size()));
}

int most_channels(const std::vector<Prediction>& predictions) {
  int most = 1;
  for (const Prediction& prediction : predictions) most = std::max(most, prediction.channels);
  return most;
}

NcclTuning tune_nccl(const WayQuestion& question, const std::vector<Call>& calls, const RingOrders& orders,
                     const PredictorOf& predictor_of) {
  Search search(question, calls, predictor_of);
  search.try_levels();
  search.try_order(orders);
  search.try_numbers("NCCL_BUFFSIZE", {1U << 20, 2U << 20, 8U << 20, 16U << 20},
                     "chunks of half a buffer suit these links better than NCCL's 2 MiB");
  search.try_numbers("NCCL_NTHREADS", {128, 256, 512}, "another number of threads a block moves data faster");
  search.search_again();
  search.try_channels();
  return search.take();
}

}  // namespace lanecast
