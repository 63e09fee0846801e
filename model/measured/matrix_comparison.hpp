#pragma once
#include <string>
#include <vector>

#include "model/measured/comparison.hpp"

namespace lanecast {

/// A cell of two pairwise tables. The end that is not a GPU is host memory.
struct ComparedCell {
  std::string source;  // "0", "host"
  std::string destination;
  double measured = 0;
  double predicted = 0;
  double error() const { return predicted / measured - 1; }
};

/// Two pairwise tables of one kind, cell by cell. The diagonal is no copy between GPUs and is left out.
struct ComparedMatrix {
  std::string name;  // as the measuring tool names it; may be empty
  std::string kind;
  std::string engine;
  bool peer_access = true;
  std::string unit;
  std::string where;  // of the measured one
  std::vector<ComparedCell> cells;

  ErrorSummary summary() const;
};

/// Cells that both tables have.
ComparedMatrix compared_matrix(const MeasuredMatrix& measured, const MeasuredMatrix& predicted);

/// Joins tables by kind and engine; an engine that one side does not say fits either. Tables without peer
/// access have no counterpart among predictions of a machine as it is.
/// @param left_out  gains measured tables without a predicted one, or with several, and those without a cell
///                  in common
std::vector<ComparedMatrix> compare_matrices(const std::vector<MeasuredMatrix>& measured,
                                             const std::vector<MeasuredMatrix>& predicted,
                                             std::vector<LeftOutRows>& left_out);

}  // namespace lanecast
