#include "configs/dumps/nvidia_smi_values.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "configs/dumps/paste_lines.hpp"
#include "configs/reading.hpp"

namespace lanecast {
namespace {

constexpr std::uint32_t nvidia = 0x10de;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// A decimal number at the begin of `text`, which is shortened by it; nothing: none, or above 10^18.
std::optional<std::uint64_t> leading_number(std::string_view& text) {
  constexpr std::size_t most_digits = 18;
  std::uint64_t number = 0;
  std::size_t digits = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') {
    if (digits == most_digits) return std::nullopt;
    number = number * 10 + static_cast<std::uint64_t>(text[digits++] - '0');
  }
  text.remove_prefix(digits);
  if (digits == 0) return std::nullopt;
  return number;
}

/// "81559 MiB", "81559MiB"; old drivers print "MB" and mean MiB.
std::optional<Bytes> memory_from(std::string_view text) {
  const auto number = leading_number(text);
  const std::string_view unit = trimmed(text);
  constexpr std::uint64_t most = std::uint64_t{1} << 40;
  if (!number || *number == 0 || *number > most || (unit != "MiB" && unit != "MB")) return std::nullopt;
  return Bytes(*number << 20);
}

std::optional<PcieRate> generation_from(std::string_view text) {
  return pcie_rate_from_string("gen" + std::string(text.substr(0, 2)));
}

/// "16x" or "16". Without the x, a cut "1" cannot be told from a whole one.
std::optional<int> width_from(std::string_view text, bool may_be_cut) {
  const bool has_x = !text.empty() && text.back() == 'x';
  if (has_x) text.remove_suffix(1);
  const int width = small_number(text);
  const bool doubtful = may_be_cut && !has_x && width == 1;
  return is_pcie_width(width) && !doubtful ? std::optional<int>(width) : std::nullopt;
}

std::optional<std::uint32_t> hexadecimal(std::string_view text) {
  constexpr std::size_t digits = 8;
  if (text.substr(0, 2) == "0x" || text.substr(0, 2) == "0X") text.remove_prefix(2);
  if (text.size() != digits) return std::nullopt;
  std::uint32_t number = 0;
  for (const char c : text) {
    const bool decimal = c >= '0' && c <= '9';
    const char lower = static_cast<char>(c | 0x20);
    if (!decimal && (lower < 'a' || lower > 'f')) return std::nullopt;
    number = number * 16 + static_cast<std::uint32_t>(decimal ? c - '0' : lower - 'a' + 10);
  }
  return number;
}

std::string two_digits(int number) { return (number < 10 ? "0" : "") + std::to_string(number); }

/// "10:20:30" of "10:20:30.123"; "" for other texts.
std::string clock_time(std::string_view text) {
  text = text.substr(0, text.find('.'));
  const bool good = text.size() == 8 && text[2] == ':' && text[5] == ':' &&
                    small_number(text.substr(0, 2)) >= 0 && small_number(text.substr(3, 2)) >= 0 &&
                    small_number(text.substr(6, 2)) >= 0;
  return good ? std::string(text) : "";
}

/// "2024-03-11T10:20:30"; nothing for a text that is no time.
std::optional<std::string> time_from(std::string_view text) {
  constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::vector<std::string_view> parts = words(text, 6);
  if (parts.size() == 2 && parts[0].size() == 10) {  // 2024/03/11 10:20:30.123
    std::string day(parts[0]);
    std::replace(day.begin(), day.end(), '/', '-');
    const bool good = small_number(parts[0].substr(0, 4)) > 0 && day[4] == '-' && day[7] == '-' &&
                      small_number(parts[0].substr(5, 2)) > 0 && small_number(parts[0].substr(8, 2)) > 0;
    const std::string time = clock_time(parts[1]);
    if (!good || time.empty()) return std::nullopt;
    return day + "T" + time;
  }
  if (parts.size() != 5) return std::nullopt;  // Mon Mar 11 10:20:30 2024
  const auto month = std::find(months.begin(), months.end(), parts[1]);
  const int day = small_number(parts[2]);
  const std::string time = clock_time(parts[3]);
  const bool good = month != months.end() && day > 0 && day < 32 && !time.empty() && parts[4].size() == 4 &&
                    small_number(parts[4]) > 0;
  if (!good) return std::nullopt;
  return std::string(parts[4]) + "-" + two_digits(static_cast<int>(month - months.begin()) + 1) + "-" +
         two_digits(day) + "T" + time;
}

/// Whether the system runs in a virtual machine; on the host of virtual GPUs it does not.
std::optional<bool> virtualized_from(std::string_view mode) {
  if (mode == "Pass-Through" || mode == "VGPU") return true;
  if (mode == "None" || mode == "Host VGPU" || mode == "Host VSGA") return false;
  return std::nullopt;
}

std::optional<bool> asleep_from(std::string_view state) {
  constexpr int slowest_at_work = 3;
  const int number = state.substr(0, 1) == "P" ? small_number(state.substr(1)) : -1;
  if (number < 0 || number > 15) return std::nullopt;
  return number > slowest_at_work;
}

/// 80 of "8.0".
std::optional<int> sm_from(std::string_view text) {
  const std::size_t dot = text.find('.');
  const int major = small_number(text.substr(0, dot));
  const int minor = dot == std::string_view::npos ? -1 : small_number(text.substr(dot + 1));
  if (major < 1 || major > 99 || minor < 0 || minor > 9) return std::nullopt;
  return major * 10 + minor;
}

template <class T>
void add(Statements<T>& statements, const std::optional<T>& value, const std::string& from) {
  if (value && statements.all().size() < most_values) statements.add(*value, from);
}

std::optional<std::string> text_from(std::string_view text) { return printable(std::string(text)); }

void add_machine_value(SmiItem item, const SmiValue& value, MachineFacts& facts) {
  if (item == SmiItem::driver) add(facts.driver, text_from(value.text), value.from);
  if (item == SmiItem::virtualization) add(facts.virtualized, virtualized_from(value.text), value.from);
  if (item == SmiItem::timestamp) add(facts.taken, time_from(value.text), value.from);
}

void add_link_value(SmiItem item, const SmiValue& value, PciFacts& gpu) {
  switch (item) {
    case SmiItem::link_max_generation:
      return add(gpu.link_max_rate, generation_from(value.text), value.from);
    case SmiItem::link_generation:
      return add(gpu.rate, generation_from(value.text), value.from);
    case SmiItem::device_max_generation:
      return add(gpu.max_rate, generation_from(value.text), value.from);
    case SmiItem::host_max_generation:
      return add(gpu.host_max_rate, generation_from(value.text), value.from);
    case SmiItem::link_max_width:
      return add(gpu.link_max_width, width_from(value.text, value.may_be_cut), value.from);
    case SmiItem::link_width:
      return add(gpu.width, width_from(value.text, value.may_be_cut), value.from);
    default:
      return;
  }
}

void add_gpu_value(SmiItem item, const SmiValue& value, PciFacts& gpu) {
  std::string_view text = value.text;
  if (item == SmiItem::memory) return add(gpu.memory, memory_from(text), value.from);
  if (item == SmiItem::bar1) return add(gpu.bar1, memory_from(text), value.from);
  if (value.may_be_cut) return;
  if (item == SmiItem::model) add(gpu.gpu_model, text_from(text), value.from);
  if (item == SmiItem::performance_state) add(gpu.asleep, asleep_from(text), value.from);
  if (item == SmiItem::compute_capability) add(gpu.sm, sm_from(text), value.from);
  if (item == SmiItem::replays) {
    const auto count = leading_number(text);
    if (text.empty()) add(gpu.replays, count, value.from);
  }
  const auto id = item == SmiItem::device_id ? hexadecimal(text) : std::nullopt;
  if (id && (*id & 0xffff) == nvidia) gpu.device.add(*id >> 16, value.from);
}

}  // namespace

bool is_smi_value(std::string_view text) {
  constexpr std::array<std::string_view, 6> none{"N/A",       "ERR!",          "Unknown Error",
                                                 "Not Found", "Not Supported", ""};
  if (!text.empty() && text.front() == '[') return false;
  if (contains(text, "functionality has been deprecated") || contains(text, "GPU is lost")) return false;
  return std::find(none.begin(), none.end(), text) == none.end();
}

void add_smi_value(SmiItem item, const SmiValue& value, const std::string& address, MachineFacts& facts) {
  const SmiValue trimmed_value{trimmed(value.text), value.from, value.may_be_cut};
  const bool of_machine =
      item == SmiItem::driver || item == SmiItem::timestamp || item == SmiItem::virtualization;
  if (contains(value.text, "GPU is lost") && !address.empty()) {
    facts.devices[address].present.add(false, value.from);
  }
  if (!is_smi_value(trimmed_value.text)) return;
  if (of_machine) {
    if (!value.may_be_cut) add_machine_value(item, trimmed_value, facts);
    return;
  }
  if (address.empty()) return;
  PciFacts& gpu = facts.devices[address];
  add_link_value(item, trimmed_value, gpu);
  add_gpu_value(item, trimmed_value, gpu);
}

void add_smi_index(int index, const std::string& from, const std::string& address, MachineFacts& facts) {
  if (index < 0 || index >= static_cast<int>(most_gpus)) return;
  facts.devices[address].gpu_index.add(index, from);
}

void add_smi_model(int index, std::string_view model, const std::string& from, MachineFacts& facts) {
  add(facts.numbered_gpus[index], text_from(model), from);
}

bool SmiGpus::admit(const std::string& address, const std::string& from, MachineFacts& facts) {
  if (seen_.count(address) > 0) return true;
  if (all_.size() == most_gpus) {
    excess_ = true;
    return false;
  }
  seen_.insert(address);
  all_.push_back({address, from});
  facts.devices[address].vendor.add(nvidia, from);
  return true;
}

void SmiGpus::number(int attached, MachineFacts& facts) const {
  if (excess_ || attached != static_cast<int>(all_.size())) return;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    add_smi_index(static_cast<int>(i), all_[i].from, all_[i].value, facts);
  }
}

void SmiGpus::note_excess(const std::string& file, MachineFacts& facts) const {
  if (!excess_) return;
  facts.notes.push_back(file + ": only the first " + std::to_string(most_gpus) +
                        " GPUs were read; mend: give the files of one machine");
}

}  // namespace lanecast
