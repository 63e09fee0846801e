#include "configs/measured/launcher_prefix.hpp"

#include <algorithm>
#include <array>

#include "configs/reading.hpp"

namespace lanecast {
namespace {

constexpr std::size_t kLongestPrefix = 80;
constexpr std::size_t kMostWords = 512;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool of_name(char c) { return is_digit(c) || is_letter(c) || c == '.' || c == '-' || c == '_'; }

/// "[1,0]<stdout>:", "[0]": bytes of it, 0 where there is none. "[1,0]" alone is none: a NCCL line's device.
std::size_t bracket_prefix(std::string_view line) {
  if (line.substr(0, 1) != "[") return 0;
  std::size_t end = line.find(']');
  if (end == std::string_view::npos || end > kLongestPrefix) return 0;
  const bool rank = std::all_of(line.begin() + 1, line.begin() + static_cast<std::ptrdiff_t>(end),
                                [](char c) { return of_name(c) || c == ',' || c == ' ' || c == ':'; });
  if (!rank) return 0;
  ++end;
  for (const std::string_view stream : {"<stdout>", "<stderr>", "<stddiag>"}) {
    if (line.substr(end, stream.size()) == stream) end += stream.size();
  }
  return end + (line.substr(end, 1) == ":" ? 1 : 0);
}

/// "node1: ", "0: "; a tool's own "Device: " is none.
std::size_t label_prefix(std::string_view line) {
  std::size_t end = 0;
  while (end < line.size() && end < kLongestPrefix && of_name(line[end])) ++end;
  if (end == 0 || line.substr(end, 1) != ":") return 0;
  const bool blank = end + 1 == line.size() || line[end + 1] == ' ' || line[end + 1] == '#';
  constexpr std::array<std::string_view, 6> words{"Device", "NOTE", "WARNING", "Error", "step", "iters"};
  const bool word = std::find(words.begin(), words.end(), line.substr(0, end)) != words.end();
  return blank && !word ? end + 1 : 0;
}

/// "2026-11-30T12:00:00.5Z ", as kubectl and docker put it.
std::size_t stamp_prefix(std::string_view line) {
  constexpr std::string_view form = "0000-00-00T00:00:00";
  if (line.size() < form.size()) return 0;
  for (std::size_t i = 0; i < form.size(); ++i) {
    if (form[i] == '0' ? !is_digit(line[i]) : form[i] != line[i]) return 0;
  }
  const std::size_t end = line.find(' ');
  return end == std::string_view::npos || end > kLongestPrefix ? line.size() : end;
}

}  // namespace

std::string_view without_launcher(std::string_view line) {
  for (int round = 0; round < 3; ++round) {
    const std::string_view text = line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
    const std::size_t prefix = std::max({bracket_prefix(text), label_prefix(text), stamp_prefix(text)});
    if (prefix == 0) break;
    line = text.substr(prefix);
  }
  return line;
}

NcclSplit split_nccl(std::string_view line) {
  std::size_t at = std::string_view::npos;
  for (const std::string_view mark : {"NCCL INFO ", "NCCL WARN ", "NCCL TRACE ", "NCCL ERROR "}) {
    at = std::min(at, line.find(mark));
  }
  if (at == std::string_view::npos) return {line, {}};
  // Back over "host:pid:tid [device] "
  std::size_t begin = at;
  const auto back_over = [&](auto of) {
    while (begin > 0 && of(line[begin - 1])) --begin;
  };
  const auto blank = [](char c) { return c == ' '; };
  back_over(blank);
  if (begin > 0 && line[begin - 1] == ']') {
    const std::size_t open = line.rfind('[', begin - 1);
    if (open != std::string_view::npos) begin = open;
    back_over(blank);
  }
  back_over([](char c) { return of_name(c) || c == ':'; });
  // A number that the host's name is glued to belongs to the row: "-1node:17:17 [0] NCCL INFO"
  std::size_t number = begin + (line.substr(begin, 1) == "-" ? 1 : 0);
  while (number < at && is_digit(line[number])) ++number;
  if (number > begin && number < at && is_letter(line[number])) begin = number;
  return {line.substr(0, begin), line.substr(begin)};
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  constexpr std::string_view blanks = " \t";
  for (std::size_t at = text.find_first_not_of(blanks);
       at != std::string_view::npos && words.size() < kMostWords;) {
    const std::size_t end = std::min(text.find_first_of(blanks, at), text.size());
    words.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(blanks, end);
  }
  return words;
}

}  // namespace lanecast
