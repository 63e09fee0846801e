#include "configs/line_caret.hpp"

#include <algorithm>
#include <vector>

#include "model/error.hpp"

namespace lanecast {
namespace {

/// Characters as they are shown, one an entry; control characters as `\xNN`.
std::vector<std::string> shown_characters(const std::string& text) {
  constexpr const char* hex = "0123456789abcdef";
  std::vector<std::string> characters;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      for (const char shown : {'\\', 'x', hex[byte >> 4], hex[byte & 15]}) characters.emplace_back(1, shown);
    } else if ((byte & 0xc0U) == 0x80U && !characters.empty()) {
      characters.back() += c;
    } else {
      characters.emplace_back(1, c);
    }
  }
  return characters;
}

std::string joined(const std::vector<std::string>& characters, std::size_t from, std::size_t to) {
  std::string text;
  for (std::size_t i = from; i < to; ++i) text += characters[i];
  return text;
}

}  // namespace

void fail_at(const std::string& line, std::size_t at, const std::string& what, const std::string& mend) {
  constexpr std::size_t most_before = 60, most_after = 40;
  constexpr std::size_t indent = 5;  // an Error's place stands behind "  at "
  const std::vector<std::string> before = shown_characters(line.substr(0, at));
  const std::vector<std::string> after = shown_characters(line.substr(std::min(at, line.size())));
  const std::size_t skipped = before.size() > most_before ? before.size() - most_before : 0;
  const std::string dots = skipped > 0 ? "..." : "";
  const std::size_t kept = std::min(after.size(), most_after);
  throw Error(ErrorKind::usage, what,
              dots + joined(before, skipped, before.size()) + joined(after, 0, kept) +
                  (kept < after.size() ? "..." : "") + "\n" +
                  std::string(indent + dots.size() + before.size() - skipped, ' ') + "^",
              mend);
}

}  // namespace lanecast
