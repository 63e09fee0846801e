#pragma once
#include "configs/dumps/machine_items.hpp"
#include "configs/dumps/machine_layout.hpp"
#include "configs/dumps/matrix_cells.hpp"
#include "configs/dumps/origin_book.hpp"

namespace lanecast {

/// Distance of two items by the PCIe tree: `pcie_distance` of the machine to come.
Distance layout_distance(const Layout& layout, int a, int b);

/// Compares every cell of the matrices with the machine. What differs becomes a contradiction; in a virtual
/// machine, whose bus hides the real tree, one note stands for all. Names what the matrices leave open.
void check_matrices(const Items& items, const Layout& layout, const MatrixCells& cells, bool virtualized,
                    OriginBook& book);

}  // namespace lanecast
