#include <algorithm>
#include <optional>
#include <vector>

#include "configs/dumps/nvidia_smi_values.hpp"
#include "configs/dumps/paste_lines.hpp"
#include "configs/dumps/readers.hpp"
#include "configs/reading.hpp"

namespace lanecast {
namespace {

std::vector<std::string_view> columns_of(std::string_view line) {
  constexpr std::size_t most = 5;
  std::vector<std::string_view> columns;
  if (line.empty() || line.front() != '|') return columns;
  line.remove_prefix(1);
  while (columns.size() < most) {
    const std::size_t end = line.find('|');
    if (end == std::string_view::npos) break;  // the rest has no end: it may be cut
    columns.push_back(trimmed(line.substr(0, end)));
    line.remove_prefix(end + 1);
  }
  return columns;
}

/// The word behind `label`; "" where the label is missing.
std::string_view word_behind(std::string_view line, std::string_view label) {
  const std::size_t found = line.find(label);
  if (found == std::string_view::npos) return {};
  const std::vector<std::string_view> next = words(line.substr(found + label.size()), 1);
  return next.empty() ? std::string_view() : next[0];
}

/// Reads the table of plain `nvidia-smi` and the list of `nvidia-smi -L`.
class TableScanner {
 public:
  TableScanner(const std::string& file, MachineFacts& facts) : file_(file), facts_(facts) {}

  /// @return  whether the line names a GPU
  bool take(const PasteLines& line);
  void finish() const { gpus_.note_excess(file_, facts_); }

 private:
  bool take_listed_gpu(std::string_view text, int number);
  void take_head(std::string_view text, int number);
  bool take_gpu(const std::vector<std::string_view>& columns, int number);
  void take_second_line(const std::vector<std::string_view>& columns, int number);
  std::string at(int number) const { return file_ + ":" + std::to_string(number) + " (nvidia-smi)"; }

  const std::string& file_;
  MachineFacts& facts_;
  std::string time_;  // of the line that may stand above the table
  int time_line_ = 0;
  std::string gpu_;  // address of the GPU whose second line comes next
  SmiGpus gpus_;
  bool cut_name_noted_ = false;
};

bool TableScanner::take(const PasteLines& line) {
  const std::string_view text = trimmed(line.text());
  if (text.substr(0, 4) == "GPU ") return take_listed_gpu(text, line.number());
  if (text.empty() || text.front() != '|') {
    constexpr std::size_t longest = 40;
    if (!text.empty() && text.front() != '+' && text.size() <= longest) {
      time_ = std::string(text);
      time_line_ = line.number();
    }
    return false;
  }
  take_head(text, line.number());
  const std::vector<std::string_view> columns = columns_of(text);
  if (columns.size() < 2) return false;
  if (take_gpu(columns, line.number())) return true;
  if (!gpu_.empty()) take_second_line(columns, line.number());
  gpu_.clear();
  return false;
}

/// "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-...)". The identifier is left where it is.
bool TableScanner::take_listed_gpu(std::string_view text, int number) {
  const std::size_t colon = text.find(": ");
  const std::size_t end = text.find(" (UUID:");
  if (colon == std::string_view::npos || end == std::string_view::npos || end < colon) return false;
  const int index = small_number(text.substr(4, colon - 4));
  const std::string_view model = trimmed(text.substr(colon + 2, end - colon - 2));
  if (index < 0 || index >= static_cast<int>(most_gpus) || !is_smi_value(model)) return false;
  add_smi_model(index, model, file_ + ":" + std::to_string(number) + " (nvidia-smi -L)", facts_);
  return true;
}

/// "| NVIDIA-SMI 550.120   Driver Version: 550.120   CUDA Version: 12.4 |"; KMD Version since 590.
void TableScanner::take_head(std::string_view text, int number) {
  if (text.find("NVIDIA-SMI") == std::string_view::npos) return;
  std::string_view driver = word_behind(text, "Driver Version:");
  if (driver.empty()) driver = word_behind(text, "KMD Version:");
  const bool may_be_cut = text.back() != '|';
  if (!driver.empty()) add_smi_value(SmiItem::driver, {driver, at(number), may_be_cut}, "", facts_);
  constexpr int most_lines_between = 3;
  if (time_line_ > 0 && number - time_line_ <= most_lines_between) {
    add_smi_value(SmiItem::timestamp, {time_, at(time_line_), false}, "", facts_);
  }
}

/// "|   0  NVIDIA GeForce RTX 4090        Off |   00000000:01:00.0 Off |                  Off |"
bool TableScanner::take_gpu(const std::vector<std::string_view>& columns, int number) {
  std::vector<std::string_view> left = words(columns[0], 32);
  const std::vector<std::string_view> right = words(columns[1], 4);
  if (left.size() < 2 || right.empty()) return false;
  const int index = small_number(left[0]);
  const std::optional<std::string> address = pci_address(std::string(right[0].substr(0, 24)));
  if (index < 0 || index >= static_cast<int>(most_gpus) || !address) return false;
  if (!gpus_.admit(*address, at(number), facts_)) return false;
  gpu_ = *address;
  add_smi_index(index, at(number), gpu_, facts_);
  if (left[1] == "ERR!") {
    facts_.devices[gpu_].present.add(false, at(number));
    return true;
  }
  left.pop_back();  // the persistence mode; on Windows the driver model
  std::string model;
  for (std::size_t i = 1; i < left.size(); ++i) model += (i > 1 ? " " : "") + std::string(left[i]);
  if (model.size() < 3 || model.substr(model.size() - 3) != "...") {
    add_smi_value(SmiItem::model, {model, at(number), false}, gpu_, facts_);
  } else if (!cut_name_noted_) {
    cut_name_noted_ = true;
    facts_.notes.push_back(file_ + ":" + std::to_string(number) +
                           ": the table of `nvidia-smi` cuts the name `" + printable(model) +
                           "`; mend: give `nvidia-smi -L`, too, which prints it whole");
  }
  return true;
}

/// "| N/A   33C    P0             77W /  700W |       0MiB / 143771MiB |      0%      Default |"
void TableScanner::take_second_line(const std::vector<std::string_view>& columns, int number) {
  for (const std::string_view word : words(columns[0], 8)) {
    add_smi_value(SmiItem::performance_state, {word, at(number), false}, gpu_, facts_);
  }
  const std::size_t slash = columns[1].find('/');
  if (slash == std::string_view::npos) return;
  add_smi_value(SmiItem::memory, {columns[1].substr(slash + 1), at(number), false}, gpu_, facts_);
}

}  // namespace

int read_nvidia_smi_table(std::string_view text, const std::string& file, MachineFacts& facts) {
  TableScanner scanner(file, facts);
  PasteLines lines(text);
  int gpus = 0;
  while (lines.next()) gpus += scanner.take(lines) ? 1 : 0;
  scanner.finish();
  return gpus;
}

}  // namespace lanecast
