#pragma once
#include <string>

#include "model/topology/machine.hpp"

namespace lanecast {

/// Sixteen hex digits that tell two machines apart, `--set` included (FNV-1a over all their values).
std::string config_digest(const Machine& machine);

/// The same of any bytes.
std::string bytes_digest(const std::string& bytes);

}  // namespace lanecast
