#pragma once
#include "model/units.hpp"

namespace lanecast {

/// Where the time of a call goes, along the chain of steps that ends it last (docs/model.md). The sum is the
/// call's time.
struct TimeShares {
  Seconds launch{0};   // before the first and after the last instruction; in a stream, the host's period too
  Seconds latency{0};  // flags and credits on their way, links that wake
  Seconds protocol{
      0};           // a slice's barriers, first loads and fences; bytes beyond payload: lines' flags, headers
  Seconds wire{0};  // payload, at the rate that its two ranks get when they have their links to themselves
  Seconds waiting{0};  // what that takes longer because other pairs of ranks use the same links

  Seconds sum() const { return launch + latency + protocol + wire + waiting; }
};

}  // namespace lanecast
