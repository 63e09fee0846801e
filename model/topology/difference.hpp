#pragma once
#include <string>
#include <vector>

#include "model/topology/machine.hpp"

namespace lanecast {

/// What kind of difference two dumps of one box show. The last four are remarks, no changes.
enum class ChangeKind {
  gone,               // a card, switch, NUMA node or NVSwitch
  added,              // the same
  moved,              // a card or switch hangs elsewhere, or one is gone and one of its model is new
  replaced,           // another model at the same place
  link_slower,        // generation, as it runs
  link_faster,        //
  link_narrower,      // lanes, as it runs
  link_wider,         //
  capability_lower,   // of both ends, or of the card alone
  capability_higher,  //
  payload,            // Maximum Payload Size, set or possible
  aspm,
  acs,
  iommu,
  peer_access,
  nvlinks,
  numa,
  errors_rose,  // counters of a link
  driver,
  bar1,
  value,  // anything else that a prediction rests on, such as the rate of a socket link

  counters_reset,  // an error counter is lower than before
  idle,            // a card slept in one of the two: its link's generation cannot be compared
  unknown,         // no dump of one of the two states it, or a rule assumed it there
  other_host,      // the two name different computers
};

/// "gone", "new", "moved", ..., "link-slower", ..., "not-known", "other-host".
const char* to_string(ChangeKind kind);

/// False for remarks.
bool is_change(ChangeKind kind);

/// One thing that differs between machine A (before) and machine B (after).
struct MachineChange {
  ChangeKind kind = ChangeKind::value;
  std::string where;         // "gpu3 (0000:3b:00.0)"; "machine"
  std::string what;          // "link width", "payload"; empty for parts that are gone, new or moved
  std::string before;        // as a machine file writes it; empty: not known, or not there
  std::string after;         // the same
  std::string text;          // the sentence: "gpu3 (0000:3b:00.0): link width x8, x16 in A"
  bool known_before = true;  // false: no dump of A states it, or a rule assumed it; kind `unknown` only
};

/// What changed between two dumps of one box: parts that are gone, new or moved first, then links, then the
/// machine's settings, then remarks. Parts are recognized as `pair_parts` does; links belong to the part
/// below. Values that only a rule chose (Machine::assumed) are no changes. Names, descriptions and sources
/// count for nothing.
std::vector<MachineChange> differences(const Machine& before, const Machine& after);

/// Whether any of them is a change, not only a remark.
bool any_change(const std::vector<MachineChange>& differences);

}  // namespace lanecast
