#include "configs/dumps/paste_lines.hpp"

#include <algorithm>

namespace lanecast {
namespace {

constexpr char escape = '\x1b';

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Length of "[4m", "[0;1m" and such at the begin of `text`; 0 for other texts.
std::size_t bare_style_length(std::string_view text) {
  if (text.empty() || text[0] != '[') return 0;
  std::size_t end = 1;
  while (end < text.size() && end < 16 && (is_digit(text[end]) || text[end] == ';')) ++end;
  return end < text.size() && text[end] == 'm' ? end + 1 : 0;
}

/// Length of the escape sequence at the begin of `text`, which begins with the escape character. ECMA-48: CSI
/// ends with a byte of 0x40 to 0x7e; OSC ends with BEL or ESC \; others have one more byte.
std::size_t escape_length(std::string_view text) {
  if (text.size() < 2) return text.size();
  std::size_t end = 2;
  if (text[1] == '[') {
    while (end < text.size() && !(text[end] >= 0x40 && text[end] <= 0x7e)) ++end;
    return std::min(end + 1, text.size());
  }
  if (text[1] == ']') {
    while (end < text.size() && text[end] != '\a' && text[end] != escape) ++end;
    if (end + 1 < text.size() && text[end] == escape && text[end + 1] == '\\') ++end;
    return std::min(end + 1, text.size());
  }
  return end;
}

/// Length of what `line` holds at its begin and a reader must not see; 0: it begins with a good character.
std::size_t clutter_length(std::string_view line) {
  if (line[0] == escape) return escape_length(line);
  if (line[0] == '^' && line.size() > 1 && line[1] == '[') return 2 + bare_style_length(line.substr(2));
  if (line[0] == '[') return bare_style_length(line);
  return static_cast<unsigned char>(line[0]) < 0x20 ? 1 : 0;
}

/// Whether clutter or a no-break space may begin with it.
bool is_doubtful(char c) {
  return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == '[' || c == '^' || c == '\xc2';
}

void clean(std::string_view line, std::string& clean_line) {
  constexpr std::string_view no_break_space = "\xc2\xa0";
  clean_line.clear();
  while (!line.empty()) {
    const auto good =
        static_cast<std::size_t>(std::find_if(line.begin(), line.end(), is_doubtful) - line.begin());
    clean_line.append(line.substr(0, good));
    line.remove_prefix(good);
    if (line.empty()) break;
    if (const std::size_t clutter = clutter_length(line)) {
      line.remove_prefix(clutter);
    } else if (line.substr(0, 2) == no_break_space) {
      clean_line += ' ';
      line.remove_prefix(2);
    } else {
      clean_line += line[0];
      line.remove_prefix(1);
    }
  }
  clean_line.erase(0, clean_line.find_first_not_of(" \t>#"));
}

}  // namespace

bool PasteLines::next() {
  if (rest_.empty()) return false;
  const std::size_t end = rest_.find('\n');
  unterminated_ = end == std::string_view::npos;
  clean(rest_.substr(0, end), text_);
  rest_.remove_prefix(unterminated_ ? rest_.size() : end + 1);
  ++number_;
  return true;
}

std::vector<std::string_view> words(std::string_view line, std::size_t most) {
  std::vector<std::string_view> found;
  while (found.size() < most) {
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos) break;
    line.remove_prefix(begin);
    const std::size_t length = std::min(line.find_first_of(" \t"), line.size());
    found.push_back(line.substr(0, length));
    line.remove_prefix(length);
  }
  return found;
}

int small_number(std::string_view text) {
  if (text.empty() || text.size() > 9) return -1;
  int number = 0;
  for (const char c : text) {
    if (!is_digit(c)) return -1;
    number = number * 10 + (c - '0');
  }
  return number;
}

}  // namespace lanecast
