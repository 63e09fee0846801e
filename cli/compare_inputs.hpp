#pragma once
#include <string>
#include <vector>

#include "configs/measured/read_measured.hpp"
#include "configs/measured/read_predicted.hpp"
#include "model/measured/measurement.hpp"

namespace lanecast {

/// Measurements of several files as one. A prediction may stand for a measurement.
///
/// @param defaults  what the files leave open
/// @param implementation  the same where a call says nothing of it; else it stays as it is. Empty: nothing
/// @throws Error  kind usage: a file that cannot be read, or that holds neither; defaults that contradict it
MeasuredData read_measured_side(const std::vector<std::string>& files, const MeasuredDefaults& defaults,
                                const std::string& implementation);

/// A prediction, or a second measurement.
/// @param warnings  gains what a measurement's reader passed over
PredictedData read_predicted_side(const std::string& file, std::vector<Warning>& warnings);

}  // namespace lanecast
