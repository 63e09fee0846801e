#include "model/topology/change_list.hpp"

#include <algorithm>
#include <array>
#include <sstream>

namespace lanecast {
namespace {

std::string number_text(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

/// "not known in A", "assumed to be gen4 in A"
std::string ignorance(const std::optional<std::string>& value, const char* machine) {
  return value ? "assumed to be " + *value + " in " + machine : std::string("not known in ") + machine;
}

}  // namespace

std::optional<Lanes> lanes(const std::optional<int>& count) {
  return count ? std::optional(Lanes{*count}) : std::nullopt;
}

std::string shown(PcieRate value) { return to_string(value); }
std::string shown(Lanes value) { return "x" + std::to_string(value.count); }
std::string shown(BytesPerSecond value) { return number_text(value.value() / 1e9) + " GB/s"; }
std::string shown(Seconds value) { return number_text(value.value() * 1e9) + " ns"; }
std::string shown(Aspm value) { return to_string(value); }
std::string shown(Distance value) { return to_string(value); }
std::string shown(bool value) { return value ? "on" : "off"; }
std::string shown(double value) { return number_text(value); }
std::string shown(int value) { return std::to_string(value); }
std::string shown(std::uint64_t value) { return std::to_string(value); }
std::string shown(const std::string& value) { return value; }

std::string shown(Bytes value) {
  constexpr std::array<const char*, 5> units{"B", "KiB", "MiB", "GiB", "TiB"};
  std::uint64_t size = value.value();
  std::size_t unit = 0;
  while (size != 0 && size % 1024 == 0 && unit + 1 < units.size()) {
    size /= 1024;
    ++unit;
  }
  return std::to_string(size) + " " + units.at(unit);
}

std::optional<std::string> stated(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}
std::optional<int> stated(int number) { return number == 0 ? std::nullopt : std::optional(number); }

void ChangeList::add_value(const ComparedValue& at, ChangeKind kind, const std::optional<std::string>& before,
                           const std::optional<std::string>& after) {
  const bool known_before = before && !is_assumed(before_, at.path_before);
  const bool known_after = after && !is_assumed(after_, at.path_after);
  if (!known_before && !known_after) return;
  MachineChange change{kind, at.where, at.what, before.value_or(""), after.value_or(""), at.where + ": ",
                       true};
  if (known_before && known_after) {
    change.text += at.what + " " + *after + ", " + *before + " in A";
    if (kind == ChangeKind::counters_reset) change.text += ": counted anew";
  } else if (known_after) {
    change.kind = ChangeKind::unknown;
    change.known_before = false;
    change.text += at.what + " " + *after + " in B, " + ignorance(before, "A");
  } else {
    change.kind = ChangeKind::unknown;
    change.text += at.what + " " + *before + " in A, " + ignorance(after, "B");
  }
  list_.push_back(change);
}

std::vector<MachineChange> ChangeList::take() {
  std::stable_partition(list_.begin(), list_.end(),
                        [](const MachineChange& change) { return is_change(change.kind); });
  return std::move(list_);
}

}  // namespace lanecast
