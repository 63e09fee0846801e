#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "model/measured/measurement.hpp"
#include "model/measured/predicted_call.hpp"

namespace lanecast {

/// What `predict` and `matrix` wrote.
struct PredictedData {
  std::vector<PredictedCall> calls;
  std::vector<MeasuredMatrix> matrices;
  std::string machine;  // of the last document that says it
  std::string profile;
};

/// Whether a text is JSON, JSON lines or CSV of `predict`, or JSON of `matrix`, rather than a measurement.
bool is_prediction(std::string_view text);

/// @param name     as messages name the text
/// @throws Error   kind usage, with all problems: broken JSON, rows without a size or a time, words and
///                 numbers that are no value of their key
PredictedData read_predicted(const std::string& text, const std::string& name);

}  // namespace lanecast
