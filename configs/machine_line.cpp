#include "configs/machine_line.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "configs/line_caret.hpp"
#include "configs/problem_list.hpp"
#include "configs/quantity.hpp"
#include "configs/reading.hpp"

namespace lanecast {
namespace {

constexpr std::size_t max_line_bytes = 4096;
constexpr int max_levels = 32;
constexpr int max_count = 4096;    // check_machine's limit of nodes of a kind
constexpr int max_nvlinks = 1024;  // check_machine's limit of bonded links

struct Word {
  const char* text;
  LineWord word;
};
constexpr std::array<Word, 6> words{{{"socket", LineWord::socket},
                                     {"cpu", LineWord::cpu},
                                     {"root", LineWord::root},
                                     {"sw", LineWord::pcie_switch},
                                     {"gpu", LineWord::gpu},
                                     {"nic", LineWord::nic}}};

const char* name_of(LineWord word) {
  for (const Word& each : words) {
    if (each.word == word) return each.text;
  }
  return "(";
}

/// Sockets, CPUs and PCIe parts don't stand beside each other.
enum class Level { socket, cpu, pcie };

Level level_of(LineWord word) {
  return word == LineWord::socket ? Level::socket : word == LineWord::cpu ? Level::cpu : Level::pcie;
}

bool may_stand_in(LineWord part, LineWord holder) {
  switch (holder) {
    case LineWord::group:  // the top
      return true;
    case LineWord::socket:
      return part != LineWord::socket;
    case LineWord::cpu:
      return part != LineWord::socket && part != LineWord::cpu;
    case LineWord::root:
    case LineWord::pcie_switch:
      return level_of(part) == Level::pcie && part != LineWord::root;
    case LineWord::gpu:
    case LineWord::nic:
      break;
  }
  return false;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

class LineParser {
 public:
  explicit LineParser(const std::string& line) : line_(line) {}

  MachineLine parse();

 private:
  // Characters
  bool at_end() const { return at_ == line_.size(); }
  char peek() const { return at_end() ? '\0' : line_[at_]; }
  bool take(char c) {
    if (peek() != c || at_end()) return false;
    ++at_;
    return true;
  }
  bool take(std::string_view text) {
    if (std::string_view(line_).substr(at_, text.size()) != text) return false;
    at_ += text.size();
    return true;
  }
  void skip_blanks() {
    while (peek() == ' ') ++at_;
  }
  std::string letters() {
    const std::size_t start = at_;
    while (is_letter(peek())) ++at_;
    return line_.substr(start, at_ - start);
  }
  [[noreturn]] void fail(std::size_t at, const std::string& what, const std::string& mend) const {
    fail_at(line_, at, what, mend);
  }

  // Grammar
  int number(int least, int most, const char* what);
  std::vector<LineItem> items(LineWord holder, std::optional<Level>& level, int depth);
  LineItem item(LineWord holder, std::optional<Level>& level, int depth);
  void part(LineItem& item, LineWord holder, std::optional<Level>& level, int depth);
  LineWord word(LineWord holder, std::optional<Level>& level);
  void bracket(LineItem& item);
  void flags(LineItem& item);
  void close_group(LineItem& item);
  LineSpeed speed();
  void speed_parts(std::optional<PcieRate>& rate, std::optional<int>& width);
  void attributes(MachineLine& machine);
  void attribute(MachineLine& machine);
  void nvlinks(MachineLine& machine, LineNvlinks kind, std::size_t start);
  void peer_access(MachineLine& machine, std::size_t start);
  BytesPerSecond rate(const char* example);

  const std::string& line_;
  std::size_t at_ = 0;
};

int LineParser::number(int least, int most, const char* what) {
  const std::size_t start = at_;
  while (is_digit(peek())) ++at_;
  int value = 0;
  const auto [end, failed] = std::from_chars(line_.data() + start, line_.data() + at_, value);
  if (start == at_) fail(start, std::string(what) + " is missing", "write a number");
  if (failed == std::errc() && value >= least && value <= most) return value;
  fail(start, std::string(what) + " is " + printable(line_.substr(start, at_ - start)),
       "take " + std::to_string(least) + " to " + std::to_string(most));
}

MachineLine LineParser::parse() {
  if (line_.size() > max_line_bytes) {
    fail(max_line_bytes,
         "a one-line machine has " + std::to_string(line_.size()) + " bytes; at most 4096 are read",
         "repeat parts by `Nx(...)`, or write a machine file");
  }
  MachineLine machine;
  std::optional<Level> level;
  machine.items = items(LineWord::group, level, 0);
  attributes(machine);
  return machine;
}

std::vector<LineItem> LineParser::items(LineWord holder, std::optional<Level>& level, int depth) {
  std::vector<LineItem> list;
  do {
    list.push_back(item(holder, level, depth));
    skip_blanks();
  } while (take(','));
  return list;
}

LineItem LineParser::item(LineWord holder, std::optional<Level>& level, int depth) {
  skip_blanks();
  if (depth > max_levels) fail(at_, "parts are nested more than 32 levels deep", "nest them less");
  LineItem item;
  item.at = at_;
  if (is_digit(peek())) {
    item.count = number(1, max_count, "how many");
    skip_blanks();
    if (!take('x'))
      fail(at_, "an `x` is missing between a number and what it counts", "write it like `4xgpu`");
    skip_blanks();
  }
  if (take('(')) {
    item.items = items(holder, level, depth + 1);
    skip_blanks();
    close_group(item);
  } else {
    part(item, holder, level, depth);
  }
  return item;
}

void LineParser::part(LineItem& item, LineWord holder, std::optional<Level>& level, int depth) {
  item.word = word(holder, level);
  const std::string name = name_of(item.word);
  bracket(item);
  flags(item);
  skip_blanks();
  const std::size_t start = at_;
  if (take('@')) {
    if (level_of(item.word) != Level::pcie || item.word == LineWord::root) {
      fail(start, "a `" + name + "` has no PCIe link of its own",
           "put the `@` behind a switch, GPU or network adapter, or behind a `)` for all that stand inside");
    }
    item.own = speed();
  }
  skip_blanks();
  const bool holds = item.word != LineWord::gpu && item.word != LineWord::nic;
  if (!holds && (peek() == ':' || peek() == '(')) {
    fail(at_, "nothing can stand below a `" + name + "`", "put a `,` between parts that stand side by side");
  }
  std::optional<Level> inner;
  if (take(':')) {
    item.items = {this->item(item.word, inner, depth + 1)};
  } else if (take('(')) {
    item.items = items(item.word, inner, depth + 1);
    skip_blanks();
    close_group(item);
  }
}

void LineParser::close_group(LineItem& item) {
  if (!take(')')) fail(at_, "a `)` is missing", "close the parenthesis, or put a `,` between parts");
  skip_blanks();
  if (take('@')) item.inside = speed();
}

LineWord LineParser::word(LineWord holder, std::optional<Level>& level) {
  const std::size_t start = at_;
  const std::string text = letters();
  const auto* found =
      std::find_if(words.begin(), words.end(), [&](const Word& each) { return text == each.text; });
  if (found == words.end()) {
    std::vector<std::string> names;
    for (const Word& each : words) names.emplace_back(each.text);
    const std::string near = nearest(text, names);
    fail(start, text.empty() ? "a part is missing" : "there is no part `" + printable(text) + "`",
         near.empty() ? "the parts are " + listed(names) : "did you mean `" + near + "`?");
  }
  const std::string name = found->text;
  if (!may_stand_in(found->word, holder)) {
    fail(start, "a `" + name + "` cannot stand in a `" + name_of(holder) + "`",
         "sockets hold CPUs, these root complexes, these switches, GPUs and network adapters");
  }
  if (level && *level != level_of(found->word)) {
    fail(start, "a `" + name + "` stands beside parts of another level",
         "put all GPUs, network adapters, switches and roots into a `cpu(...)`, or none");
  }
  level = level_of(found->word);
  return found->word;
}

void LineParser::bracket(LineItem& item) {
  const std::size_t start = at_;
  if (!take('[')) return;
  if (item.word == LineWord::root) fail(start, "a `root` has no model", "leave the brackets out");
  const std::size_t close = line_.find(']', at_);
  if (close == std::string::npos) fail(start, "a `]` is missing", "close the bracket behind the model");
  std::string text = line_.substr(at_, close - at_);
  const bool clean = std::all_of(text.begin(), text.end(),
                                 [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f; });
  if (!clean || text.empty()) {
    fail(start, text.empty() ? "the brackets are empty" : "the brackets hold control characters",
         "write the model as its vendor prints it");
  }
  if (item.word == LineWord::nic) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string port = text.substr(0, comma);
    const Reading<BytesPerSecond> rate = port.empty() || port.back() != 'G'
                                             ? Complaint{}
                                             : parse_rate(port.substr(0, port.size() - 1) + " Gbit/s");
    if (!rate)
      fail(at_, "`" + printable(port) + "` is no rate of a network port", "write it like `nic[200G]`");
    item.rate = *rate.value;
    item.model = comma == text.size() ? "" : text.substr(comma + 1);
  } else {
    const std::size_t comma = text.rfind(",sm");
    const bool bare = item.word == LineWord::gpu && text.compare(0, 2, "sm") == 0;
    const std::size_t digits = bare ? 2 : comma == std::string::npos ? text.size() : comma + 3;
    const Reading<int> sm = parse_integer(text.substr(std::min(digits, text.size())));
    if (item.word == LineWord::gpu && digits < text.size() && sm && *sm.value <= 999) {
      item.sm = *sm.value;
      text.resize(bare ? 0 : comma);
    }
    item.model = text;
  }
  at_ = close + 1;
}

void LineParser::flags(LineItem& item) {
  while (peek() == '+') {
    const std::size_t start = at_++;
    const std::string flag = letters();
    if (flag != "acs" || item.word != LineWord::pcie_switch) {
      fail(start, "`+" + flag + "` says nothing about a `" + name_of(item.word) + "`",
           "the only such word is `sw+acs`, a switch with ACS redirect");
    }
    item.acs = true;
  }
}

LineSpeed LineParser::speed() {
  LineSpeed speed;
  speed.at = at_;
  speed_parts(speed.rate, speed.width);
  if (take('/')) speed_parts(speed.max_rate, speed.max_width);
  return speed;
}

void LineParser::speed_parts(std::optional<PcieRate>& rate, std::optional<int>& width) {
  const std::size_t start = at_;
  if (take("gen")) {
    rate = pcie_rate_from_string("gen" + std::string(1, peek()));
    if (!rate) fail(at_, "there is no such generation of PCIe", "write `gen1` to `gen6`");
    ++at_;
  }
  const std::size_t lanes = at_;
  if (take('x')) {
    width = number(0, max_count, "the width of a link");
    if (!is_pcie_width(*width)) {
      fail(lanes, "there is no PCIe link of x" + std::to_string(*width), "take x1, x2, x4, x8, x12 or x16");
    }
  }
  if (at_ == start) {
    fail(start, "a generation and a width of PCIe are missing", "write it like `gen4x16`, `gen4` or `x8`");
  }
}

void LineParser::attributes(MachineLine& machine) {
  skip_blanks();
  while (!at_end()) {
    attribute(machine);
    if (!at_end() && peek() != ' ') {
      fail(at_, "this is not part of a one-line machine", "put a blank before what follows");
    }
    skip_blanks();
  }
}

void LineParser::attribute(MachineLine& machine) {
  const std::size_t start = at_;
  if (take('~')) {
    if (machine.socket_rate) fail(start, "the rate between sockets is given twice", "give it once");
    machine.socket_rate = rate("~20GB/s");
  } else if (take("nvswitch")) {
    nvlinks(machine, LineNvlinks::to_switch, start);
  } else if (take("nvlink")) {
    nvlinks(machine, LineNvlinks::all_pairs, start);
  } else if (take("nvpairs")) {
    nvlinks(machine, LineNvlinks::neighbours, start);
  } else if (take("p2p=")) {
    peer_access(machine, start);
  } else if (take("iommu")) {
    machine.p2p.iommu = true;
  } else {
    fail(
        start, "this is not part of a one-line machine",
        "behind the parts stand `nvswitch18`, `nvlink4`, `nvpairs4`, `~20GB/s`, `p2p=off` or `iommu`, with a "
        "blank before each");
  }
}

void LineParser::nvlinks(MachineLine& machine, LineNvlinks kind, std::size_t start) {
  if (machine.nvlinks != LineNvlinks::none) fail(start, "NVLinks are given twice", "give them once");
  machine.nvlinks = kind;
  machine.nvlinks_at = start;
  machine.nvlink_count = number(1, max_nvlinks, "how many NVLinks");
  if (take('@')) machine.nvlink_rate = rate("nvlink4@25GB/s");
}

void LineParser::peer_access(MachineLine& machine, std::size_t start) {
  if (machine.p2p.level || !machine.p2p.enabled) fail(start, "`p2p` is given twice", "give it once");
  const std::size_t place = at_;
  const std::string text = letters();
  if (text == "off") {
    machine.p2p.enabled = false;
    return;
  }
  machine.p2p.level = distance_from_string(text);
  if (machine.p2p.level) return;
  fail(place, "`" + printable(text) + "` is no level of peer access",
       "take `off`, or one of `LOC`, `NVL`, `PIX`, `PXB`, `PHB`, `NODE` and `SYS`");
}

BytesPerSecond LineParser::rate(const char* example) {
  const std::size_t start = at_;
  while (!at_end() && peek() != ' ') ++at_;
  const std::string text = line_.substr(start, at_ - start);
  const Reading<BytesPerSecond> value = parse_rate(text);
  if (!value || value.value->value() < 1e3 || value.value->value() > 1e15) {
    fail(start, "`" + printable(text) + "` is no rate between 1 kB/s and 1 PB/s",
         std::string("write it without blanks, like `") + example + "`");
  }
  return *value.value;
}

}  // namespace

MachineLine parse_machine_line(const std::string& line) { return LineParser(line).parse(); }

}  // namespace lanecast
