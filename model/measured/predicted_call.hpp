#pragma once
#include <optional>
#include <string>

#include "model/measured/measurement.hpp"
#include "model/predict/call.hpp"
#include "model/predict/prediction.hpp"
#include "model/units.hpp"

namespace lanecast {

/// A call's time that measurements are held against: a prediction, or an earlier measurement.
struct PredictedCall {
  Call call;  // as it runs; absent: not said
  StatedMembers stated;
  std::optional<Call> asked;  // what was forced and what was left open; absent: not known
  std::string transport;      // "p2p", "shm", "mixed" (some neighbours each); empty: not said
  int ranks = 0;              // 0: not said
  Seconds time{0};
  std::optional<Seconds> time_low;  // band; absent: none
  std::optional<Seconds> time_high;
  std::string implementation;  // empty: not said
  bool first_of_sweep = false;
  std::string where;  // "box.json results[3]"
};

/// A prediction as the comparison takes it: what runs, and what was asked.
PredictedCall predicted_call(const Prediction& prediction, int ranks, const std::string& implementation);

/// A measurement that others are held against.
PredictedCall as_predicted(const MeasuredCall& measured);

/// A prediction that stands where a measurement is expected.
MeasuredCall as_measured(const PredictedCall& predicted);

}  // namespace lanecast
