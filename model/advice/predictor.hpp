#pragma once
#include <functional>
#include <vector>

#include "model/predict/call.hpp"
#include "model/predict/prediction.hpp"
#include "model/topology/machine.hpp"

namespace lanecast {

/// Answers a batch of calls on a machine, one prediction a call, in their order. Advice (doctor, what-if,
/// tune, plan) asks through it and so knows neither the simulator nor profiles. May throw Error.
using Predictor =
    std::function<std::vector<Prediction>(const Machine& machine, const std::vector<Call>& calls)>;

}  // namespace lanecast
