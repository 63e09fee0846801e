#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "model/implementation/implementation.hpp"
#include "model/predict/flow_network.hpp"
#include "model/profile/profile.hpp"
#include "model/schedule/ring.hpp"

namespace lanecast {

inline constexpr std::size_t ring_action_count = 7;

/// What one slice costs a block that does this action: a wait-free share, then bytes at a rate.
struct OperationCost {
  int lane = -1;                // of the plan's network; -1: nothing leaves the GPU
  BytesPerSecond rate{0};       // wire bytes of one mean channel; 0: takes no time (registered buffers)
  double wire_per_payload = 1;  // wire bytes a payload byte: protocol x packets of the lane
  Seconds overhead{0};          // barriers, first loads: before the bytes
};

/// What passes between a rank and the next besides data.
struct HopCost {
  Seconds flag{0};    // from the post (Simple) or the store (LL, LL128) to the next rank seeing it
  Seconds fence{0};   // Simple: draining the slice's stores before the flag is written
  Seconds credit{0};  // from the next rank's release of a slot to this rank seeing it
};

struct PositionPlan {
  std::array<OperationCost, ring_action_count> operations;
  HopCost to_next;
};

/// A ring call in the terms of flows: everything an executor of time needs, and nothing else.
struct RingPlan {
  ResolvedCall resolved;
  FlowNetwork network;
  std::vector<std::vector<PositionPlan>> rings =
      std::vector<std::vector<PositionPlan>>(1);  // [ring of the resolved call][position]
  std::vector<double> channel_factor;             // each channel's rates, of the mean
  bool flag_in_line = false;
  int fifo_slices = 8;
  Seconds empty_overhead{0};  // of an empty slice
  Seconds start{0};  // from the launch to the first instruction of the ring, and from its end to completion

  /// Positions of channel 0's ring, and of a channel's.
  const std::vector<PositionPlan>& positions() const { return rings.front(); }
  const std::vector<PositionPlan>& positions(std::size_t channel) const {
    return rings[resolved.ring_index(channel)];
  }
};

/// Relative rates of the channels: evenly spread in 1 +- spread; the first is the slowest, the rest dealt out
/// by seed. Source: h200-findings.md ("Channels are not identical").
std::vector<double> channel_factors(int channels, double spread, std::uint64_t seed);

/// Lanes, rates and latencies of a resolved call.
/// @param resolved  at least 2 ranks
RingPlan plan_ring(const Machine& machine, const Profile& profile, const ResolvedCall& resolved,
                   std::uint64_t seed);

/// Most that the call's flows can ask of each resource at once, in wire bytes: a block runs one action at a
/// time.
std::vector<BytesPerSecond> demand(const RingPlan& plan);

/// Time that a call of one rank takes: a launch, and a copy where it is out of place.
Seconds single_rank_time(const Profile& profile, const Call& call);

/// Launch and block start of a kernel, less what a stream hides (see `with_stream_period`).
Seconds launch_time(const Profile& profile, const ResolvedCall& resolved);

/// Time of a call as a stream of launches shows it: the soft maximum of the host's launch period and the
/// device's time. Source: h200-findings.md ("Stream mode").
Seconds with_stream_period(const Profile& profile, Seconds device_time);

}  // namespace lanecast
