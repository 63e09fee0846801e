#pragma once
#include <vector>

#include "model/measured/comparison.hpp"

namespace lanecast {

/// The join of `compare_calls`, on rows that are selected already.
/// @param left_out  gains the rows without a prediction, by the keys in which the nearest one differs, and
///                  those with several
std::vector<ComparedRow> joined_calls(const std::vector<MeasuredCall>& measured,
                                      const std::vector<PredictedCall>& predicted,
                                      std::vector<LeftOutRows>& left_out);

}  // namespace lanecast
