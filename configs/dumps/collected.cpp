#include "configs/dumps/collected.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "configs/dumps/readers.hpp"
#include "configs/dumps/sysfs_values.hpp"
#include "configs/dumps/system_facts.hpp"
#include "configs/reading.hpp"

namespace lanecast {
namespace {

constexpr std::string_view kHead = "# lanecast topo collect, format ";
constexpr std::string_view kCommand = "# command: ";
constexpr std::string_view kCommandEnd = "# end";
constexpr std::string_view kComplete = "# complete";

bool begins_with(std::string_view text, std::string_view begin) {
  return text.substr(0, begin.size()) == begin;
}

/// 2026-11-30T06:25:03Z
bool is_time(std::string_view text) {
  constexpr std::string_view pattern = "dddd-dd-ddTdd:dd:ddZ";
  if (text.size() != pattern.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (pattern[i] == 'd' ? !digit : text[i] != pattern[i]) return false;
  }
  return true;
}

std::optional<unsigned> hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  return std::nullopt;
}

/// " 86 80 00", as `od -An -v -tx1` prints bytes.
void append_bytes(std::string_view line, std::string& bytes) {
  for (std::size_t i = 0; i + 2 < line.size() && line[i] == ' '; i += 3) {
    const auto high = hex_digit(line[i + 1]);
    const auto low = hex_digit(line[i + 2]);
    if (!high || !low) return;
    bytes += static_cast<char>(*high << 4 | *low);
  }
}

/// Goes through the lines and puts files, links and commands where they belong.
class CollectedParser {
 public:
  void line(std::string_view line, int number);
  CollectedText result();

 private:
  enum class Within { nothing, file, bytes, command };

  void head(std::string_view line);
  void remark(std::string_view line, int number);
  void open(Within within, std::string_view path, int number);
  void link(std::string_view rest, int number);
  void content(std::string_view line);
  void close();

  CollectedText text_;
  Within within_ = Within::nothing;
  std::string path_;  // or the command
  std::string content_;
  int line_ = 0;
};

void CollectedParser::head(std::string_view line) {
  std::string_view rest = line.substr(kHead.size());
  const std::size_t comma = rest.find(',');
  text_.format = whole_number(rest.substr(0, comma)).value_or(kCollectedFormat);
  const std::string time(comma == std::string_view::npos ? std::string_view()
                                                         : trimmed(rest.substr(comma + 1)));
  if (is_time(time)) text_.taken = time;
}

void CollectedParser::close() {
  if (within_ == Within::file || within_ == Within::bytes) {
    text_.files.add_file(path_, std::move(content_), line_);
  } else if (within_ == Within::command) {
    text_.commands.push_back({path_, std::move(content_), line_ + 1});
  }
  within_ = Within::nothing;
  content_.clear();
}

void CollectedParser::open(Within within, std::string_view path, int number) {
  close();
  within_ = within;
  path_ = std::string(path);
  line_ = number;
}

void CollectedParser::link(std::string_view rest, int number) {
  close();
  const std::size_t arrow = rest.find(" -> ");
  if (arrow == std::string_view::npos) return;
  text_.files.add_link(std::string(rest.substr(0, arrow)), std::string(rest.substr(arrow + 4)), number);
}

void CollectedParser::content(std::string_view line) {
  if (within_ == Within::bytes) return append_bytes(line, content_);
  if (within_ == Within::nothing) return;
  content_.append(begins_with(line, "\\") ? line.substr(1) : line);
  content_ += '\n';
}

void CollectedParser::remark(std::string_view line, int number) {
  if (begins_with(line, kCommand)) return open(Within::command, line.substr(kCommand.size()), number);
  close();
  if (line == kComplete) text_.complete = true;
}

void CollectedParser::line(std::string_view line, int number) {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  if (text_.format == 0) {  // a shell's prompt may stand before the head
    if (begins_with(line, kHead)) head(line);
    return;
  }
  const std::string_view rest = line.size() > 2 && line[1] == ' ' ? line.substr(2) : std::string_view();
  const char marker = line.empty() ? ' ' : line.front();
  if (marker == '#') return remark(line, number);
  if (marker == '@') return open(Within::file, rest, number);
  if (marker == '%') return open(Within::bytes, rest, number);
  if (marker == '>') return link(rest, number);
  if (marker == '+') {
    close();
    return text_.files.add_folder(std::string(rest), number);
  }
  content(line);
}

CollectedText CollectedParser::result() {
  // A command's reader copes with an output that ends early; a number that does is another number.
  if (within_ == Within::command) close();
  return std::move(text_);
}

using Reader = int (*)(std::string_view, const std::string&, MachineFacts&);

/// The reader of what a command prints; none for commands that the script does not run.
Reader reader_of(const std::string& command) {
  if (begins_with(command, "nvidia-smi topo -p2p")) return &read_nvidia_smi_p2p;
  if (begins_with(command, "nvidia-smi topo")) return &read_nvidia_smi_topo;
  if (begins_with(command, "nvidia-smi -q")) return &read_nvidia_smi_query;
  if (begins_with(command, "lspci")) return &read_lspci_verbose;
  return nullptr;
}

int read_command(const CommandOutput& command, const std::string& file, MachineFacts& facts) {
  const Reader reader = reader_of(command.command);
  if (reader == nullptr) {
    facts.notes.push_back(file + ":" + std::to_string(command.line - 1) + ": the output of `" +
                          printable(command.command) + "` is of no kind that is read here");
    return 0;
  }
  // Empty lines before it, so that the reader's line numbers are those of the whole file; then the command,
  // which says what some of them mean.
  const std::string before(static_cast<std::size_t>(std::max(command.line - 2, 0)), '\n');
  return reader(before + "$ " + command.command + "\n" + command.output, file, facts);
}

}  // namespace

CollectedText parse_collected(std::string_view text) {
  CollectedParser parser;
  int number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) {
      if (text == kComplete) parser.line(text, ++number);
      break;  // any other line may be cut
    }
    parser.line(text.substr(0, end), ++number);
    text.remove_prefix(end + 1);
  }
  return parser.result();
}

int read_collected(std::string_view text, const std::string& file, MachineFacts& facts) {
  const CollectedText collected = parse_collected(text);
  if (collected.format == 0) return 0;
  if (collected.format != kCollectedFormat) {
    facts.notes.push_back(file + ": it is of format " + std::to_string(collected.format) +
                          ", which this lanecast may not wholly understand; collect again with the script "
                          "that `lanecast topo collect` prints");
  }
  if (!collected.complete) {
    facts.notes.push_back(file +
                          ": it ends early, before `# complete`; run the script again and bring "
                          "back its whole output");
  }
  if (!collected.taken.empty()) facts.taken.add(collected.taken, file);
  int items = add_system_facts(collected.files, file, facts);
  for (const CommandOutput& command : collected.commands) items += read_command(command, file, facts);
  return items;
}

}  // namespace lanecast
