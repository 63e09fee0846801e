#pragma once
#include <memory>

#include "hw/engine/copy_engines.hpp"

namespace lanecast::support {

/// The copy engines of a pretended GPU: a stream for each lane.
class PretendedCopies : public CopyEngines {
 public:
  virtual void drain() = 0;  // waits for all lanes
};
std::unique_ptr<PretendedCopies> pretended_copies();

}  // namespace lanecast::support
