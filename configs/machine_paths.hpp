#pragma once
#include <string>
#include <vector>

#include "model/topology/machine.hpp"

namespace lanecast {

/// Changes one value of a machine: `links.NAME.width=x8`, `switches.NAME.acs=on`, `p2p.enabled=false`.
///
/// The value is written as in the machine file; the keys are those of docs/machine-file.md that `--set`
/// takes. A name may contain dots. `auto` takes an optional value back. The machine as a whole is not
/// checked: call check_machine after the last change, or use apply_sets.
/// @throws Error kind usage, which names the nearest sections, names or keys; the machine is then unchanged
void apply_set(Machine& machine, const std::string& assignment);

/// Applies all changes in order, then checks the machine.
///
/// @throws Error kind usage, with the first change that cannot be made, or with everything that is wrong with
/// the
///               machine that the changes make; the machine is then unchanged
void apply_sets(Machine& machine, const std::vector<std::string>& assignments);

}  // namespace lanecast
