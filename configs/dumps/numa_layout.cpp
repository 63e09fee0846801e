#include "configs/dumps/numa_layout.hpp"

#include <algorithm>

namespace lanecast {
namespace {

constexpr std::size_t most_numa_nodes = 1024;
constexpr int highest_numa_node = 65535;

/// A class of pieces that share a NUMA node.
struct NodeGroup {
  std::vector<int> pieces;
  std::optional<int> numa;
  std::string from;  // "" where a rule chose
  std::string rule;
  bool voted = false;  // a matrix speaks of it
  bool known = true;
  int cpu = -1;
};

class NumaBuilder {
 public:
  NumaBuilder(const MachineFacts& facts, const MatrixCells& cells, const Pieces& pieces,
              DistanceClasses classes, Layout& layout, OriginBook& book)
      : facts_(facts),
        cells_(cells),
        pieces_(pieces),
        classes_(std::move(classes)),
        layout_(layout),
        book_(book) {}

  void build(const std::vector<int>& root_of_piece) {
    join_classes();
    make_groups();
    number_groups();
    make_cpus();
    for (const NodeGroup& group : groups_) {
      for (const int piece : group.pieces) {
        LayoutRoot& root =
            layout_.roots[static_cast<std::size_t>(root_of_piece[static_cast<std::size_t>(piece)])];
        root.cpu = group.cpu;
        root.cpu_known = group.known;
        if (!root.cpu_from.empty()) continue;
        const Piece& own = pieces_.all[static_cast<std::size_t>(piece)];
        root.cpu_from = own.numa ? own.numa_from : group.from;
        root.cpu_rule = group.rule;
      }
    }
  }

 private:
  void join_classes() {
    std::vector<std::string> keys;
    for (const Piece& piece : pieces_.all) keys.push_back(piece.numa ? std::to_string(*piece.numa) : "");
    classes_.set_keys(keys);
    classes_.join(pieces_.votes, Distance::node);
    join_by_column();
    join_hidden();
  }

  /// The number of a class: what its devices state, else the column of a matrix.
  std::optional<int> number_of(int piece) const {
    const Piece& own = pieces_.all[static_cast<std::size_t>(piece)];
    return own.numa ? own.numa : own.hint;
  }

  /// Of two classes with the same number that no cell keeps apart.
  void join_by_column() {
    std::map<int, std::set<int>> classes_of_number;
    for (std::size_t i = 0; i < pieces_.all.size(); ++i) {
      const Piece& piece = pieces_.all[i];
      if (number_of(static_cast<int>(i)) && (piece.hint || piece.numa))
        classes_of_number[*number_of(static_cast<int>(i))].insert(static_cast<int>(i));
    }
    PairVotes votes = classes_.between(pieces_.votes);
    for (const auto& [number, members] : classes_of_number) {
      std::vector<int> seen;
      for (const int piece : members) {
        for (const int other : seen) {
          if (!kept_apart(votes, piece, other) && classes_.join_pair(piece, other))
            votes = classes_.between(pieces_.votes);
        }
        const bool known = std::any_of(seen.begin(), seen.end(),
                                       [&](int other) { return classes_.of(other) == classes_.of(piece); });
        if (!known) seen.push_back(piece);
      }
    }
  }

  bool kept_apart(const PairVotes& votes, int a, int b) const {
    const auto found = votes.find(std::minmax({classes_.of(a), classes_.of(b)}));
    return found != votes.end() && found->second.far(Distance::node) > found->second.near(Distance::node);
  }

  /// GPUs whose distance NVLink hides and whose NUMA node nobody tells: most such machines have one or two
  /// nodes, and traffic takes NVLink.
  void join_hidden() {
    for (bool changed = true; changed;) {
      changed = false;
      for (const auto& [pair, votes] : classes_.between(pieces_.votes)) {
        const auto a = number_of(pair.first), b = number_of(pair.second);
        if (votes.hidden == 0 || votes.far(Distance::node) > 0 || (a && b && *a != *b)) continue;
        if (!classes_.join_pair(pair.first, pair.second)) continue;
        changed = true;
        break;
      }
    }
  }

  void make_groups() {
    std::set<int> voted;
    for (const auto& [pair, votes] : pieces_.votes) voted.insert({pair.first, pair.second});
    std::map<int, std::size_t> of_class;
    for (std::size_t i = 0; i < pieces_.all.size(); ++i) {
      const int piece = static_cast<int>(i);
      const auto [group, is_new] = of_class.emplace(classes_.of(piece), groups_.size());
      if (is_new) groups_.emplace_back();
      NodeGroup& own = groups_[group->second];
      own.pieces.push_back(piece);
      own.voted = own.voted || voted.count(piece) != 0;
    }
  }

  /// Devices' own numbers first; a column's number only where a single group has it.
  void number_groups() {
    std::map<int, int> claims;
    for (NodeGroup& group : groups_) {
      for (const int piece : group.pieces) {
        const Piece& own = pieces_.all[static_cast<std::size_t>(piece)];
        if (!own.numa || group.numa == own.numa) continue;
        if (group.numa) {
          book_.contradict({"NUMA node below one root", std::to_string(*group.numa), group.from,
                            std::to_string(*own.numa), own.numa_from});
        } else if (taken_.insert(*own.numa).second) {
          group.numa = own.numa;
          group.from = own.numa_from;
        }
      }
      std::set<int> hints;
      for (const int piece : group.pieces) {
        if (const auto hint = pieces_.all[static_cast<std::size_t>(piece)].hint) hints.insert(*hint);
      }
      for (const int hint : hints) ++claims[hint];
    }
    for (NodeGroup& group : groups_) {
      for (const int piece : group.pieces) {
        const Piece& own = pieces_.all[static_cast<std::size_t>(piece)];
        if (group.numa || !own.hint) continue;
        if (claims[*own.hint] > 1 || taken_.count(*own.hint) != 0) {
          book_.note("the matrix puts NUMA node " + std::to_string(*own.hint) +
                     " on both sides of a SYS: the cells hold, the column does not");
          continue;
        }
        group.numa = own.hint;
        group.from = own.hint_from;
        taken_.insert(*own.hint);
      }
    }
  }

  /// NUMA nodes that dumps name, with or without a device of interest.
  std::vector<int> named_nodes() const {
    std::set<int> named;
    const auto add = [&](int node) {
      if (node >= 0 && node <= highest_numa_node && named.size() < most_numa_nodes) named.insert(node);
    };
    for (const auto& [node, cpu] : facts_.cpus) add(node);
    for (const auto& [address, device] : facts_.devices) {
      if (!device.numa.empty()) add(device.numa.all().front().value);
    }
    return {named.begin(), named.end()};
  }

  void make_cpus() {
    std::vector<int> open;
    for (const int node : named_nodes()) {
      if (taken_.count(node) == 0) open.push_back(node);
    }
    fit_into(open);
    std::stable_sort(groups_.begin(), groups_.end(), [](const NodeGroup& a, const NodeGroup& b) {
      if (a.numa.has_value() != b.numa.has_value()) return a.numa.has_value();
      return a.numa && *a.numa < *b.numa;
    });
    std::size_t next_open = 0;
    const auto add_open_below = [&](std::optional<int> limit) {
      for (; next_open < open.size() && (!limit || open[next_open] < *limit); ++next_open)
        layout_.cpus.push_back({open[next_open], "", "named by the dumps", "", ""});
    };
    for (NodeGroup& group : groups_) {
      add_open_below(group.numa);
      if (!group.numa && !group.voted) continue;
      group.cpu = static_cast<int>(layout_.cpus.size());
      layout_.cpus.push_back(cpu_of(group));
    }
    add_open_below(std::nullopt);
    place_unknown();
  }

  /// Groups that a matrix tells apart without numbers get those that other dumps name, in order.
  void fit_into(std::vector<int>& open) {
    const auto unnumbered = std::count_if(groups_.begin(), groups_.end(),
                                          [](const NodeGroup& group) { return group.voted && !group.numa; });
    if (unnumbered > static_cast<std::ptrdiff_t>(open.size())) return;
    std::size_t next = 0;
    for (NodeGroup& group : groups_) {
      if (!group.voted || group.numa) continue;
      group.numa = open[next++];
      group.rule = "NUMA nodes that only the matrix tells apart, in the order of their devices";
    }
    open.erase(open.begin(), open.begin() + static_cast<std::ptrdiff_t>(next));
  }

  LayoutCpu cpu_of(NodeGroup& group) const {
    LayoutCpu cpu;
    cpu.numa = group.numa;
    cpu.numa_from = group.from;
    cpu.numa_rule = group.rule;
    if (group.rule.empty()) group.rule = "by the distances of `nvidia-smi topo -m`";
    for (const int piece : group.pieces) {
      for (const int item : pieces_.all[static_cast<std::size_t>(piece)].leaves) {
        const auto columns = cells_.columns.find(item);
        if (columns == cells_.columns.end() || columns->second.cores.empty() || !cpu.cores.empty()) continue;
        cpu.cores = columns->second.cores;
        cpu.cores_from = columns->second.from;
      }
    }
    return cpu;
  }

  void place_unknown() {
    const bool none = layout_.cpus.empty();
    if (none) layout_.cpus.emplace_back();
    for (NodeGroup& group : groups_) {
      if (group.cpu >= 0) continue;
      group.cpu = 0;
      group.known = false;
      group.rule = none ? "no dump tells of NUMA nodes: one" : "no dump tells its NUMA node: the first";
    }
  }

  const MachineFacts& facts_;
  const MatrixCells& cells_;
  const Pieces& pieces_;
  DistanceClasses classes_;
  Layout& layout_;
  OriginBook& book_;
  std::vector<NodeGroup> groups_;
  std::set<int> taken_;
};

}  // namespace

void lay_out_numa(const MachineFacts& facts, const MatrixCells& cells, const Pieces& pieces,
                  const std::vector<int>& root_of_piece, DistanceClasses classes, Layout& layout,
                  OriginBook& book) {
  NumaBuilder(facts, cells, pieces, std::move(classes), layout, book).build(root_of_piece);
}

}  // namespace lanecast
