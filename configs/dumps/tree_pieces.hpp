#pragma once
#include <string>
#include <vector>

#include "configs/dumps/distance_classes.hpp"
#include "configs/dumps/machine_items.hpp"
#include "configs/dumps/matrix_cells.hpp"
#include "configs/dumps/origin_book.hpp"
#include "configs/dumps/pci_tree.hpp"

namespace lanecast {

/// A part of the machine whose inner tree is known: all below one switch, or a single device.
struct Piece {
  int top_switch = -1;      // of the tree; -1: a single device
  std::vector<int> leaves;  // items
  TreeTop top;
  bool placed = false;      // dumps tell what is above the device itself
  std::optional<int> numa;  // as devices state it
  std::string numa_from;
  std::optional<int> hint;  // as a matrix's column has it
  std::string hint_from;
  bool is_device() const { return top_switch < 0; }
  bool root_known() const { return !top.root_bus.empty(); }
};

/// The pieces of a tree, in the order of their first items; and which piece an item belongs to.
struct Pieces {
  std::vector<Piece> all;
  std::vector<int> of_item;
  PairVotes votes;  // between pieces, of all matrices
};

Pieces tree_pieces(const MachineFacts& facts, const Items& items, const MatrixCells& cells,
                   const PciTree& tree, OriginBook& book);

/// Hangs devices that no dump places into the trees that dumps show, by the matrices: beside a device that
/// they are PIX to, or, PXB to it, below a switch of their own under its topmost one.
/// @return  the place of the matrix for each device that found one, by item
std::map<int, std::string> hang_by_matrix(const MatrixCells& cells, PciTree& tree);

}  // namespace lanecast
