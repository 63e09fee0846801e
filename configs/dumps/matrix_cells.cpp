#include "configs/dumps/matrix_cells.hpp"

#include <algorithm>
#include <set>

namespace lanecast {
namespace {

constexpr int most_nvlinks = 1024;  // as check_machine has it

PairCell told_by(const TopoMatrix& matrix, std::size_t i, std::size_t j) {
  if (i >= matrix.cells.size() || j >= matrix.cells[i].size()) return {};
  const TopoCell& cell = matrix.cells[i][j];
  PairCell told{cell.distance, cell.nvlinks, matrix.from};
  if (told.distance == Distance::loc || told.distance == Distance::nvl) told.distance.reset();
  if (told.nvlinks < 0 || told.nvlinks > most_nvlinks) told.nvlinks = 0;
  return told;
}

class CellReader {
 public:
  CellReader(const Items& items, OriginBook& book) : items_(items), book_(book) {}

  void read(const TopoMatrix& matrix, const std::vector<int>& item_of) {
    for (std::size_t i = 0; i < item_of.size(); ++i) {
      if (item_of[i] < 0) continue;
      read_columns(matrix, i, item_of[i]);
      for (std::size_t j = i + 1; j < item_of.size(); ++j) {
        if (item_of[j] < 0 || item_of[j] == item_of[i]) continue;
        const auto key = std::minmax(item_of[i], item_of[j]);
        seen_.insert(key);
        add(key, told_by(matrix, i, j));
        add(key, told_by(matrix, j, i));
      }
    }
  }

  MatrixCells cells() {
    for (const auto& pair : seen_) {
      if (cells_.pairs.count(pair) == 0) cells_.untold.push_back(pair);
    }
    return std::move(cells_);
  }

 private:
  void read_columns(const TopoMatrix& matrix, std::size_t i, int item) {
    AffinityColumns& columns = cells_.columns[item];
    columns.from = matrix.from;
    if (!columns.numa && i < matrix.numa.size() && matrix.numa[i].value_or(-1) >= 0)
      columns.numa = matrix.numa[i];
    if (columns.cores.empty() && i < matrix.cores.size()) columns.cores = matrix.cores[i];
  }

  void add(const std::pair<int, int>& key, const PairCell& told) {
    if (!told.distance && told.nvlinks == 0) return;
    const auto [known, is_new] = cells_.pairs.emplace(key, told);
    PairCell& kept = known->second;
    if (is_new || (kept.distance == told.distance && kept.nvlinks == told.nvlinks)) return;
    // One dump may show the NVLinks of a pair, and another its distance.
    if (kept.nvlinks == 0 || told.nvlinks == 0 || kept.nvlinks != told.nvlinks) {
      book_.contradict({"distance of " + items_.name(key.first) + " and " + items_.name(key.second),
                        cell_text(kept), kept.from, cell_text(told), told.from});
    }
  }

  const Items& items_;
  OriginBook& book_;
  MatrixCells cells_;
  std::set<std::pair<int, int>> seen_;
};

}  // namespace

std::string cell_text(const PairCell& cell) {
  if (cell.nvlinks > 0) return "NV" + std::to_string(cell.nvlinks);
  return cell.distance ? to_string(*cell.distance) : "nothing";
}

MatrixCells matrix_cells(const MachineFacts& facts, const Items& items, OriginBook& book) {
  CellReader reader(items, book);
  for (std::size_t m = 0; m < facts.matrices.size() && m < items.of_matrix.size(); ++m)
    reader.read(facts.matrices[m], items.of_matrix[m]);
  return reader.cells();
}

}  // namespace lanecast
