#include "configs/dumps/nvidia_smi_rows.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "configs/reading.hpp"

namespace lanecast {
namespace {

constexpr std::size_t most_words = 3 * static_cast<std::size_t>(most_names);

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_gpu_or_nic(std::string_view word) {
  const std::string_view kind = word.substr(0, 3);
  return (kind == "GPU" || kind == "NIC") && small_number(word.substr(3)) >= 0;
}

/// "GPU0", "NIC3", "mlx5_0", "ibp12s0": a letter first, a digit somewhere.
bool is_name(std::string_view word) {
  constexpr std::size_t longest = 40;
  return word.size() <= longest && is_letter(word[0]) && std::any_of(word.begin(), word.end(), is_digit) &&
         std::all_of(word.begin(), word.end(),
                     [](char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '-' || c == '.'; });
}

constexpr std::size_t longest_list = 4096;  // every second one of 1024 cores takes 2.5 KB

/// Of a list of cores or nodes: "0-63,128-191", also ",128-191".
bool is_part_of_list(std::string_view word) {
  return word.size() <= longest_list &&
         std::all_of(word.begin(), word.end(), [](char c) { return is_digit(c) || c == ',' || c == '-'; });
}

/// What may stand behind the cells of a row: "0-63,128-191", "1", "N/A".
bool is_affinity(std::string_view word) {
  return word == "N/A" || (is_digit(word[0]) && is_part_of_list(word));
}

/// A cell that nvidia-smi could not fill.
bool is_unreadable(std::string_view word) {
  constexpr std::array<std::string_view, 5> known{"N/A", "ERR!", "ERR", "?", "-"};
  return std::find(known.begin(), known.end(), word) != known.end();
}

bool contains(const std::vector<std::string>& list, std::string_view item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

/// What stands behind the cells. Between tabs a value may be missing; between blanks that cannot be seen.
std::vector<std::string> affinities_of(std::string_view rest) {
  std::vector<std::string> found;
  if (rest.find('\t') == std::string_view::npos) {
    for (const std::string_view word : words(rest, most_words)) found.emplace_back(word);
    return found;
  }
  rest.remove_prefix(rest.find('\t') + 1);
  while (found.size() < most_words) {
    const std::size_t end = rest.find('\t');
    for (const std::string_view word : words(rest.substr(0, end), most_words)) found.emplace_back(word);
    if (trimmed(rest.substr(0, end)).empty()) found.emplace_back();
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  while (!found.empty() && found.back().empty()) found.pop_back();
  return found;
}

}  // namespace

SmiLine::SmiLine(const PasteLines& line, const SmiCellWords& vocabulary)
    : text_(line.text()),
      number_(line.number()),
      unterminated_(line.unterminated()),
      vocabulary_(vocabulary) {
  std::replace(text_.begin(), text_.end(), '|', ' ');  // tables of markdown
  if (std::none_of(text_.begin(), text_.end(), [](char c) { return is_letter(c) || is_digit(c); })) return;
  words_ = lanecast::words(text_, most_words);
}

bool SmiLine::is_cell(std::string_view word) const {
  if (word == "X") return true;
  if (std::find(vocabulary_.words.begin(), vocabulary_.words.end(), word) != vocabulary_.words.end())
    return true;
  constexpr std::size_t longest = 5;  // "NV" and three digits
  return vocabulary_.nvlinks && word.size() <= longest && word.substr(0, 2) == "NV" &&
         small_number(word.substr(2)) > 0;
}

bool SmiLine::is_fragment(std::string_view word) const {
  if (vocabulary_.nvlinks && word == "NV") return true;
  return std::any_of(vocabulary_.words.begin(), vocabulary_.words.end(), [&](std::string_view whole) {
    return word.size() < whole.size() && whole.substr(0, word.size()) == word;
  });
}

std::optional<SmiHeader> SmiLine::header(bool goes_on) const {
  SmiHeader found;
  std::string_view before;
  for (const std::string_view word : words_) {
    if (word == "CPU" || word == "GPU" || (word == "NUMA" && before != "GPU")) {
      ++found.affinities;  // "CPU Affinity", "NUMA Affinity", "GPU NUMA ID"
    } else if (found.affinities == 0 && is_name(word)) {
      found.names.emplace_back(word);
    } else if (word != "NUMA" && word != "Affinity" && word != "ID") {
      return std::nullopt;
    }
    before = word;
  }
  const bool begins_with_gpu = !found.names.empty() && gpu_index_of(found.names.front()) >= 0;
  if (!goes_on && !begins_with_gpu) return std::nullopt;
  return found;
}

std::size_t SmiLine::take_cells(std::size_t next, std::size_t columns, SmiRow& row) const {
  while (next < words_.size() &&
         (is_cell(words_[next]) || (row.cells.size() < columns && is_unreadable(words_[next])))) {
    row.cells.emplace_back(words_[next++]);
  }
  if (next + 1 == words_.size() && is_fragment(words_[next]) && row.cells.size() != columns) {
    row.cells.emplace_back(words_[next++]);
    row.last_is_fragment = true;
  }
  // Without a line end "NV1" may be the begin of "NV18".
  const bool cut = unterminated_ && next == words_.size() && !row.cells.empty();
  if (cut && row.cells.back().substr(0, 2) == "NV") row.last_is_fragment = true;
  return next;
}

bool SmiLine::take_affinities(std::size_t next, SmiRow& row) const {
  std::size_t end = words_.size();
  const std::string_view last = end > next ? words_.back() : std::string_view();
  const bool last_is_cut = last == "N" || last == "N/" || (unterminated_ && end > next && !is_affinity(last));
  if (last_is_cut) --end;
  for (std::size_t i = next; i < end; ++i) {
    if (!is_affinity(words_[i])) return false;
  }
  row.unterminated = unterminated_;
  if (next >= end) return true;
  std::vector<std::string> found;
  if (next == 0) {
    found.assign(words_.begin(), words_.begin() + static_cast<std::ptrdiff_t>(end));
  } else {
    const char* after_cell = words_[next - 1].data() + words_[next - 1].size();
    const char* after_last = words_[end - 1].data() + words_[end - 1].size();
    found = affinities_of({after_cell, static_cast<std::size_t>(after_last - after_cell)});
  }
  row.after.insert(row.after.end(), found.begin(), found.end());
  return true;
}

std::optional<SmiRow> SmiLine::row(std::size_t columns, const std::vector<std::string>& header) const {
  if (words_.size() < 2 || !is_name(words_[0])) return std::nullopt;
  SmiRow row;
  row.label = std::string(words_[0]);
  const std::size_t next = take_cells(1, columns, row);
  if (row.cells.empty() || !take_affinities(next, row)) return std::nullopt;
  const bool known = is_gpu_or_nic(row.label) || contains(header, row.label);
  if (!known && !contains(row.cells, "X")) return std::nullopt;
  return row;
}

std::optional<SmiRow> SmiLine::rest_of_row(const SmiRow& before, std::size_t columns,
                                           std::size_t affinities) const {
  if (words_.empty()) return std::nullopt;
  SmiRow row = before;
  std::size_t next = 0;
  if (row.after.empty()) {
    const std::string together = row.cells.back() + std::string(words_[0]);
    if (is_cell(together) && (row.last_is_fragment || !is_cell(words_[0]))) {
      row.cells.back() = together;
      next = 1;
    }
    row.last_is_fragment = false;
    next = take_cells(next, columns, row);
  } else if (words_.size() == 1 && (words_[0] == "/A" || words_[0] == "A")) {
    return row;  // the rest of "N/A"
  } else if (is_part_of_list(words_[0])) {
    const char last = row.after.back().empty() ? ' ' : row.after.back().back();
    const bool list_goes_on = last == '-' || last == ',' || !is_digit(words_[0][0]);
    const bool one_too_many =
        row.after.size() < affinities && row.after.size() + words_.size() == affinities + 1;
    if (row.after.back().size() > longest_list) return std::nullopt;
    if (list_goes_on || one_too_many) {
      row.after.back() += words_[0];
      next = 1;
    }
  }
  if (!take_affinities(next, row)) return std::nullopt;
  if (affinities > 0 && row.after.size() > affinities) return std::nullopt;
  return row;
}

std::optional<std::string> SmiLine::p2p_capability() const {
  for (std::size_t i = 0; i < words_.size(); ++i) {
    std::string_view word = words_[i];
    if (word != "-p2p" && word != "--p2pstatus") continue;
    if (i + 1 == words_.size()) return "";
    word = words_[i + 1];  // "r", "rw)", "w`"
    const auto end = std::find_if_not(word.begin(), word.end(), is_letter);
    return std::string(word.begin(), end);
  }
  if (text_.find("nvidia-smi") != std::string::npos) return "";
  return std::nullopt;
}

}  // namespace lanecast
