#include "configs/dumps/tree_pieces.hpp"

#include <algorithm>

namespace lanecast {
namespace {

int topmost_switch(const PciTree& tree, int at) {
  while (tree.switches[static_cast<std::size_t>(at)].above >= 0)
    at = tree.switches[static_cast<std::size_t>(at)].above;
  return at;
}

std::string number(int value) { return std::to_string(value); }

/// NUMA node of one function: what the most trusted dump says.
std::optional<Statement<int>> numa_of(const MachineFacts& facts, const std::string& address,
                                      OriginBook& book) {
  const auto device = facts.devices.find(address);
  if (device == facts.devices.end()) return std::nullopt;
  const auto possible = good_ones(device->second.numa, [](int node) { return node >= 0; });
  return book.judge("device " + address + ": NUMA node", possible, number);
}

class PieceReader {
 public:
  PieceReader(const MachineFacts& facts, const Items& items, const MatrixCells& cells, const PciTree& tree,
              OriginBook& book)
      : facts_(facts), items_(items), cells_(cells), tree_(tree), book_(book) {}

  Pieces read() {
    std::map<int, int> of_switch;
    for (int item = 0; item < static_cast<int>(items_.size()); ++item) {
      const TreeLeaf& leaf = tree_.leaves[static_cast<std::size_t>(item)];
      const int top = leaf.above < 0 ? -1 : topmost_switch(tree_, leaf.above);
      int piece = static_cast<int>(pieces_.all.size());
      if (top >= 0) piece = of_switch.emplace(top, piece).first->second;
      if (piece == static_cast<int>(pieces_.all.size())) {
        pieces_.all.emplace_back();
        pieces_.all.back().top_switch = top;
        pieces_.all.back().top = top < 0 ? leaf.top : tree_.switches[static_cast<std::size_t>(top)].top;
      }
      Piece& own = pieces_.all[static_cast<std::size_t>(piece)];
      own.leaves.push_back(item);
      own.placed = own.placed || leaf.placed;
      pieces_.of_item.push_back(piece);
      read_numa(own, item);
    }
    for (Piece& piece : pieces_.all) {
      if (!piece.numa && piece.top_switch >= 0)
        take_numa(piece, tree_.switches[static_cast<std::size_t>(piece.top_switch)].bdf);
    }
    count_votes();
    return std::move(pieces_);
  }

 private:
  void take_numa(Piece& piece, const std::string& address) {
    const auto numa = numa_of(facts_, address, book_);
    if (!numa) return;
    if (!piece.numa) {
      piece.numa = numa->value;
      piece.numa_from = numa->from;
    } else if (*piece.numa != numa->value) {
      book_.contradict({"device " + address + ": NUMA node", number(*piece.numa) + ", as its neighbours",
                        piece.numa_from, number(numa->value), numa->from});
    }
  }

  void read_numa(Piece& piece, int item) {
    if (!items_.address(item).empty()) take_numa(piece, items_.address(item));
    const auto columns = cells_.columns.find(item);
    if (columns == cells_.columns.end() || !columns->second.numa || piece.hint) return;
    piece.hint = columns->second.numa;
    piece.hint_from = columns->second.from;
  }

  void count_votes() {
    for (const auto& [pair, cell] : cells_.pairs) {
      const int a = pieces_.of_item[static_cast<std::size_t>(pair.first)];
      const int b = pieces_.of_item[static_cast<std::size_t>(pair.second)];
      if (a == b) continue;
      DistanceVotes& votes = pieces_.votes[std::minmax({a, b})];
      if (cell.distance) {
        votes.add(*cell.distance);
      } else {
        ++votes.hidden;
      }
    }
  }

  const MachineFacts& facts_;
  const Items& items_;
  const MatrixCells& cells_;
  const PciTree& tree_;
  OriginBook& book_;
  Pieces pieces_;
};

bool is_free(const PciTree& tree, int item) {
  const TreeLeaf& leaf = tree.leaves[static_cast<std::size_t>(item)];
  return leaf.above < 0 && !leaf.placed;
}

}  // namespace

Pieces tree_pieces(const MachineFacts& facts, const Items& items, const MatrixCells& cells,
                   const PciTree& tree, OriginBook& book) {
  return PieceReader(facts, items, cells, tree, book).read();
}

std::map<int, std::string> hang_by_matrix(const MatrixCells& cells, PciTree& tree) {
  std::map<int, std::string> hung;
  const std::vector<TreeLeaf> stated = tree.leaves;
  for (const Distance wanted : {Distance::pix, Distance::pxb}) {
    for (const auto& [pair, cell] : cells.pairs) {
      if (cell.distance != wanted) continue;
      for (const auto& [item, beside] : {pair, std::pair<int, int>{pair.second, pair.first}}) {
        const int chip = stated[static_cast<std::size_t>(beside)].above;
        if (!is_free(tree, item) || chip < 0) continue;
        int above = chip;
        if (wanted == Distance::pxb) {
          above = static_cast<int>(tree.switches.size());
          tree.switches.push_back({"", topmost_switch(tree, chip), "", {}, "", {}});
        }
        tree.leaves[static_cast<std::size_t>(item)].above = above;
        hung[item] = cell.from;
      }
    }
  }
  return hung;
}

}  // namespace lanecast
