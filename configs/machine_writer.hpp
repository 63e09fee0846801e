#pragma once
#include <string>

#include "model/topology/machine.hpp"

namespace lanecast {

/// The machine as a machine file. What equals its default is left out; read_machine_text gives the same
/// machine back.
///
/// @param machine  one that check_machine accepts
std::string write_machine(const Machine& machine);

}  // namespace lanecast
