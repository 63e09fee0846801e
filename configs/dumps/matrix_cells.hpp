#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "configs/dumps/facts.hpp"
#include "configs/dumps/machine_items.hpp"
#include "configs/dumps/origin_book.hpp"

namespace lanecast {

/// What matrices of `nvidia-smi topo -m` say of two items.
struct PairCell {
  std::optional<Distance> distance;  // pix to sys; nothing: hidden by NVLink, or in no excerpt
  int nvlinks = 0;
  std::string from;
};

/// What the columns behind the cells say of one item.
struct AffinityColumns {
  std::optional<int> numa;
  std::string cores;
  std::string from;
};

/// All matrices together, by items instead of names.
struct MatrixCells {
  std::map<std::pair<int, int>, PairCell> pairs;  // the smaller item first
  std::map<int, AffinityColumns> columns;
  std::vector<std::pair<int, int>> untold;  // pairs of one matrix of which it says nothing
};

/// Cells of the upper triangle go first, then their mirrors, then later matrices. What differs becomes a
/// contradiction.
MatrixCells matrix_cells(const MachineFacts& facts, const Items& items, OriginBook& book);

/// "PIX", "NV4".
std::string cell_text(const PairCell& cell);

}  // namespace lanecast
