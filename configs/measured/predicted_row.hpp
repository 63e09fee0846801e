#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "configs/problem_list.hpp"
#include "model/measured/predicted_call.hpp"

namespace lanecast {

/// Where a row of predictions stands.
struct RowPlace {
  std::string where;  // "box.json results[3]", for the row itself
  std::string path;   // "results[3]", for its problems
  Position at;
};

/// Reads one row of `predict`'s results: its keys, and of those that it lacks the document's (`ranks`,
/// `collective`, `implementation`). Problems are added to the list; the call is then incomplete.
PredictedCall read_predicted_row(const nlohmann::json& row, const nlohmann::json& document,
                                 const RowPlace& place, ProblemList& problems);

}  // namespace lanecast
