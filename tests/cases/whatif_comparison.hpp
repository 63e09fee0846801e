#pragma once
#include <optional>
#include <string>
#include <vector>

#include "model/profile/profile.hpp"
#include "reports/grid.hpp"
#include "tests/cases/all_reduce_comparison.hpp"
#include "tests/cases/whatif_table.hpp"

namespace lanecast::cases {

/// A figure before a change and after it, GB/s: of copies in total, of an all-reduce its busbw.
struct ChangedFigure {
  double before = 0;
  double after = 0;

  double factor() const { return after / before; }
};

/// The same pair by the shipped profile that the machine gets.
struct FamilyFigure {
  std::string profile;
  bool fitted = false;  // its family's fit saw the case
  ChangedFigure predicted;
};

struct WhatIfRow {
  ChangeKind kind = ChangeKind::peer_access;
  std::string source;
  std::string machine;  // with what both settings have in common
  std::string change;   // as a user types it
  std::string measured;
  ChangedFigure published;
  ChangedFigure predicted;             // by the profile generic
  std::optional<FamilyFigure> family;  // absent: no shipped profile is for its GPUs
  std::string note;

  double error_of(const ChangedFigure& one) const { return one.factor() / published.factor() - 1; }
};

/// Pairs of shared/cases: matrices, copies at once, all-reduces.
/// @throws Error  kind usage, where a table of tests/cases and the file differ
std::vector<WhatIfRow> compare_what_ifs(const std::vector<PublishedCase>& cases);

/// Pairs that facts.md cites.
std::vector<WhatIfRow> compare_cited_what_ifs();

/// "--set p2p.enabled=false -> as the file": what the second setting has and the first has not, and the
/// reverse.
std::string change_text(const std::vector<std::string>& before, const std::vector<std::string>& after);

/// Median |error| of the factor by kind, and how often its direction is right where the published one is
/// beyond 5 %.
Grid what_if_summary(const std::vector<WhatIfRow>& rows);

Grid what_if_grid(const std::vector<WhatIfRow>& rows);

}  // namespace lanecast::cases
