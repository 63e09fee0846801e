#pragma once
#include <cstdint>
#include <vector>

#include "model/predict/schedule_plan.hpp"

namespace lanecast {

/// Payload bytes and slices of one strand, by kind of turn.
struct TurnTotals {
  std::vector<std::uint64_t> bytes;
  std::vector<std::uint64_t> slices;
  std::vector<std::uint64_t> filled;  // slices with data
};

/// Totals of a whole call of one strand of one position of one channel, by running the shared schedule. Loops
/// that repeat are counted once and multiplied.
TurnTotals count_turns(const ChannelWork& work);

/// Wire bytes that the call puts on each resource of the plan's network.
std::vector<double> resource_wire_bytes(const SchedulePlan& plan);

/// Adds what `payload_bytes` through a part of a turn put on each resource.
void add_wire_bytes(const FlowNetwork& network, const TurnPart& part, double payload_bytes,
                    std::vector<double>& wire_bytes);

/// The shortest time in which the links could carry the call, and the link that says so.
struct LinkLimit {
  Seconds time{0};
  int resource = -1;  // -1: nothing crosses a link
};

LinkLimit link_limit(const FlowNetwork& network, const std::vector<double>& wire_bytes);

/// The most loaded link of a call that took `time`.
std::optional<Bottleneck> bottleneck(const FlowNetwork& network, const std::vector<double>& wire_bytes,
                                     Seconds time);

/// A closed form of the call's time: launch, the flights and fences of one slice on the longest way through
/// the schedule, and the slower of the busiest strand and the links: of each phase of the schedule that waits
/// for the one before, the most loaded link. No contention in time, no credits: an estimate for
/// choosing, never the answer.
Seconds closed_form_time(const SchedulePlan& plan);

}  // namespace lanecast
