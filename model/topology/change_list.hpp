#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/topology/difference.hpp"

namespace lanecast {

/// Lanes of a PCIe link, shown as "x8".
struct Lanes {
  int count = 0;
  auto operator<=>(const Lanes&) const = default;
};

std::optional<Lanes> lanes(const std::optional<int>& count);

/// A value as a machine file writes it; numbers are rounded to six digits.
std::string shown(PcieRate value);
std::string shown(Lanes value);
std::string shown(Bytes value);
std::string shown(BytesPerSecond value);
std::string shown(Seconds value);
std::string shown(Aspm value);
std::string shown(Distance value);
std::string shown(bool value);
std::string shown(double value);
std::string shown(int value);
std::string shown(std::uint64_t value);
std::string shown(const std::string& value);

/// Absent where a file leaves a text or a number out.
std::optional<std::string> stated(const std::string& text);
std::optional<int> stated(int number);

/// A value that both machines have.
struct ComparedValue {
  ChangeKind less = ChangeKind::value;  // where it is lower after
  ChangeKind more = ChangeKind::value;
  std::string where;
  std::string what;
  std::string path_before;  // as `Machine::assumed` names it
  std::string path_after;
};

/// The differences of two machines in the making.
class ChangeList {
 public:
  ChangeList(const Machine& before, const Machine& after) : before_(before), after_(after) {}

  /// A part that is gone, new or moved; a remark about one. `text` is the whole sentence.
  void add(ChangeKind kind, const std::string& where, const std::string& before, const std::string& after,
           const std::string& text) {
    list_.push_back({kind, where, "", before, after, text, true});
  }

  /// Adds a change where both are known and differ, a remark where only one is known.
  template <class T>
  void compare(const ComparedValue& at, const std::optional<T>& before, const std::optional<T>& after) {
    if (before == after) return;
    const ChangeKind kind = before && after && *after < *before ? at.less : at.more;
    add_value(at, kind, before ? std::optional(shown(*before)) : std::nullopt,
              after ? std::optional(shown(*after)) : std::nullopt);
  }

  /// The same of a value that no dump states: where it is absent, a default holds, which is a value too.
  template <class T>
  void compare_setting(const ComparedValue& at, const std::optional<T>& before,
                       const std::optional<T>& after) {
    if (before == after) return;
    add_value(at, at.more, before ? shown(*before) : "unset", after ? shown(*after) : "unset");
  }

  /// Changes first, then remarks, each in the order of adding.
  std::vector<MachineChange> take();

 private:
  void add_value(const ComparedValue& at, ChangeKind kind, const std::optional<std::string>& before,
                 const std::optional<std::string>& after);

  const Machine& before_;
  const Machine& after_;
  std::vector<MachineChange> list_;
};

}  // namespace lanecast
