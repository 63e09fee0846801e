#include "model/measured/tolerance.hpp"

#include <algorithm>
#include <cmath>

namespace lanecast {
namespace {

/// Errors at the tolerance pass, whatever the last bit of the division.
constexpr double kRounding = 1e-9;

void add_rows(const std::vector<ComparedRow>& rows, std::vector<Breach>& all) {
  for (const ComparedRow& row : rows) {
    const ErrorSample sample = sample_of(row);
    all.push_back({"size " + std::to_string(sample.size.value()) + ", " +
                       group_name(sample.protocol, sample.transport) +
                       (row.measured.where.empty() ? "" : " (" + row.measured.where + ")"),
                   row.error()});
  }
}

void add_cells(const std::vector<ComparedMatrix>& matrices, std::vector<Breach>& all) {
  for (const ComparedMatrix& matrix : matrices) {
    for (const ComparedCell& cell : matrix.cells) {
      all.push_back({"`" + matrix.kind + "` from " + cell.source + " to " + cell.destination + " (" +
                         matrix.where + ")",
                     cell.error()});
    }
  }
}

double gated(const ErrorSummary& summary, ToleranceOf of) {
  return of == ToleranceOf::median ? summary.median_abs_error : summary.p95_abs_error;
}

}  // namespace

std::vector<Breach> breaches(const std::vector<ComparedRow>& rows,
                             const std::vector<ComparedMatrix>& matrices, ToleranceOf of, double tolerance) {
  std::vector<Breach> all;
  if (of == ToleranceOf::max) {
    add_rows(rows, all);
    add_cells(matrices, all);
  } else {
    for (const ErrorGroup& group : error_groups(samples_of(rows)))
      all.push_back({group_name(group.protocol, group.transport), gated(group.summary, of)});
    for (const ComparedMatrix& matrix : matrices)
      all.push_back({"`" + matrix.kind + "` (" + matrix.where + ")", gated(matrix.summary(), of)});
  }
  all.erase(
      std::remove_if(all.begin(), all.end(),
                     [&](const Breach& each) { return !(std::abs(each.error) > tolerance + kRounding); }),
      all.end());
  std::stable_sort(all.begin(), all.end(),
                   [](const Breach& a, const Breach& b) { return std::abs(a.error) > std::abs(b.error); });
  return all;
}

}  // namespace lanecast
