#include "configs/dumps/matrix_check.hpp"

#include <algorithm>
#include <set>

namespace lanecast {
namespace {

const LayoutSwitch& switch_at(const Layout& layout, int index) {
  return layout.switches[static_cast<std::size_t>(index)];
}

int depth_of(const Layout& layout, int above) {
  int depth = 0;
  for (; above >= 0; above = switch_at(layout, above).place.above) ++depth;
  return depth;
}

/// Switches above the first that both chains share, and whether both devices hang right below it.
Distance switch_distance(const Layout& layout, int a, int b) {
  const int first_a = a, first_b = b;
  int depth_a = depth_of(layout, a), depth_b = depth_of(layout, b);
  for (; depth_a > depth_b; --depth_a) a = switch_at(layout, a).place.above;
  for (; depth_b > depth_a; --depth_b) b = switch_at(layout, b).place.above;
  while (a != b) {
    a = switch_at(layout, a).place.above;
    b = switch_at(layout, b).place.above;
  }
  if (a < 0) return Distance::phb;
  return a == first_a && b == first_b ? Distance::pix : Distance::pxb;
}

/// Where the distance of two items comes from, for a contradiction.
std::string place_of(const Layout& layout, int a, int b) {
  for (const int item : {a, b}) {
    const Placement& place = layout.leaves[static_cast<std::size_t>(item)];
    if (!place.from.empty()) return place.from + ", by the tree";
  }
  return "the nearest tree to the whole matrix";
}

class MatrixChecker {
 public:
  MatrixChecker(const Items& items, const Layout& layout, const MatrixCells& cells, OriginBook& book)
      : items_(items), layout_(layout), cells_(cells), book_(book) {}

  void check(bool virtualized) {
    for (const auto& [pair, cell] : cells_.pairs) {
      if (!cell.distance) {
        if (cell.nvlinks > 0) hidden_.insert({pair.first, pair.second});
        continue;
      }
      const Distance tree = layout_distance(layout_, pair.first, pair.second);
      if (tree == *cell.distance) continue;
      if (virtualized) {
        book_.note(
            "distances of `nvidia-smi topo -m` differ from the tree, which the virtual machine makes up");
      } else if (items_.adapters_by_order && !items_.is_gpu(pair.second)) {
        book_.note(
            "the adapters of `nvidia-smi topo -m` do not fit the tree in the order of their addresses: which "
            "is "
            "which is not known");
      } else {
        book_.contradict({"distance of " + items_.name(pair.first) + " and " + items_.name(pair.second),
                          to_string(tree), place_of(layout_, pair.first, pair.second),
                          to_string(*cell.distance), cell.from});
      }
    }
  }

  void name_gaps() {
    for (const auto& [a, b] : cells_.untold) untold_.insert({a, b});
    for (const int item : hidden_) {
      if (!layout_.leaves[static_cast<std::size_t>(item)].from.empty()) continue;
      book_.missing("PCIe distance, which NVLink hides,", items_.name(item), "run `lspci -tv`");
    }
    for (const int item : untold_) {
      if (!layout_.leaves[static_cast<std::size_t>(item)].from.empty()) continue;
      book_.missing("part of the distances", items_.name(item),
                    "paste the whole output of `nvidia-smi topo -m`");
    }
  }

 private:
  const Items& items_;
  const Layout& layout_;
  const MatrixCells& cells_;
  OriginBook& book_;
  std::set<int> hidden_, untold_;
};

}  // namespace

Distance layout_distance(const Layout& layout, int a, int b) {
  if (a == b) return Distance::loc;
  const Placement& first = layout.leaves[static_cast<std::size_t>(a)];
  const Placement& second = layout.leaves[static_cast<std::size_t>(b)];
  if (first.root == second.root) return switch_distance(layout, first.above, second.above);
  const auto cpu = [&](int root) { return layout.roots[static_cast<std::size_t>(root)].cpu; };
  return cpu(first.root) == cpu(second.root) ? Distance::node : Distance::sys;
}

void check_matrices(const Items& items, const Layout& layout, const MatrixCells& cells, bool virtualized,
                    OriginBook& book) {
  MatrixChecker checker(items, layout, cells, book);
  checker.check(virtualized);
  checker.name_gaps();
}

}  // namespace lanecast
