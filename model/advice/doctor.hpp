#pragma once
#include <optional>
#include <string>
#include <vector>

#include "model/advice/predictor.hpp"
#include "model/implementation/implementation.hpp"
#include "model/topology/machine.hpp"
#include "model/units.hpp"

namespace lanecast {

/// pass: looked at, and all is well; warn: may cost something; fail: certainly costs or breaks something;
/// skip: the machine does not say, since no dump states it or a value was only assumed.
enum class FindingStatus { pass, warn, fail, skip };

/// What an all-reduce of all present GPUs takes on the machine as it is, and with one fault mended.
struct FindingCost {
  Bytes size{0};
  Seconds before{0};
  Seconds after{0};
};

/// What one rule says about a machine.
struct Finding {
  std::string code;  // "LC-LINK-01", explained by `lanecast help`
  FindingStatus status = FindingStatus::pass;
  std::string where;              // "link uplink0", "gpus gpu0, gpu1", "machine"
  std::string fact;               // what it rests on
  std::string mend;               // how to mend it; skip: what would tell; pass: empty
  std::optional<Machine> mended;  // with exactly this fault mended; nothing: none, or not simulated
  std::vector<FindingCost> cost;  // one a size; empty: no cost is stated
};

/// A box to look at.
struct DoctorInput {
  Machine machine;                 // that check_machine accepts
  std::optional<Machine> earlier;  // the same box before
  Implementation implementation;   // whose default level decides about peer access
};

/// Applies every rule (docs/doctor.md). Each gives at least one finding, unless it has nothing to look at.
///
/// Values in `Machine::assumed` are no evidence: a rule that needs one gives `skip`, never `pass`.
/// @return  fail first, then warn, skip, pass; the rules' order within
std::vector<Finding> examine(const DoctorInput& input);

/// Predicts an all-reduce of 1 MiB and of 256 MiB, all else left open, on the machine and on each different
/// `mended`, and sorts findings of one status by what mending saves at 256 MiB.
///
/// Nothing is predicted where no finding has a `mended`. The predictor is asked once for each machine.
/// @throws Error  what the predictor throws; the findings stay, some without a cost
void add_costs(std::vector<Finding>& findings, const Machine& machine, const Predictor& predict);

const char* to_string(FindingStatus status);  // "PASS", "WARN", "FAIL", "SKIP"

}  // namespace lanecast
