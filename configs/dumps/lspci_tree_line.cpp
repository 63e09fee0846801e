#include "configs/dumps/lspci_tree_line.hpp"

#include <algorithm>
#include <array>

#include "configs/reading.hpp"

namespace lanecast {
namespace {

constexpr std::size_t longest_joined = 4096;
constexpr int most_pieces = 8;

struct BoxRow {
  std::string_view bytes;
  char column;
};

constexpr std::array<BoxRow, 16> boxes{{
    {"\u2500", '-'},
    {"\u2501", '-'},
    {"\u2574", '-'},
    {"\u2576", '-'},
    {"\u2502", '|'},
    {"\u2503", '|'},
    {"\u251c", '+'},
    {"\u2523", '+'},
    {"\u252c", '+'},
    {"\u2533", '+'},
    {"\u253c", '+'},
    {"\u2514", '\\'},
    {"\u2517", '\\'},
    {"\u2570", '\\'},
    {"\u00a0", ' '},
    {"\u2010", '-'},
}};

bool is_lead_byte(char c) { return c == '\xe2' || c == '\xc2'; }

char at_or_end(std::string_view text, std::size_t at) { return at < text.size() ? text[at] : '\0'; }

/// Whether a function, a bus, or a part of one at the end of the line stands at a column.
bool is_item(std::string_view columns, std::size_t at) {
  const std::string_view rest = columns.substr(std::min(at, columns.size()));
  if (rest.empty()) return true;
  if (rest.front() == '[') {
    return rest.find_first_not_of("[:0123456789abcdefABCDEF") == std::string_view::npos ||
           read_tree_bus(columns, at).has_value();
  }
  constexpr std::size_t length = 4;  // "01.0"
  for (std::size_t i = 0; i < std::min(length, rest.size()); ++i) {
    if (i == 2 ? rest[i] != '.' : !is_hex_digit(rest[i])) return false;
  }
  return true;
}

bool may_be_tree(std::string_view line) {
  const std::size_t at = line.find_first_not_of(" \t");
  if (at == std::string_view::npos) return false;
  return std::string_view("|-+\\").find(line[at]) != std::string_view::npos || is_lead_byte(line[at]) ||
         is_hex_digit(line[at]);
}

/// Trunks and blanks only: what hard wrapping leaves of a line that branches off far to the right.
bool is_trunk_only(std::string_view columns) {
  return columns.find('|') != std::string_view::npos &&
         columns.find_first_not_of(" |") == std::string_view::npos;
}

/// The width that lines of a tree are wrapped at; 0 where they are not.
std::size_t wrapped_width(std::string_view text) {
  constexpr std::size_t narrowest = 40;
  constexpr int least_wraps = 2;  // one may be what follows the tree
  std::size_t width = 0;
  int wraps = 0;
  std::size_t previous = 0;  // width of the line before, if it is one of a tree
  PastedLines lines(text);
  while (const auto line = lines.next()) {
    const std::string columns = may_be_tree(line->text) ? tree_columns(line->text) : std::string();
    if (!columns.empty() && tree_begin(columns)) {
      if (columns.size() > width) wraps = 0;
      width = std::max(width, columns.size());
      previous = columns.size();
      continue;
    }
    if (previous == width && !trimmed(line->text).empty()) ++wraps;
    previous = 0;
  }
  return width >= narrowest && wraps >= least_wraps ? width : 0;
}

}  // namespace

std::string tree_columns(std::string_view line) {
  constexpr std::size_t tab = 8;
  std::string columns;
  columns.reserve(line.size());
  for (std::size_t at = 0; at < line.size();) {
    if (line[at] == '\t') {
      columns.append(tab - columns.size() % tab, ' ');
      ++at;
      continue;
    }
    if (is_lead_byte(line[at])) {
      const auto box = std::find_if(boxes.begin(), boxes.end(), [&](const BoxRow& row) {
        return line.substr(at).starts_with(row.bytes);
      });
      if (box != boxes.end()) {
        columns += box->column;
        at += box->bytes.size();
        continue;
      }
    }
    columns += line[at++];
  }
  return columns;
}

std::optional<std::size_t> tree_begin(std::string_view columns) {
  const std::size_t at = columns.find_first_not_of(" |");
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = columns.substr(at);
  const bool branch = rest.starts_with("+-") || rest.starts_with("\\-");
  if (branch) return is_item(columns, at + 2) ? std::optional<std::size_t>(at) : std::nullopt;
  if (columns.find('|') < at) return std::nullopt;
  const bool branched_root = rest.starts_with("-+-[") || rest.starts_with("-\\-[");
  if (branched_root || rest.starts_with("-[")) {
    return is_item(columns, at + (branched_root ? 3 : 1)) ? std::optional<std::size_t>(at) : std::nullopt;
  }
  constexpr std::size_t longest_address = 16;  // "10000000:3b:00.0"
  const std::size_t bracket = rest.substr(0, longest_address + 2).find("-[");
  if (is_hex_digit(rest.front()) && bracket != std::string_view::npos &&
      pci_address(std::string(rest.substr(0, bracket)))) {
    return at;
  }
  return std::nullopt;
}

bool is_unfinished(std::string_view columns) {
  const auto opened = std::count(columns.begin(), columns.end(), '[');
  const auto closed = std::count(columns.begin(), columns.end(), ']');
  if (opened > closed) return true;
  const std::size_t begin = std::min(columns.find_first_not_of(" |"), columns.size());
  if (columns.find(' ', begin) != std::string_view::npos) return false;  // a name follows: any text
  const std::size_t dash = columns.rfind('-');
  if (dash == std::string_view::npos) return false;
  const std::string_view tail = columns.substr(dash + 1);
  if (tail.empty()) return dash > 0 && (columns[dash - 1] == '+' || columns[dash - 1] == '\\');
  return tail.size() < 4 && is_hex_digit(tail.front());
}

TreeLines::TreeLines(std::string_view text) : lines_(text), width_(wrapped_width(text)) {}

bool TreeLines::continues(const std::string& columns) const {
  if (!pending_ || pieces_ >= most_pieces || columns.empty() ||
      pending_->columns.size() + columns.size() > longest_joined) {
    return false;
  }
  if (is_trunk_only(pending_->columns)) return true;
  if (tree_begin(columns)) return false;
  if (width_ > 0 && last_piece_ == width_) return true;
  if (!is_unfinished(pending_->columns)) return false;
  const std::size_t closing = columns.find(']');
  return closing != std::string::npos && closing < columns.find('[');
}

std::optional<TreeLines::Line> TreeLines::take() {
  std::optional<Line> line = std::move(pending_);
  pending_.reset();
  if (line && !tree_begin(line->columns)) return std::nullopt;
  return line;
}

std::optional<TreeLines::Line> TreeLines::next() {
  while (const auto line = lines_.next()) {
    const bool candidate = may_be_tree(line->text);
    if (!candidate && !pending_) continue;
    const std::string columns = tree_columns(line->text);
    if (continues(columns)) {
      const bool soft = last_piece_ != width_ && pending_->columns.find("  ") != std::string::npos;
      pending_->columns += soft ? " " + columns : columns;
      pending_->whole = line->whole;
      last_piece_ = columns.size();
      ++pieces_;
      continue;
    }
    std::optional<Line> done = take();
    const bool begins_line =
        candidate &&
        (tree_begin(columns) || (width_ > 0 && columns.size() == width_ && is_trunk_only(columns)));
    if (begins_line) {
      pending_ = Line{columns, line->number, line->whole};
      last_piece_ = columns.size();
      pieces_ = 1;
    }
    if (done) return done;
  }
  return take();
}

std::optional<TreeBus> read_tree_bus(std::string_view columns, std::size_t at) {
  constexpr std::size_t most_digits = 8;  // of a domain
  if (at_or_end(columns, at) != '[') return std::nullopt;
  std::size_t end = at + 1;
  while (is_hex_digit(at_or_end(columns, end)) && end <= at + most_digits) ++end;
  TreeBus bus;
  if (at_or_end(columns, end) == ':') {
    bus.domain = columns.substr(at + 1, end - at - 1);
    if (bus.domain.size() < 4) return std::nullopt;
    at = end;
  }
  const auto number = leading_hex(columns.substr(at + 1), 2);
  if (!number || at_or_end(columns, at + 3) != ']') return std::nullopt;
  bus.number = *number;
  bus.end = at + 4;
  return bus;
}

std::optional<TreeFunction> read_tree_function(std::string_view columns, std::size_t at) {
  constexpr std::size_t length = 4;  // "01.0"
  if (at + length > columns.size()) return std::nullopt;
  const std::string_view text = columns.substr(at, length);
  const bool device = (text[0] == '0' || text[0] == '1') && is_hex_digit(text[1]);
  if (!device || text[2] != '.' || text[3] < '0' || text[3] > '7') return std::nullopt;
  const char next = at_or_end(columns, at + length);
  if (next != '\0' && next != ' ' && next != '-') return std::nullopt;
  return TreeFunction{text, at + length};
}

std::optional<TreeRange> read_tree_range(std::string_view columns, std::size_t at) {
  if (!columns.substr(std::min(at, columns.size())).starts_with("-[")) return std::nullopt;
  const auto first = leading_hex(columns.substr(at + 2), 2);
  if (!first) return std::nullopt;
  TreeRange range{*first, *first, at + 5};
  if (at_or_end(columns, at + 4) == '-') {
    const auto last = leading_hex(columns.substr(at + 5), 2);
    if (!last) return std::nullopt;
    range = {*first, *last, at + 8};
  }
  if (at_or_end(columns, range.end - 1) != ']') return std::nullopt;
  return range;
}

}  // namespace lanecast
