#pragma once
#include <string>
#include <vector>

#include "model/advice/predictor.hpp"
#include "model/predict/prediction.hpp"
#include "model/topology/machine.hpp"

namespace lanecast {

/// One step of one link, or of all links that are like it, and what is then predicted.
struct LinkStep {
  std::vector<std::string> links;  // alike by the machine's symmetry; the first is the one that was changed
  bool together = false;           // all of them were changed, not just the first
  std::string before;              // "gen4 x16"
  std::string after;               // "gen4 x8"
  std::vector<Prediction> predictions;  // one a call
};

struct LinkRanking {
  std::vector<LinkStep> degraded;  // the one that hurts the last call most first
  std::vector<LinkStep> upgraded;  // the one that helps it most first
};

/// What each single link matters: one step worse, and one step better.
///
/// Worse: half the PCIe lanes (one generation less below x2), one NVLink less, half the socket link. Better:
/// what the link's ends can do, where it does less; else one PCIe generation more, one NVLink more, twice the
/// socket link; for links that are alike, also all of them together. Links that the machine's symmetry and
/// the rings of `baseline` make alike are simulated once (`equal_links`). A link that has no step worse is
/// left out.
/// @param baseline  predictions of `calls` on the machine as it is
/// @throws Error    what the predictor throws
LinkRanking rank_links(const Machine& machine, const std::vector<Call>& calls,
                       const std::vector<Prediction>& baseline, const Predictor& predict);

}  // namespace lanecast
