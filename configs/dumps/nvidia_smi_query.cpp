#include <algorithm>
#include <array>
#include <vector>

#include "configs/dumps/nvidia_smi_values.hpp"
#include "configs/dumps/paste_lines.hpp"
#include "configs/dumps/readers.hpp"
#include "configs/reading.hpp"

namespace lanecast {
namespace {

struct KeyRow {
  std::string_view section;  // the last line above without a value; "": any
  std::string_view key;
  SmiItem item;
};

constexpr std::array<KeyRow, 15> key_rows{{
    {"", "Driver Version", SmiItem::driver},
    {"", "Timestamp", SmiItem::timestamp},
    {"", "Virtualization Mode", SmiItem::virtualization},
    {"", "Product Name", SmiItem::model},
    {"PCI", "Device Id", SmiItem::device_id},
    {"PCIe Generation", "Max", SmiItem::link_max_generation},
    {"PCIe Generation", "Current", SmiItem::link_generation},
    {"PCIe Generation", "Device Max", SmiItem::device_max_generation},
    {"PCIe Generation", "Host Max", SmiItem::host_max_generation},
    {"Link Width", "Max", SmiItem::link_max_width},
    {"Link Width", "Current", SmiItem::link_width},
    {"", "Replays Since Reset", SmiItem::replays},
    {"", "Performance State", SmiItem::performance_state},
    {"FB Memory Usage", "Total", SmiItem::memory},
    {"BAR1 Memory Usage", "Total", SmiItem::bar1},
}};

const KeyRow* row_of(std::string_view section, std::string_view key) {
  const auto found = std::find_if(key_rows.begin(), key_rows.end(), [&](const KeyRow& row) {
    return row.key == key && (row.section.empty() || row.section == section);
  });
  return found == key_rows.end() ? nullptr : &*found;
}

/// Reads the sections of `nvidia-smi -q`. They are told by their names, not by their indent, which pastes
/// lose.
class QueryScanner {
 public:
  QueryScanner(const std::string& file, MachineFacts& facts) : file_(file), facts_(facts) {}

  void take(const PasteLines& line);
  int finish();

 private:
  bool take_lost_gpu(std::string_view text, int number);
  bool take_gpu(std::string_view text, int number);
  void take_value(std::string_view key, std::string_view value, const PasteLines& line);
  std::string at(int number, const std::string& what) const {
    return file_ + ":" + std::to_string(number) + " (" + what + ")";
  }

  struct HeadValue {
    SmiItem item;
    std::string text;
    std::string from;
  };

  const std::string& file_;
  MachineFacts& facts_;
  std::string section_;
  bool in_mig_device_ = false;   // a part of the GPU, with a share of its memory
  std::string gpu_;              // address; "" before the first
  std::vector<HeadValue> head_;  // of the machine; counts once a GPU follows
  SmiGpus gpus_;
  SmiGpus lost_gpus_;  // apart, since no section tells of them
  int attached_ = -1;
  int shown_ = 0;  // of those, in the same log
  int lost_ = 0;
  int first_ownerless_ = 0;  // line of a value without a GPU
};

void QueryScanner::take(const PasteLines& line) {
  const std::string_view text = trimmed(line.text());
  if (text.empty() || take_lost_gpu(text, line.number())) return;
  const std::size_t colon = text.find(" :");
  if (colon != std::string_view::npos) {
    take_value(trimmed(text.substr(0, colon)), trimmed(text.substr(colon + 2)), line);
  } else if (text.substr(0, 4) != "GPU " || !take_gpu(text.substr(4), line.number())) {
    constexpr std::size_t longest = 40;  // of a section's name
    section_ = std::string(text.substr(0, longest));
    if (section_ == "MIG Device" || section_ == "MIG Devices") in_mig_device_ = true;
    if (section_ == "PCI") in_mig_device_ = false;
  }
}

/// @param text  "00000000:3B:00.0", behind "GPU " or "Bus Id :"
bool QueryScanner::take_gpu(std::string_view text, int number) {
  constexpr std::size_t longest = 20;
  if (text.size() > longest) return false;
  const std::optional<std::string> address = pci_address(std::string(trimmed(text)));
  if (!address) return false;
  section_.clear();
  in_mig_device_ = false;
  const std::string from = at(number, "nvidia-smi -q");
  ++shown_;
  gpu_ = gpus_.admit(*address, from, facts_) ? *address : "";
  for (const HeadValue& value : head_) add_smi_value(value.item, {value.text, value.from}, "", facts_);
  head_.clear();
  return true;
}

void QueryScanner::take_value(std::string_view key, std::string_view value, const PasteLines& line) {
  if (key == "Bus Id" && gpu_.empty()) take_gpu(value, line.number());  // the begin of the section is missing
  if (key == "Attached GPUs" && !line.unterminated()) {
    attached_ = small_number(value);
    shown_ = 0;
  }
  const KeyRow* row = row_of(section_, key);
  if (row == nullptr || (in_mig_device_ && (row->item == SmiItem::memory || row->item == SmiItem::bar1)))
    return;
  const std::string what =
      (row->section.empty() ? "" : std::string(row->section) + ", ") + std::string(row->key);
  const std::string from = at(line.number(), what);
  if (!gpu_.empty()) {
    add_smi_value(row->item, {value, from, line.unterminated()}, gpu_, facts_);
  } else if (row->item == SmiItem::driver || row->item == SmiItem::timestamp) {
    constexpr std::size_t most = 8;  // values of one head; other texts may hold such lines, too
    if (head_.size() < most) head_.push_back({row->item, std::string(value), from});
  } else if (first_ownerless_ == 0 && is_smi_value(value)) {
    first_ownerless_ = line.number();
  }
}

/// "Unable to determine the device handle for GPU1: 0000:3B:00.0: GPU is lost.  Reboot the system to recover
/// this GPU"; older drivers print "GPU 0000:3B:00.0" without a number, some without a blank.
bool QueryScanner::take_lost_gpu(std::string_view text, int number) {
  constexpr std::string_view begin = "Unable to determine the device handle for GPU";
  const std::size_t found = text.find(begin);
  if (found == std::string_view::npos) return false;
  std::string_view rest = trimmed(text.substr(found + begin.size()));
  const std::size_t gap = rest.find(": ");
  int index = small_number(rest.substr(0, gap));
  if (index >= 0 && gap != std::string_view::npos) {
    rest = trimmed(rest.substr(gap + 2));
  } else {
    index = -1;
  }
  const std::size_t end = rest.find(": ");
  const std::string_view reason =
      end == std::string_view::npos ? std::string_view() : trimmed(rest.substr(end + 2));
  const std::optional<std::string> address =
      pci_address(std::string(rest.substr(0, std::min<std::size_t>(end, 24))));
  const std::string from = at(number, "nvidia-smi");
  const bool gone = reason.substr(0, 11) == "GPU is lost" || reason.substr(0, 13) == "Unknown Error" ||
                    reason.substr(0, 9) == "Not Found";
  ++lost_;
  if (address && lost_gpus_.admit(*address, from, facts_)) {
    if (gone) facts_.devices[*address].present.add(false, from);
    add_smi_index(index, from, *address, facts_);
  }
  constexpr int most_notes = 32;
  if (lost_ > most_notes) return true;
  facts_.notes.push_back(file_ + ":" + std::to_string(number) + ": the driver cannot reach " +
                         (address ? "GPU " + *address : "a GPU") + " (" + printable(std::string(reason)) +
                         ")" + (address && gone ? ", which is taken as gone" : "") +
                         "; mend: reset the card or restart the machine, then read it again");
  return true;
}

int QueryScanner::finish() {
  if (shown_ == attached_) gpus_.number(attached_, facts_);  // else `-i` chose some
  gpus_.note_excess(file_, facts_);
  if (first_ownerless_ > 0 && gpus_.all().empty()) {
    facts_.notes.push_back(
        file_ + ":" + std::to_string(first_ownerless_) +
        ": values of `nvidia-smi -q` stand without the line `GPU 00000000:3B:00.0` above, so that "
        "their GPU is unknown; mend: paste the section from that line on");
  }
  return static_cast<int>(gpus_.all().size()) + lost_;
}

}  // namespace

int read_nvidia_smi_query(std::string_view text, const std::string& file, MachineFacts& facts) {
  QueryScanner scanner(file, facts);
  PasteLines lines(text);
  while (lines.next()) scanner.take(lines);
  return scanner.finish();
}

}  // namespace lanecast
