#pragma once
#include <string>

#include "configs/dumps/facts.hpp"

namespace lanecast {

/// What the running system says about itself, through sysfs and /proc.
///
/// @param sysroot  folder that stands for `/`
/// @param taken    the time now, 2026-11-30T06:25:03Z; may be empty
MachineFacts live_facts(const std::string& sysroot, const std::string& taken);

}  // namespace lanecast
