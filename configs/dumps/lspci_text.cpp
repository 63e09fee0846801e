#include "configs/dumps/lspci_text.hpp"

#include <algorithm>
#include <charconv>

namespace lanecast {
namespace {

constexpr std::size_t longest_line = 4096;
constexpr std::size_t longest_name = 160;
constexpr std::size_t most_devices = 65536;
constexpr int most_notes = 16;

/// Without the `> ` that mail and Markdown put before quoted lines. The blank after it goes too: the columns
/// of a quoted tree then are those of the tree.
std::string_view without_quotation(std::string_view line) {
  while (!line.empty() && line.front() == '>') {
    line.remove_prefix(1);
    if (!line.empty() && line.front() == ' ') line.remove_prefix(1);
  }
  return line;
}

}  // namespace

std::optional<PastedLine> PastedLines::next() {
  if (rest_.empty()) return std::nullopt;
  PastedLine line;
  line.number = ++number_;
  const std::size_t end = rest_.find('\n');
  line.whole = end != std::string_view::npos;
  line.text = rest_.substr(0, end);
  rest_.remove_prefix(line.whole ? end + 1 : rest_.size());
  if (line.text.size() > longest_line) {
    line.text = line.text.substr(0, longest_line);
    line.whole = false;
  }
  while (!line.text.empty() && line.text.back() == '\r') line.text.remove_suffix(1);
  line.text = without_quotation(line.text);
  return line;
}

std::string Place::with(std::string_view what) const {
  return file + ":" + std::to_string(line) + " (" + std::string(what) + ")";
}

PciFacts* device_facts(MachineFacts& facts, const std::string& address) {
  const auto known = facts.devices.find(address);
  if (known != facts.devices.end()) return &known->second;
  if (facts.devices.size() >= most_devices) return nullptr;
  return &facts.devices[address];
}

void Notes::add(const std::string& text) {
  if (added_ >= most_notes) return;
  if (std::find(facts_.notes.begin(), facts_.notes.end(), text) != facts_.notes.end()) return;
  facts_.notes.push_back(text);
  ++added_;
}

std::string plain_name(std::string_view text) {
  std::string name(text.substr(0, longest_name));
  for (char& c : name) {
    if (c < 0x20 || c > 0x7e) c = '?';
  }
  return name;
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_hex_digit(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

std::optional<std::string_view> after(std::string_view text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  return text.substr(at + mark.size());
}

std::optional<int> leading_number(std::string_view text, bool whole) {
  constexpr std::size_t most_digits = 9;
  std::size_t digits = 0;
  while (digits < text.size() && is_digit(text[digits])) ++digits;
  if (digits == 0 || digits > most_digits || (digits == text.size() && !whole)) return std::nullopt;
  int value = 0;
  std::from_chars(text.data(), text.data() + digits, value);
  return value;
}

std::optional<std::uint32_t> leading_hex(std::string_view text, std::size_t digits) {
  if (text.size() < digits) return std::nullopt;
  if (!std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(digits), is_hex_digit)) {
    return std::nullopt;
  }
  if (text.size() > digits && is_hex_digit(text[digits])) return std::nullopt;
  std::uint32_t value = 0;
  std::from_chars(text.data(), text.data() + digits, value, 16);
  return value;
}

}  // namespace lanecast
