#include "tests/cases/baseline_table.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "tests/cases/errors.hpp"

namespace lanecast::cases {
namespace {

constexpr Bytes kSmall{256u << 10};
constexpr Bytes kLarge{4u << 20};

/// Errors of the same rows; `alone` are those that only one side can tell.
struct ErrorPair {
  std::vector<double> ours;
  std::vector<double> nccls;
  std::vector<double> ours_alone;
  std::vector<double> nccls_alone;
};

using Filter = std::function<bool(const AllReduceCase&, const AllReducePoint&)>;

void add(ErrorPair& errors, const AllReduceComparison& comparison, const Filter& filter) {
  for (const AllReducePoint& point : comparison.points) {
    if (filter && !filter(comparison.entry, point)) continue;
    const bool both = point.predicted && point.nccl;
    if (point.predicted) (both ? errors.ours : errors.ours_alone).push_back(point.error_of(*point.predicted));
    if (point.nccl) (both ? errors.nccls : errors.nccls_alone).push_back(point.error_of(*point.nccl));
  }
}

std::vector<std::string> cells_of(const std::vector<double>& errors) {
  if (errors.empty()) return {"-", "-"};
  const ErrorSummary summary = summarise(errors);
  return {percent(summary.median_abs), percent(summary.p95_abs)};
}

std::vector<std::string> line(const std::string& name, const ErrorPair& errors) {
  const bool both = !errors.ours.empty();
  const std::vector<double>& ours = both ? errors.ours : errors.ours_alone;
  const std::vector<double>& nccls = both ? errors.nccls : errors.nccls_alone;
  std::vector<std::string> cells{name, std::to_string(std::max(ours.size(), nccls.size()))};
  for (const auto& side : {cells_of(ours), cells_of(nccls)})
    cells.insert(cells.end(), side.begin(), side.end());
  return cells;
}

void add_sweeps(Grid& grid, const ComparisonGroup& group) {
  std::vector<std::pair<std::string, ErrorPair>> lines;
  for (const AllReduceComparison& one : group.comparisons) {
    const std::string name = group.by_case ? one.entry.case_id : one.entry.name();
    auto at = std::find_if(lines.begin(), lines.end(), [&](const auto& each) { return each.first == name; });
    if (at == lines.end()) at = lines.insert(at, {name, ErrorPair{}});
    add(at->second, one, {});
  }
  for (const auto& [name, errors] : lines) grid.rows.push_back(line(name, errors));
}

void add_sum(Grid& grid, const std::string& name, const std::vector<ComparisonGroup>& groups,
             const Filter& filter = {}) {
  ErrorPair errors;
  for (const ComparisonGroup& group : groups) {
    for (const AllReduceComparison& one : group.comparisons) add(errors, one, filter);
  }
  errors.ours_alone.clear();
  errors.nccls_alone.clear();
  grid.rows.push_back(line(name, errors));
}

void add_sums(Grid& grid, const std::string& name, const std::vector<ComparisonGroup>& groups) {
  add_sum(grid, name + ", all", groups);
  add_sum(grid, name + ", below 256 KiB", groups,
          [](const AllReduceCase&, const AllReducePoint& point) { return point.size < kSmall; });
  add_sum(grid, name + ", 4 MiB and more", groups,
          [](const AllReduceCase&, const AllReducePoint& point) { return point.size >= kLarge; });
}

}  // namespace

Grid baseline_grid(const std::vector<ComparisonGroup>& groups) {
  Grid grid;
  grid.columns = {{"measured", "", 0, false},
                  {"rows", "", 0, true},
                  {"ours: median |error|", "", 0, true},
                  {"ours: p95", "", 0, true},
                  {"NCCL's: median |error|", "", 0, true},
                  {"NCCL's: p95", "", 0, true}};
  for (const ComparisonGroup& group : groups) add_sweeps(grid, group);
  for (const ComparisonGroup& group : groups) add_sums(grid, group.name, {group});
  if (groups.size() > 1) add_sums(grid, "together", groups);
  add_sum(grid, "stated cases", groups,
          [](const AllReduceCase& entry, const AllReducePoint&) { return entry.not_stated.empty(); });
  return grid;
}

}  // namespace lanecast::cases
