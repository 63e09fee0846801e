#include "model/measured/matrix_comparison.hpp"

#include <algorithm>
#include <cmath>

namespace lanecast {
namespace {

bool is_number(double value) { return std::isfinite(value) && value > 0; }

bool fits(const MeasuredMatrix& measured, const MeasuredMatrix& predicted) {
  const bool engines =
      measured.engine.empty() || predicted.engine.empty() || measured.engine == predicted.engine;
  return measured.kind == predicted.kind && engines && measured.peer_access == predicted.peer_access;
}

std::string name_of(const MeasuredMatrix& matrix) {
  return "table `" + (matrix.name.empty() ? matrix.kind : matrix.name) + "`" +
         (matrix.engine.empty() ? "" : " (" + matrix.engine + ")") +
         (matrix.peer_access ? "" : " without peer access");
}

}  // namespace

ErrorSummary ComparedMatrix::summary() const {
  std::vector<ErrorSample> samples;
  for (const ComparedCell& cell : cells) {
    ErrorSample sample;
    sample.error = cell.error();
    samples.push_back(sample);
  }
  return summarize(samples);
}

ComparedMatrix compared_matrix(const MeasuredMatrix& measured, const MeasuredMatrix& predicted) {
  ComparedMatrix compared;
  compared.name = measured.name;
  compared.kind = measured.kind;
  compared.engine = measured.engine.empty() ? predicted.engine : measured.engine;
  compared.peer_access = measured.peer_access;
  compared.unit = measured.unit.empty() ? predicted.unit : measured.unit;
  compared.where = measured.where;
  const bool from_host = measured.kind == "h2d";
  const bool to_host = measured.kind == "d2h";
  const std::size_t rows = std::min(measured.rows.size(), predicted.rows.size());
  for (std::size_t i = 0; i < rows; ++i) {
    const std::size_t columns = std::min(measured.rows[i].size(), predicted.rows[i].size());
    for (std::size_t j = 0; j < columns; ++j) {
      const std::optional<double>& a = measured.rows[i][j];
      const std::optional<double>& b = predicted.rows[i][j];
      const bool diagonal = !from_host && !to_host && i == j;
      if (diagonal || !a || !b || !is_number(*a) || !is_number(*b)) continue;
      const std::string column = std::to_string(j);
      compared.cells.push_back({from_host ? "host"
                                : to_host ? column
                                          : std::to_string(i),
                                to_host ? "host" : column, *a, *b});
    }
  }
  return compared;
}

std::vector<ComparedMatrix> compare_matrices(const std::vector<MeasuredMatrix>& measured,
                                             const std::vector<MeasuredMatrix>& predicted,
                                             std::vector<LeftOutRows>& left_out) {
  std::vector<ComparedMatrix> compared;
  for (const MeasuredMatrix& matrix : measured) {
    const auto fit = [&](const MeasuredMatrix& other) { return fits(matrix, other); };
    const auto found = std::count_if(predicted.begin(), predicted.end(), fit);
    if (found != 1) {
      leave_out(left_out,
                name_of(matrix) + (found == 0 ? ": there is no predicted one" : ": several predictions fit"),
                matrix.where, false);
      continue;
    }
    ComparedMatrix cells = compared_matrix(matrix, *std::find_if(predicted.begin(), predicted.end(), fit));
    if (cells.cells.empty()) {
      leave_out(left_out, name_of(matrix) + ": no cell is in both tables", matrix.where, false);
    } else {
      compared.push_back(std::move(cells));
    }
  }
  return compared;
}

}  // namespace lanecast
