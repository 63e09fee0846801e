#pragma once
#include "hw/engine/communicator.hpp"
#include "model/predict/call.hpp"

namespace lanecast {

/// What the engine knows of its paths when it chooses a way.
struct PathSummary {
  int ranks = 2;
  bool any_staged = false;   // between any two
  bool all_nvlink = true;    // or the same GPU
  bool exchanges = true;     // there are connections between any two
  bool copy_engines = true;  // there are slots for them
};

/// Algorithm, protocol and staging that are not fixed by the caller: by limits measured on one
/// H200, but for one-shot, which rests on its number of flights (docs/engine.md).
/// @throws Error  kind usage: what is fixed cannot be
CallChoice chosen_way(const Call& call, const CallChoice& fixed, const PathSummary& paths);

}  // namespace lanecast
