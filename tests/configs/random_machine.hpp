#pragma once
#include <cstdint>

#include "model/topology/machine.hpp"

namespace lanecast {

/// A machine that check_machine accepts, with every field filled at random, odd texts and shared names
/// included.
Machine random_machine(std::uint64_t seed);

}  // namespace lanecast
