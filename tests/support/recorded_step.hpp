#pragma once
#include <compare>
#include <cstdint>

#include "model/schedule/turn.hpp"

namespace lanecast::support {

/// One slice as an executor was asked to run it. Two executors of the same call record equal vectors.
struct RecordedStep {
  int channel = 0;
  int strand = 0;
  std::uint64_t loop = 0;
  int step = 0;
  int chunk = 0;  // first part of the region
  int slice = 0;
  TurnAction action = TurnAction::send;
  std::uint64_t bytes = 0;  // payload, not what the protocol puts on the wire

  auto operator<=>(const RecordedStep&) const = default;
};

}  // namespace lanecast::support
