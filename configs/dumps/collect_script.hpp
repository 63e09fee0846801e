#pragma once
#include <string>

namespace lanecast {

/// The script that collects what a machine says about itself: configs/collect/collect.sh, for any POSIX
/// shell.
std::string collect_script();

}  // namespace lanecast
