#pragma once
#include "configs/dumps/machine_items.hpp"
#include "configs/dumps/matrix_cells.hpp"
#include "configs/dumps/origin_book.hpp"
#include "model/topology/machine.hpp"

namespace lanecast {

/// Adds NVLinks (and AMD's xGMI links) to a machine that has its GPUs, and NVSwitches as one node.
///
/// What a dump states for a pair goes first. `NV#` cells of a matrix are direct links unless all pairs are
/// alike and would need more links than a GPU has: then they go through NVSwitches.
void add_nvlinks(const MachineFacts& facts, const Items& items, const MatrixCells& cells, Machine& machine,
                 OriginBook& book);

}  // namespace lanecast
