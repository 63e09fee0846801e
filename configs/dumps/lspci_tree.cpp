#include <vector>

#include "configs/dumps/lspci_names.hpp"
#include "configs/dumps/lspci_text.hpp"
#include "configs/dumps/lspci_tree_line.hpp"
#include "configs/dumps/readers.hpp"

namespace lanecast {
namespace {

constexpr std::uint32_t bridge_class = 0x060400;
constexpr std::size_t function_length = 4;  // "01.0"

/// A bus of the tree, and what is known of the way to it.
struct Bus {
  std::string domain = "0000";
  std::optional<unsigned> number;
  bool is_root = false;
  std::string bridge;  // right above; "" unknown
  std::string above;   // the nearest known bridge above; "" unknown
  std::string root;    // "0000:20"; "" unknown
};

std::string two_digits(unsigned number) {
  constexpr const char* hex = "0123456789abcdef";
  return {hex[(number >> 4) & 15], hex[number & 15]};
}

/// Follows the columns of the lines. A line that branches off at a column belongs to the bus whose first
/// function branched off there; trunks (`|`) show which of the buses to the left have more to come.
/// Source: facts.md F2; pciutils 2.2 to 3.10.
class TreeReader {
 public:
  TreeReader(const std::string& file, MachineFacts& facts) : file_(file), facts_(facts), notes_(facts) {}

  void take(const TreeLines::Line& line) {
    columns_ = line.columns;
    line_ = line.number;
    whole_ = line.whole;
    const std::size_t begin = *tree_begin(columns_);
    const char first = columns_[begin];
    if (first == '-') {
      branches_.clear();
      walk_children(begin, Bus());
    } else if (first == '+' || first == '\\') {
      take_branch(begin);
    } else {
      take_part(begin);
    }
  }

  int items() const { return items_; }

 private:
  struct Branch {
    std::size_t column = 0;
    Bus bus;
    bool open = true;  // more functions follow: the trunk goes on
  };

  /// Forgets what a column to the left of `column` does not continue: lines between are lost.
  void drop_broken_trunks(std::size_t column) {
    std::size_t kept = 0;
    while (kept < branches_.size() && branches_[kept].column < column) {
      if (columns_[branches_[kept].column] != (branches_[kept].open ? '|' : ' ')) break;
      ++kept;
    }
    if (kept < branches_.size() && branches_[kept].column < column) branches_.resize(kept);
  }

  void take_branch(std::size_t column) {
    while (!branches_.empty() && branches_.back().column > column) branches_.pop_back();
    drop_broken_trunks(column);
    const bool known = !branches_.empty() && branches_.back().column == column && branches_.back().open;
    const bool open = columns_[column] == '+';
    if (known) {
      branches_.back().open = open;
      walk(column + 2, branches_.back().bus);
      return;
    }
    if (read_tree_function(columns_, column + 2)) note_gap();
    if (!branches_.empty() && branches_.back().column == column) branches_.pop_back();
    Bus unknown;
    unknown.domain = domain_;
    branches_.push_back({column, unknown, open});
    walk(column + 2, unknown);
  }

  /// A part of a tree: `0000:3a:00.0-[3b-3d]--+-...`
  void take_part(std::size_t begin) {
    branches_.clear();
    const std::size_t end = columns_.find("-[", begin);
    const std::string address = *pci_address(columns_.substr(begin, end - begin));
    Bus bus;
    bus.domain = address.substr(0, address.find(':'));
    bus.number = leading_hex(std::string_view(address).substr(bus.domain.size() + 1), 2);
    domain_ = bus.domain;
    walk(end - function_length, bus);
  }

  /// What follows a bus: nothing, one function, or the first of several, whose column others continue.
  void walk_children(std::size_t at, const Bus& bus) {
    while (at < columns_.size() && columns_[at] == '-') ++at;
    if (at >= columns_.size()) return;
    if (columns_[at] == '+' || columns_[at] == '\\') {
      if (columns_.compare(at + 1, 1, "-") != 0) return;
      branches_.push_back({at, bus, columns_[at] == '+'});
      at += 2;
    }
    walk(at, bus);
  }

  /// A function or a bus at a column, and all that follows on the line.
  void walk(std::size_t at, const Bus& bus) {
    if (const auto number = read_tree_bus(columns_, at)) {
      walk_children(number->end, bus_behind(bus, *number));
      return;
    }
    const auto function = read_tree_function(columns_, at);
    if (!function) return;
    const std::string address = address_of(bus, function->text);
    PciFacts* facts = record(address, bus);
    if (columns_.compare(function->end, 2, "--") == 0) {
      walk_children(function->end, below(bus, address, std::nullopt));  // a bridge that has no bus yet
    } else if (const auto range = read_tree_range(columns_, function->end)) {
      if (facts != nullptr) record_bridge(*facts, *range);
      walk_children(range->end, below(bus, address, range->first));
    } else if (facts != nullptr && columns_.compare(function->end, 1, " ") == 0) {
      record_name(*facts, std::string_view(columns_).substr(function->end));
    }
  }

  Bus below(const Bus& bus, const std::string& address, std::optional<unsigned> number) const {
    Bus next = bus;
    next.number = number == 0u ? std::nullopt : number;
    next.is_root = false;
    next.bridge = address;
    if (!address.empty()) next.above = address;
    return next;
  }

  /// A bus that stands in brackets of its own: a root bus; or one within a bridge's range whose own bridge
  /// `lspci` could not find.
  Bus bus_behind(const Bus& bus, const TreeBus& number) {
    Bus next = bus;
    if (!number.domain.empty()) {
      const auto address = pci_address(number.domain + ":00:00.0");
      if (address) next.domain = address->substr(0, address->find(':'));
    }
    if (bus.above.empty()) {
      next.is_root = true;
      next.root = next.domain + ":" + two_digits(number.number);
      domain_ = next.domain;
    } else if (bus.number != number.number) {
      next.bridge.clear();
    }
    next.number = number.number;
    return next;
  }

  static std::string address_of(const Bus& bus, std::string_view function) {
    if (!bus.number) return "";
    const auto address =
        pci_address(bus.domain + ":" + two_digits(*bus.number) + ":" + std::string(function));
    return address.value_or("");
  }

  PciFacts* record(const std::string& address, const Bus& bus) {
    if (address.empty()) return nullptr;
    PciFacts* facts = device_facts(facts_, address);
    if (facts == nullptr) return nullptr;
    ++items_;
    const Place place{file_, line_};
    if (bus.is_root) {
      state(facts->parent, std::string(), place, "lspci -t");
    } else if (!bus.bridge.empty()) {
      state(facts->parent, bus.bridge, place, "lspci -t");
    } else if (!bus.above.empty()) {
      state(facts->ancestor, bus.above, place, "lspci -t");
    }
    if (!bus.root.empty()) state(facts->root_bus, bus.root, place, "lspci -t");
    return facts;
  }

  void record_bridge(PciFacts& facts, const TreeRange& range) {
    const Place place{file_, line_};
    state(facts.class_code, bridge_class, place, "lspci -t, a bridge");
    if (range.first == 0 || range.first > range.last) return;
    state(facts.secondary_bus, static_cast<int>(range.first), place, "lspci -t");
    state(facts.subordinate_bus, static_cast<int>(range.last), place, "lspci -t");
  }

  void record_name(PciFacts& facts, std::string_view text) {
    const Place place{file_, line_};
    if (text.find("(rev ff)") != std::string_view::npos) {
      state(facts.present, false, place, "lspci -tv");
      return;
    }
    const PciName name = read_pci_name(text, whole_);
    state_name(facts, name, place, "lspci -tv");
    if (name.class_by_name && !name.gone) {
      state(facts.class_code, *name.class_by_name, place, "lspci -tv, by its name");
    }
  }

  void note_gap() {
    if (gap_noted_) return;
    gap_noted_ = true;
    notes_.add(
        file_ + ":" + std::to_string(line_) +
        ": the tree does not continue a line above (it is cut, or its blanks are lost), so what is above "
        "this line's functions is unknown; give the whole output of `lspci -tv`, unchanged");
  }

  const std::string& file_;
  MachineFacts& facts_;
  Notes notes_;
  std::vector<Branch> branches_;
  std::string columns_;
  int line_ = 0;
  bool whole_ = true;
  std::string domain_ = "0000";  // of the last root
  bool gap_noted_ = false;
  int items_ = 0;
};

}  // namespace

int read_lspci_tree(std::string_view text, const std::string& file, MachineFacts& facts) {
  TreeReader reader(file, facts);
  TreeLines lines(text);
  while (const auto line = lines.next()) reader.take(*line);
  return reader.items();
}

}  // namespace lanecast
