#include "model/measured/call_join.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace lanecast {
namespace {

/// Keys in which a row and its prediction must not differ.
constexpr std::array kJoinKeys{
    CallKey::collective, CallKey::datatype,  CallKey::op,       CallKey::size,        CallKey::in_place,
    CallKey::ranks,      CallKey::algorithm, CallKey::protocol, CallKey::transport,   CallKey::channels,
    CallKey::threads,    CallKey::chunk,     CallKey::buffsize, CallKey::registration};

/// Keys that a user may force, and an implementation decide.
constexpr std::array kForcedKeys{CallKey::algorithm, CallKey::protocol,    CallKey::transport,
                                 CallKey::channels,  CallKey::threads,     CallKey::chunk,
                                 CallKey::buffsize,  CallKey::registration};

struct Candidate {
  PredictedCall call;
  CallKeys keys;
  std::optional<CallKeys> asked;
};

/// A key as a measurement states it may be what was asked for, or what ran.
KeyFit fit_of(CallKey key, const CallKeys& measured, const Candidate& candidate) {
  const KeyFit ran = fit_of(key, measured[key], candidate.keys[key]);
  if (ran != KeyFit::differs) return ran;
  const bool may_be_forced = std::find(kForcedKeys.begin(), kForcedKeys.end(), key) != kForcedKeys.end();
  if (may_be_forced && candidate.asked &&
      fit_of(key, measured[key], (*candidate.asked)[key]) == KeyFit::agrees)
    return KeyFit::agrees;
  // A file states the variable NCCL_BUFFSIZE, which is about the buffers of Simple.
  const std::optional<std::string>& protocol = candidate.keys[CallKey::protocol];
  if (key == CallKey::buffsize && protocol && *protocol != to_string(Protocol::simple)) return KeyFit::open;
  return KeyFit::differs;
}

std::vector<CallKey> differing_keys(const CallKeys& measured, const Candidate& candidate) {
  std::vector<CallKey> keys;
  std::copy_if(kJoinKeys.begin(), kJoinKeys.end(), std::back_inserter(keys),
               [&](CallKey key) { return fit_of(key, measured, candidate) == KeyFit::differs; });
  return keys;
}

/// How well a prediction suits a row that it may join with: the larger the better.
int agreement(const CallKeys& measured, const Candidate& candidate) {
  int score = 0;
  for (const CallKey key : kForcedKeys) {
    const bool open_too =
        !measured[key] && (candidate.asked ? !(*candidate.asked)[key] : !candidate.keys[key]);
    score += fit_of(key, measured, candidate) == KeyFit::agrees ? 2 : open_too ? 1 : 0;
  }
  if (fit_of(CallKey::launch, measured, candidate) == KeyFit::agrees) score += 100;  // before all others
  return score;
}

/// How well a row suits a prediction among other rows: by its launch, and by the keys that were forced of the
/// prediction and that the row states.
int suitability(const CallKeys& measured, const Candidate& candidate) {
  const int launch = fit_of(CallKey::launch, measured, candidate) == KeyFit::agrees ? 1 : 0;
  if (!candidate.asked) return launch;
  return launch + static_cast<int>(std::count_if(kForcedKeys.begin(), kForcedKeys.end(), [&](CallKey key) {
           return fit_of(key, measured[key], (*candidate.asked)[key]) == KeyFit::agrees;
         }));
}

/// Predictions of one call become one, with their median time.
std::vector<Candidate> candidates_of(const std::vector<PredictedCall>& predicted) {
  std::vector<Candidate> candidates;
  std::vector<std::vector<double>> times;
  std::map<std::string, std::vector<std::size_t>> by_size;
  for (const PredictedCall& call : predicted) {
    Candidate candidate{call, keys_of(call), asked_keys_of(call)};
    std::vector<std::size_t>& same_size = by_size[*candidate.keys[CallKey::size]];
    const auto twin = std::find_if(same_size.begin(), same_size.end(), [&](std::size_t i) {
      return candidates[i].keys == candidate.keys && candidates[i].asked == candidate.asked;
    });
    if (twin == same_size.end()) {
      same_size.push_back(candidates.size());
      candidates.push_back(std::move(candidate));
      times.push_back({call.time.value()});
    } else {
      candidates[*twin].call.first_of_sweep = candidates[*twin].call.first_of_sweep || call.first_of_sweep;
      times[*twin].push_back(call.time.value());
    }
  }
  for (std::size_t i = 0; i < candidates.size(); ++i) candidates[i].call.time = Seconds(median_of(times[i]));
  return candidates;
}

std::string listed_keys(const std::vector<CallKey>& keys) {
  std::string text;
  for (std::size_t i = 0; i < keys.size(); ++i)
    text += (i == 0 ? "" : i + 1 == keys.size() ? " and " : ", ") + std::string(to_string(keys[i]));
  return text;
}

/// Why a row has no prediction: the keys in which the nearest one of its size differs.
std::string why_alone(const CallKeys& measured, const std::vector<const Candidate*>& same_size) {
  std::vector<CallKey> nearest{CallKey::size};
  for (const Candidate* candidate : same_size) {
    std::vector<CallKey> differing = differing_keys(measured, *candidate);
    if (candidate == same_size.front() || differing.size() < nearest.size()) nearest = std::move(differing);
  }
  return "no prediction: the nearest is of another " + listed_keys(nearest);
}

/// Why several predictions are no answer: the keys in which they differ.
std::string why_ambiguous(const std::vector<const Candidate*>& best) {
  std::vector<CallKey> differing;
  for (std::size_t i = 0; i < call_key_count; ++i) {
    const auto key = static_cast<CallKey>(i);
    const bool differs = std::any_of(best.begin(), best.end(), [&](const Candidate* candidate) {
      return candidate->keys[key] != best.front()->keys[key];
    });
    if (differs) differing.push_back(key);
  }
  return "several predictions fit" +
         (differing.empty() ? std::string() : ", which differ in " + listed_keys(differing));
}

/// The predictions that suit a row best.
using Best = std::vector<std::size_t>;

class Join {
 public:
  explicit Join(const std::vector<PredictedCall>& predicted) : candidates_(candidates_of(predicted)) {
    for (std::size_t i = 0; i < candidates_.size(); ++i)
      by_size_[*candidates_[i].keys[CallKey::size]].push_back(i);
    best_suited_.resize(candidates_.size());
  }

  Best best_for(const CallKeys& measured) const {
    Best best;
    int best_score = 0;
    const auto same_size = by_size_.find(*measured[CallKey::size]);
    if (same_size == by_size_.end()) return best;
    for (const std::size_t i : same_size->second) {
      if (!differing_keys(measured, candidates_[i]).empty()) continue;
      const int score = agreement(measured, candidates_[i]);
      if (best.empty() || score > best_score) {
        best.clear();
        best_score = score;
      }
      if (score == best_score) best.push_back(i);
    }
    return best;
  }

  void note_suited(const CallKeys& measured, const Best& best) {
    for (const std::size_t i : best)
      best_suited_[i] = std::max(best_suited_[i], suitability(measured, candidates_[i]));
  }

  /// Leaves out predictions that other rows suit better.
  Best without_others(const CallKeys& measured, const Best& best) const {
    Best own;
    std::copy_if(best.begin(), best.end(), std::back_inserter(own),
                 [&](std::size_t i) { return suitability(measured, candidates_[i]) == best_suited_[i]; });
    return own;
  }

  const Candidate& candidate(std::size_t i) const { return candidates_[i]; }

  std::vector<const Candidate*> of_size(const CallKeys& measured) const {
    const auto at = by_size_.find(*measured[CallKey::size]);
    return at == by_size_.end() ? std::vector<const Candidate*>() : these(at->second);
  }

  std::vector<const Candidate*> these(const Best& indices) const {
    std::vector<const Candidate*> chosen;
    for (const std::size_t i : indices) chosen.push_back(&candidates_[i]);
    return chosen;
  }

 private:
  std::vector<Candidate> candidates_;
  std::map<std::string, std::vector<std::size_t>> by_size_;
  std::vector<int> best_suited_;  // [candidate]
};

}  // namespace

std::vector<ComparedRow> joined_calls(const std::vector<MeasuredCall>& measured,
                                      const std::vector<PredictedCall>& predicted,
                                      std::vector<LeftOutRows>& left_out) {
  Join join(predicted);
  std::vector<CallKeys> keys;
  std::vector<Best> best;
  for (const MeasuredCall& call : measured) {
    keys.push_back(keys_of(call));
    best.push_back(join.best_for(keys.back()));
    join.note_suited(keys.back(), best.back());
  }
  std::vector<ComparedRow> rows;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const Best own = join.without_others(keys[i], best[i]);
    const std::string& where = measured[i].where;
    if (own.size() == 1) {
      rows.push_back({measured[i], join.candidate(own.front()).call, std::nullopt});
    } else if (best[i].empty()) {
      leave_out(left_out, why_alone(keys[i], join.of_size(keys[i])), where, false);
    } else if (own.empty()) {
      leave_out(left_out, "other rows suit the prediction better: by launch, or by what it was forced to",
                where, false);
    } else {
      leave_out(left_out, why_ambiguous(join.these(own)), where, false);
    }
  }
  return rows;
}

}  // namespace lanecast
