#include <fmt/format.h>

#include <cmath>
#include <set>

#include "tests/cases/errors.hpp"
#include "tests/cases/whatif_comparison.hpp"

namespace lanecast::cases {
namespace {

constexpr double kNoChange = 0.05;  // of a factor: less is taken for no change

std::string three_figures(double value) { return fmt::format("{:.3g}", value); }

bool moved(double factor) { return std::abs(std::log(factor)) > std::log1p(kNoChange); }

/// Figures of one column of factors: by `generic` or by a family's profile.
struct Tally {
  std::vector<double> errors;
  int changes = 0;  // published factors beyond kNoChange
  int right = 0;    // predicted ones beyond it, too, in the same direction

  void add(const WhatIfRow& row, const ChangedFigure& predicted) {
    errors.push_back(row.error_of(predicted));
    if (!moved(row.published.factor())) return;
    ++changes;
    if (moved(predicted.factor()) && (predicted.factor() > 1) == (row.published.factor() > 1)) ++right;
  }

  std::string median_text() const { return errors.empty() ? "-" : percent(summarise(errors).median_abs); }
  std::string max_text() const { return errors.empty() ? "-" : percent(summarise(errors).max_abs); }
  std::string right_text() const { return fmt::format("{} of {}", right, changes); }
};

}  // namespace

Grid what_if_summary(const std::vector<WhatIfRow>& rows) {
  Grid grid;
  grid.columns = {{"kind", "", 0, false},
                  {"pairs", "", 0, true},
                  {"machine files", "", 0, true},
                  {"generic: median |error|", "", 0, true},
                  {"generic: max |error|", "", 0, true},
                  {"generic: direction right", "", 0, true},
                  {"pairs with a family profile", "", 0, true},
                  {"family: median |error|", "", 0, true},
                  {"of them fitted to the case", "", 0, true},
                  {"median |error| of the others", "", 0, true}};
  for (const ChangeKind kind : change_kinds()) {
    Tally generic;
    Tally family;
    Tally unseen;
    std::set<std::string> machines;
    for (const WhatIfRow& row : rows) {
      if (row.kind != kind) continue;
      machines.insert(row.machine);
      generic.add(row, row.predicted);
      if (!row.family) continue;
      family.add(row, row.family->predicted);
      if (!row.family->fitted) unseen.add(row, row.family->predicted);
    }
    if (generic.errors.empty()) continue;
    grid.rows.push_back({to_string(kind), std::to_string(generic.errors.size()),
                         std::to_string(machines.size()), generic.median_text(), generic.max_text(),
                         generic.right_text(), std::to_string(family.errors.size()), family.median_text(),
                         std::to_string(family.errors.size() - unseen.errors.size()), unseen.median_text()});
  }
  return grid;
}

Grid what_if_grid(const std::vector<WhatIfRow>& rows) {
  Grid grid;
  grid.columns = {{"kind", "", 0, false},
                  {"source", "", 0, false},
                  {"machine", "", 0, false},
                  {"change", "", 0, false},
                  {"measured", "", 0, false},
                  {"published before", "(GB/s)"},
                  {"published after", "(GB/s)"},
                  {"factor", "", 0, true},
                  {"predicted before", "(GB/s)"},
                  {"predicted after", "(GB/s)"},
                  {"predicted factor", "", 0, true},
                  {"error of the factor", "", 0, true},
                  {"family profile", "", 0, false},
                  {"its factor", "", 0, true},
                  {"its error", "", 0, true},
                  {"note", "", 0, false}};
  for (const WhatIfRow& row : rows) {
    std::string profile = "-";
    std::string factor = "-";
    std::string error = "-";
    if (row.family) {
      profile = row.family->profile + (row.family->fitted ? " (fitted to it)" : "");
      factor = three_figures(row.family->predicted.factor());
      error = signed_percent(row.error_of(row.family->predicted));
    }
    grid.rows.push_back({to_string(row.kind), row.source, row.machine, row.change, row.measured,
                         three_figures(row.published.before), three_figures(row.published.after),
                         three_figures(row.published.factor()), three_figures(row.predicted.before),
                         three_figures(row.predicted.after), three_figures(row.predicted.factor()),
                         signed_percent(row.error_of(row.predicted)), profile, factor, error, row.note});
  }
  return grid;
}

}  // namespace lanecast::cases
