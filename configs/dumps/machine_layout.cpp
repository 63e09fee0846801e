#include "configs/dumps/machine_layout.hpp"

#include <algorithm>

#include "configs/dumps/numa_layout.hpp"
#include "configs/dumps/tree_pieces.hpp"

namespace lanecast {
namespace {

constexpr const char* by_matrix = "the least tree that gives the matrix of `nvidia-smi topo -m`";
constexpr const char* by_nccl_node =
    "NCCL's files tell NUMA nodes, not roots: all of a node on one root, which NCCL calls PHB";
constexpr const char* on_its_own = "no dump tells what is above it: on a root of its own";

class LayoutBuilder {
 public:
  LayoutBuilder(const MachineFacts& facts, const Items& items, const MatrixCells& cells, PciTree tree,
                OriginBook& book)
      : facts_(facts),
        items_(items),
        cells_(cells),
        tree_(std::move(tree)),
        hung_(hang_by_matrix(cells, tree_)),
        pieces_(tree_pieces(facts, items, cells, tree_, book)),
        classes_(pieces_.all.size()),
        book_(book) {}

  Layout build() {
    for (const auto& [pair, votes] : pieces_.votes) {
      voted_.insert(pair.first);
      voted_.insert(pair.second);
    }
    join_hierarchies();
    const std::vector<int> switch_class = snapshot();
    classes_.join(pieces_.votes, Distance::pxb, movable_);
    const std::vector<int> hierarchy = snapshot();
    join_roots();
    number_roots();
    place_hierarchies(switch_class, hierarchy);
    place_rest_of_tree();
    lay_out_numa(facts_, cells_, pieces_, root_of_piece_, std::move(classes_), layout_, book_);
    order_nodes();
    return std::move(layout_);
  }

 private:
  std::vector<int> snapshot() const {
    std::vector<int> now;
    for (std::size_t i = 0; i < pieces_.all.size(); ++i) now.push_back(classes_.of(static_cast<int>(i)));
    return now;
  }

  /// Only pieces whose root no dump tells can hang below a switch that no dump shows.
  void join_hierarchies() {
    std::vector<bool> devices;
    for (const Piece& piece : pieces_.all) {
      movable_.push_back(!piece.root_known());
      devices.push_back(!piece.root_known() && piece.is_device());
    }
    classes_.join(pieces_.votes, Distance::pix, devices);
  }

  void join_roots() {
    std::vector<std::string> known, together;
    for (std::size_t i = 0; i < pieces_.all.size(); ++i) {
      const Piece& piece = pieces_.all[i];
      known.push_back(piece.top.root_bus);
      const bool by_node = !piece.root_known() && is_of_nccl(piece) && voted_.count(static_cast<int>(i)) == 0;
      together.push_back(by_node ? "node " + std::to_string(*piece.numa) : piece.top.group);
    }
    classes_.set_keys(known);
    std::map<std::string, int> first;
    for (std::size_t i = 0; i < together.size(); ++i) {
      if (together[i].empty()) continue;
      const auto [other, is_new] = first.emplace(together[i], static_cast<int>(i));
      if (!is_new) classes_.join_pair(other->second, static_cast<int>(i));
    }
    classes_.join(pieces_.votes, Distance::phb);
  }

  static bool is_of_nccl(const Piece& piece) {
    return piece.numa && piece.numa_from.find("numaid") != std::string::npos;
  }

  void number_roots() {
    std::map<int, int> numbers;
    for (std::size_t i = 0; i < pieces_.all.size(); ++i) {
      const auto [number, is_new] =
          numbers.emplace(classes_.of(static_cast<int>(i)), static_cast<int>(layout_.roots.size()));
      if (is_new) layout_.roots.emplace_back();
      LayoutRoot& root = layout_.roots[static_cast<std::size_t>(number->second)];
      if (root.bus.empty() && pieces_.all[i].root_known()) {
        root.bus = pieces_.all[i].top.root_bus;
        root.bus_from = pieces_.all[i].top.from;
      }
      root_of_piece_.push_back(number->second);
    }
  }

  std::string rule_of(std::size_t piece) const {
    if (voted_.count(static_cast<int>(piece)) != 0) return by_matrix;
    return is_of_nccl(pieces_.all[piece]) ? by_nccl_node : on_its_own;
  }

  /// Where the top of a piece hangs: on a root, or below a switch that the matrix asks for.
  void place_piece(std::size_t index, int above) {
    const Piece& piece = pieces_.all[index];
    Placement place{above, root_of_piece_[index], "", "", rule_of(index)};
    if (piece.is_device()) {
      const TreeLeaf& leaf = tree_.leaves[static_cast<std::size_t>(piece.leaves.front())];
      place.port = leaf.port;
      if (piece.root_known() && above < 0) place.from = leaf.from.empty() ? piece.top.from : leaf.from;
      leaves_[piece.leaves.front()] = place;
    } else {
      const TreeSwitch& chip = tree_.switches[static_cast<std::size_t>(piece.top_switch)];
      place.port = chip.port;
      if (piece.root_known() && above < 0) place.from = chip.from.empty() ? piece.top.from : chip.from;
      switch_number_[piece.top_switch] = add_switch(place, chip.bdf, chip.ports);
    }
  }

  int add_switch(const Placement& place, const std::string& bdf, const std::vector<std::string>& ports) {
    layout_.switches.push_back({place, bdf, ports});
    return static_cast<int>(layout_.switches.size()) - 1;
  }

  /// The class of the only GPU that is PIX to nobody; -1 where there are none or several.
  int only_single_gpu(const std::map<int, std::vector<std::size_t>>& chips) const {
    int found = -1;
    for (const auto& [chip_class, pieces] : chips) {
      const Piece& first = pieces_.all[pieces.front()];
      if (pieces.size() > 1 || !first.is_device() || !items_.is_gpu(first.leaves.front())) continue;
      if (found >= 0) return -1;
      found = chip_class;
    }
    return found;
  }

  void place_hierarchies(const std::vector<int>& switch_class, const std::vector<int>& hierarchy) {
    std::map<int, std::map<int, std::vector<std::size_t>>> members;  // hierarchy -> switch -> pieces
    for (std::size_t i = 0; i < hierarchy.size(); ++i) members[hierarchy[i]][switch_class[i]].push_back(i);
    for (const auto& [first, chips] : members) {
      const Placement on_root{-1, root_of_piece_[static_cast<std::size_t>(first)], "", "", by_matrix};
      const bool several = chips.size() > 1;
      const int top = several ? add_switch(on_root, "", {}) : -1;
      const int at_top = several ? only_single_gpu(chips) : -1;
      for (const auto& [chip_class, pieces] : chips) {
        // A single device that is PIX to nobody needs a switch only to be PXB to its neighbours. One of them
        // may hang on the upper switch: a GPU that has no equal.
        const bool own_switch =
            pieces.size() > 1 || (several && chip_class != at_top && pieces_.all[pieces.front()].is_device());
        Placement below_top = on_root;
        below_top.above = top;
        const int above = own_switch ? add_switch(below_top, "", {}) : top;
        for (const std::size_t piece : pieces) place_piece(piece, above);
      }
    }
  }

  /// All below the tops of pieces.
  void place_rest_of_tree() {
    for (std::size_t i = 0; i < tree_.switches.size(); ++i) {
      const TreeSwitch& chip = tree_.switches[i];
      const auto above = switch_number_.find(chip.above);
      if (chip.above < 0 || above == switch_number_.end()) continue;
      const int root = layout_.switches[static_cast<std::size_t>(above->second)].place.root;
      switch_number_[static_cast<int>(i)] =
          add_switch({above->second, root, chip.port, chip.from, by_matrix}, chip.bdf, chip.ports);
    }
    for (std::size_t item = 0; item < tree_.leaves.size(); ++item) {
      const TreeLeaf& leaf = tree_.leaves[item];
      if (leaf.above >= 0) {
        const int above = switch_number_.at(leaf.above);
        const bool hung = hung_.count(static_cast<int>(item)) != 0;
        leaves_[static_cast<int>(item)] = {above,
                                           layout_.switches[static_cast<std::size_t>(above)].place.root,
                                           leaf.port, hung ? "" : leaf.from, by_matrix};
      }
      layout_.leaves.push_back(leaves_[static_cast<int>(item)]);
    }
  }

  /// Roots and switches in the order of the first item below, so that names follow the GPUs.
  void order_nodes() {
    std::vector<int> root_order, switch_order;
    std::vector<bool> root_seen(layout_.roots.size()), switch_seen(layout_.switches.size());
    for (const Placement& leaf : layout_.leaves) {
      std::vector<int> chain;
      for (int at = leaf.above; at >= 0 && !switch_seen[static_cast<std::size_t>(at)];
           at = layout_.switches[static_cast<std::size_t>(at)].place.above) {
        switch_seen[static_cast<std::size_t>(at)] = true;
        chain.push_back(at);
      }
      switch_order.insert(switch_order.end(), chain.rbegin(), chain.rend());
      if (!root_seen[static_cast<std::size_t>(leaf.root)]) root_order.push_back(leaf.root);
      root_seen[static_cast<std::size_t>(leaf.root)] = true;
    }
    renumber(root_order, switch_order);
  }

  void renumber(const std::vector<int>& root_order, const std::vector<int>& switch_order) {
    std::vector<int> new_root(layout_.roots.size(), -1), new_switch(layout_.switches.size(), -1);
    Layout ordered;
    for (const int root : root_order) {
      new_root[static_cast<std::size_t>(root)] = static_cast<int>(ordered.roots.size());
      ordered.roots.push_back(std::move(layout_.roots[static_cast<std::size_t>(root)]));
    }
    for (const int chip : switch_order) {
      new_switch[static_cast<std::size_t>(chip)] = static_cast<int>(ordered.switches.size());
      ordered.switches.push_back(std::move(layout_.switches[static_cast<std::size_t>(chip)]));
    }
    const auto move = [&](Placement& place) {
      if (place.above >= 0) place.above = new_switch[static_cast<std::size_t>(place.above)];
      place.root = new_root[static_cast<std::size_t>(place.root)];
    };
    for (LayoutSwitch& chip : ordered.switches) move(chip.place);
    for (Placement& leaf : layout_.leaves) move(leaf);
    ordered.leaves = std::move(layout_.leaves);
    ordered.cpus = std::move(layout_.cpus);
    layout_ = std::move(ordered);
  }

  const MachineFacts& facts_;
  const Items& items_;
  const MatrixCells& cells_;
  PciTree tree_;
  std::map<int, std::string> hung_;
  Pieces pieces_;
  DistanceClasses classes_;
  OriginBook& book_;
  std::set<int> voted_;  // pieces that a matrix speaks of
  std::vector<bool> movable_;
  std::vector<int> root_of_piece_;
  std::map<int, int> switch_number_;  // of the tree -> of the layout
  std::map<int, Placement> leaves_;
  Layout layout_;
};

}  // namespace

Layout machine_layout(const MachineFacts& facts, const Items& items, const MatrixCells& cells,
                      const PciTree& tree, OriginBook& book) {
  return LayoutBuilder(facts, items, cells, tree, book).build();
}

}  // namespace lanecast
