#pragma once
#include <string>
#include <utility>
#include <vector>

#include "model/predict/prediction.hpp"

namespace lanecast {

/// A choice of the implementation that differs before and after.
struct ChangedChoice {
  std::string what;  // "protocol", "transport", "channels", "ring order", ...
  std::string before;
  std::string after;
  bool operator==(const ChangedChoice&) const = default;
};

/// What a change does to one call, and why.
struct Effect {
  Seconds before{0};
  Seconds after{0};
  std::vector<ChangedChoice> choices;
  std::string cause;  // one sentence: what limits, how busy it is, which share of the time moved most

  /// after / before: 2 is twice as slow.
  double factor() const { return after / before; }
};

/// Compares two predictions of the same call. Both with shares (`SimulationOptions::shares`), or the cause
/// does not say where the time went.
Effect effect(const Prediction& before, const Prediction& after);

/// One what-if: what is set, and what is then predicted, one prediction a size.
struct WhatIfCase {
  std::string name;
  std::vector<std::pair<std::string, std::string>>
      sets;                // path, value; in the order in which they were applied
  std::vector<int> ranks;  // GPU indices that take part
  std::vector<Prediction> predictions;
};

/// Effects of a case, one a size. Both have the same sizes.
std::vector<Effect> effects(const WhatIfCase& baseline, const WhatIfCase& changed);

/// The case in one sentence, at the size where it matters most: the largest.
std::string verdict(const WhatIfCase& baseline, const WhatIfCase& changed);

}  // namespace lanecast
