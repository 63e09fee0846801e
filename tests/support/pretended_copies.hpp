#pragma once
#include <memory>

#include "hw/engine/copy_engines.hpp"

namespace lanecast::support {

/// The copy engines of a pretended GPU: a stream for each lane, which does all that it was given before it
/// ends.
std::unique_ptr<CopyEngines> pretended_copies();

}  // namespace lanecast::support
