#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "model/implementation/implementation.hpp"
#include "model/predict/flow_network.hpp"
#include "model/profile/profile.hpp"
#include "model/schedule/schedule.hpp"

namespace lanecast {

/// One of the flows that a slice of a turn makes: to or from one peer, or within the GPU.
struct FlowCost {
  int lane = -1;                // of the plan's network; -1: nothing leaves the GPU
  BytesPerSecond rate{0};       // wire bytes of one mean channel; 0: takes no time (registered buffers)
  double wire_per_payload = 1;  // wire bytes a payload byte: protocol x packets of the lane
  bool operator==(const FlowCost&) const = default;
};

/// Loads from afar come in rounds: a warp has a hunk of several packs a thread in flight; what is no whole
/// hunk goes one pack a thread at a time. Blocks of few threads then need a second round trip. (More of them,
/// for what is left behind whole hunks, are left out: a slice never takes longer than a larger one.) Source:
/// NVIDIA/nccl src/device/common_kernel.h (reduceCopyPacks: whole hunks unrolled, the rest not).
struct LoadRounds {
  double pack_bytes = 0;  // of all threads; 0: nothing comes from afar
  double hunk_bytes = 0;  // of a warp
  Seconds round_trip{0};

  /// Beyond the first round trip, which the overhead counts.
  double longer_seconds(double payload_bytes) const;
};

/// What one slice costs a block: a wait-free share, then flows side by side. A turn is one such part, or two
/// where a slice is taken out of the FIFO before it is passed on.
struct TurnPart {
  bool receives = false;
  bool sends = false;
  bool beside = false;  // runs beside the turn before: neither its overhead nor that of an empty slice counts
  Seconds overhead{0};  // barriers, first loads: before the bytes
  LoadRounds rounds;
  std::vector<FlowCost> flows;
};

/// What passes between a rank and one that it gives to besides data.
struct HopCost {
  Seconds flag{0};    // from the post (Simple) or the store (LL, LL128) to the other rank seeing it
  Seconds fence{0};   // Simple: draining the slice's stores before the flag is written
  Seconds credit{0};  // from the other rank's release of a slot to this rank seeing it
  Seconds look{0};    // at a credit, before each slice once the FIFO has been full
  bool operator==(const HopCost&) const = default;
};

struct PositionPlan {
  std::vector<std::vector<std::vector<TurnPart>>> strands;  // [strand][kind of turn][part]
  std::vector<std::pair<int, HopCost>> hops;                // by position that it gives to, ascending

  const HopCost& hop(int to) const;

  /// A ring's turns: what the position does to go through with `action`, and its only hop.
  const TurnPart& part(TurnAction action) const {
    return strands.front()[static_cast<std::size_t>(action)].front();
  }
  const FlowCost& flow(TurnAction action) const { return part(action).flows.front(); }
  const HopCost& to_next() const { return hops.front().second; }
};

/// A call in the terms of flows: everything an executor of time needs, and nothing else.
struct SchedulePlan {
  ResolvedCall resolved;
  FlowNetwork network;
  std::vector<std::vector<PositionPlan>> rings =
      std::vector<std::vector<PositionPlan>>(1);  // [order of the resolved call][position]
  std::vector<double> channel_factor;             // each channel's rates, of the mean
  bool flag_in_line = false;
  int fifo_slices = 8;
  Seconds empty_overhead{0};  // of an empty slice
  std::uint64_t seed = 1;     // of the channels' spread
  Seconds start{0};  // from the launch to the first instruction of the call, and from its end to completion

  /// Positions of channel 0's order, and of a channel's.
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
SchedulePlan plan_schedule(const Machine& machine, const Profile& profile, const ResolvedCall& resolved,
                           std::uint64_t seed);

/// Most that the call's flows can ask of each resource at once, in wire bytes: a strand runs one turn at a
/// time.
std::vector<BytesPerSecond> demand(const SchedulePlan& plan);

/// Time that a call of one rank takes: a launch, and a copy where it is out of place.
Seconds single_rank_time(const Profile& profile, const Call& call);

/// Launch and block start of a kernel, less what a stream hides (see `with_stream_period`).
Seconds launch_time(const Profile& profile, const ResolvedCall& resolved);

/// Time of a call as a stream of launches shows it: the soft maximum of the host's launch period and the
/// device's time. Source: h200-findings.md ("Stream mode").
Seconds with_stream_period(const Profile& profile, Seconds device_time);

}  // namespace lanecast
