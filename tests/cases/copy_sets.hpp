#pragma once
#include <optional>
#include <string>
#include <vector>

#include "model/profile/profile.hpp"
#include "reports/grid.hpp"
#include "sim/copies.hpp"
#include "tests/cases/published_cases.hpp"

namespace lanecast::cases {

/// How a test counts copies that run at once.
enum class Total {
  sum,         // of the steady rates
  equal_bytes  // every copy moves the same bytes and the last one ends the clock: copies x the slowest rate
};

/// Copies that a case measured at the same time, or a single one that stands in no matrix.
struct CopySet {
  std::string case_id;
  std::string label;
  std::string machine;            // as CaseMachine's
  std::vector<std::string> sets;  // changes to the machine
  std::vector<CopyFlow> flows;
  Total total = Total::sum;
  FigurePlace place;              // where the case has the figure ...
  double scale = 1;               // ... and what makes a total in GB/s of it
  std::optional<double> carried;  // the figure itself, where the case has it inside a sentence
  std::string note;
};

const std::vector<CopySet>& copy_sets();

/// A one-way latency between two GPUs that a case measured by a flag.
struct LatencyPair {
  std::string case_id;
  std::string pair;  // as the case names it
  std::string machine;
  int from = 0;
  int to = 0;
};

const std::vector<LatencyPair>& latency_pairs();

/// The case's figure, GB/s in total.
/// @throws Error  kind usage, where the case has no such figure
double published_total(const std::vector<PublishedCase>& cases, const CopySet& set);

/// The same as predicted: steady rates of all its copies at once, GB/s in total.
double predicted_total(const CopySet& set, const Profile& profile, Engine engine = Engine::copy);

/// Predicted beside published, GB/s in total.
Grid copy_set_grid(const std::vector<PublishedCase>& cases, const Profile& profile);

/// Predicted beside published, one way, ns.
Grid latency_grid(const std::vector<PublishedCase>& cases, const Profile& profile);

}  // namespace lanecast::cases
