#include "configs/dumps/lspci_head.hpp"

#include <algorithm>

#include "configs/dumps/facts.hpp"
#include "configs/dumps/lspci_classes.hpp"
#include "configs/dumps/lspci_text.hpp"
#include "configs/reading.hpp"

namespace lanecast {
namespace {

constexpr std::size_t longest_address = 16;  // "10000000:3b:00.0"

/// Whether words may be a class: known ones, or such that a newer database may hold.
bool is_class_text(std::string_view words) {
  constexpr std::size_t longest = 64;
  if (words.empty() || words.size() > longest) return false;
  const char first = words.front();
  if (!(first >= 'A' && first <= 'Z') && !(first >= '0' && first <= '9')) return false;
  for (const char c : words) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!letter && std::string_view(" -/()[].,").find(c) == std::string_view::npos) return false;
  }
  return true;
}

/// Without " (rev a1)", " (prog-if 00 [VGA controller])" and the begin of either at the end of a cut line.
std::string_view without_tail(std::string_view name) {
  for (const std::string_view mark : {" (rev ", " (prog-if "}) {
    name = name.substr(0, name.find(mark));
  }
  const std::size_t open = name.rfind(" (");
  if (open != std::string_view::npos) {
    const std::string_view tail = name.substr(open);
    if (std::string_view(" (rev ").starts_with(tail) || std::string_view(" (prog-if ").starts_with(tail))
      name = name.substr(0, open);
  }
  return name;
}

}  // namespace

std::optional<LspciHead> read_lspci_head(std::string_view line) {
  if (line.empty() || !is_hex_digit(line.front())) return std::nullopt;
  const std::size_t blank = line.substr(0, longest_address + 1).find_first_of(" \t");
  if (blank == std::string_view::npos) return std::nullopt;
  const auto address = pci_address(std::string(line.substr(0, blank)));
  if (!address) return std::nullopt;
  const std::string_view rest = trimmed(line.substr(blank));
  std::size_t colon = rest.find(": ");
  if (colon == std::string_view::npos && !rest.empty() && rest.back() == ':') colon = rest.size() - 1;
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view words = rest.substr(0, colon);
  LspciHead head;
  head.address = *address;
  head.class_code = pci_class_of(words);
  if (!head.class_code && !is_class_text(words)) return std::nullopt;
  const std::string_view name = trimmed(rest.substr(colon + 1));
  head.all_ones = has(name, "(rev ff)");
  head.name = without_tail(name);
  return head;
}

std::string asked_function(std::string_view prompt) {
  constexpr std::string_view separators = " \t|;'\"`";
  auto rest = after(prompt, "lspci ");
  bool slot_follows = false;
  while (rest) {
    const std::size_t begin = rest->find_first_not_of(separators);
    if (begin == std::string_view::npos) break;
    const std::size_t end = std::min(rest->find_first_of(separators, begin), rest->size());
    const std::string_view word = rest->substr(begin, end - begin);
    rest = rest->substr(end);
    const bool short_option = word.starts_with("-s");
    if (word.size() <= longest_address + 2 && (slot_follows || short_option)) {
      if (const auto address = pci_address(std::string(word.substr(slot_follows ? 0 : 2)))) return *address;
    }
    slot_follows = word.front() == '-' && word.back() == 's';
  }
  return "";
}

}  // namespace lanecast
