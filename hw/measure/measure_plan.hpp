#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hw/engine/communicator.hpp"
#include "model/predict/call.hpp"
#include "model/units.hpp"

namespace lanecast {

/// A call to be measured over a sweep of sizes. `call` has neither size nor place.
struct PlannedCall {
  Call call;
  CallChoice choice;
  std::vector<Bytes> sizes;  // whole elements, and whole blocks where each rank has a block
};

/// Calls that share a communicator.
struct PlannedGroup {
  EngineOptions options;
  std::vector<PlannedCall> calls;
};

/// How calls are timed and checked.
struct PlannedTiming {
  int iterations = 20;         // calls in a graph, or in one timing of a stream
  int warmup = 5;              // calls that are not timed
  bool graph = true;           // else stream launches
  std::optional<int> samples;  // timings: replays of the graph; absent: up to 20 within `budget`
  Seconds budget{1.0};         // of all timings of one size; there are at least 3
  int checks = 1;              // 0: results are not looked at
};

/// What `measure` runs; the same on every rank.
struct MeasurePlan {
  int ranks = 1;
  std::vector<PlannedGroup> groups;
  std::vector<bool> in_place;  // each size is measured so, one after the other
  PlannedTiming timing;
  int sessions = 1;
  std::optional<Bytes> working_set;  // calls rotate over this much of a buffer; absent: the largest size
  std::uint64_t offset = 0;          // elements between an aligned address and the buffers
  std::uint64_t seed = 1;

  /// Sizes x places x calls of one session.
  std::uint64_t rows() const {
    std::uint64_t count = 0;
    for (const PlannedGroup& group : groups) {
      for (const PlannedCall& each : group.calls) count += each.sizes.size() * in_place.size();
    }
    return count;
  }
};

}  // namespace lanecast
