#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "model/predict/ring_plan.hpp"

namespace lanecast {

/// Payload bytes and slices of one channel at one ring position, by action.
struct ActionTotals {
  std::array<std::uint64_t, ring_action_count> bytes{};
  std::array<std::uint64_t, ring_action_count> slices{};
};

/// Totals of a whole call at one position of one channel, by running the shared schedule. Loops that repeat
/// are counted once and multiplied.
ActionTotals count_actions(const RingWork& work);

/// Wire bytes that the call puts on each resource of the plan's network.
std::vector<double> resource_wire_bytes(const RingPlan& plan);

/// The shortest time in which the links could carry the call, and the link that says so.
struct LinkLimit {
  Seconds time{0};
  int resource = -1;  // -1: nothing crosses a link
};

LinkLimit link_limit(const FlowNetwork& network, const std::vector<double>& wire_bytes);

/// The most loaded link of a call that took `time`.
std::optional<Bottleneck> bottleneck(const FlowNetwork& network, const std::vector<double>& wire_bytes,
                                     Seconds time);

/// A closed form of the call's time: launch, the flights and fences of one slice once around, and the slower
/// of the busiest channel and the most loaded link. No contention in time, no credits: an estimate for
/// choosing, never the answer.
Seconds closed_form_time(const RingPlan& plan);

}  // namespace lanecast
