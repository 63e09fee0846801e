#pragma once
#include <vector>

#include "configs/dumps/distance_classes.hpp"
#include "configs/dumps/machine_layout.hpp"
#include "configs/dumps/tree_pieces.hpp"

namespace lanecast {

/// Finds the NUMA nodes of a machine, and gives each root one: by what devices state, else by the matrices
/// (SYS lies between NUMA nodes) and their column, else all on the first.
///
/// @param classes         pieces that share a root
/// @param root_of_piece   the layout's root of each
void lay_out_numa(const MachineFacts& facts, const MatrixCells& cells, const Pieces& pieces,
                  const std::vector<int>& root_of_piece, DistanceClasses classes, Layout& layout,
                  OriginBook& book);

}  // namespace lanecast
