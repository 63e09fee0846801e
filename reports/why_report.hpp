#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "model/predict/alternatives.hpp"
#include "reports/grid.hpp"

namespace lanecast {

/// What `predict --why` adds to a prediction.
struct WhyReport {
  CommunicatorSetup communicator;
  std::vector<std::string> gpu_names;  // of the machine
  std::vector<Alternatives> sizes;     // one a prediction, in the same order
};

/// "ring/ll".
std::string name_of(const Alternative& way);

/// The search, the channels, the rings and their transports: what holds for all sizes.
nlohmann::ordered_json decisions_as_json(const WhyReport& why);

/// The ways of one call, and whether the one taken is the fastest.
nlohmann::ordered_json ways_as_json(const Alternatives& alternatives);

/// Lines for people: what holds for all sizes.
std::vector<std::string> decision_lines(const WhyReport& why);

/// The ways that are not possible at some size, one line for each reason.
std::vector<std::string> impossible_lines(const WhyReport& why);

/// One row for each size and possible way: `*` marks what is taken, `+` what is predicted to be the fastest.
Grid ways_grid(const WhyReport& why);

/// One line for each size at which what is taken is not the fastest, or cannot be compared.
std::vector<std::string> regrets(const WhyReport& why);

}  // namespace lanecast
