#pragma once
#include <cstdint>
#include <vector>

#include "model/predict/schedule_plan.hpp"
#include "sim/schedule_simulation.hpp"

namespace lanecast::bench {

/// One transfer of a ring, as SimGrid sees it.
struct Transfer {
  int lane = 0;  // of the plan's network
  double wire_bytes = 0;
  BytesPerSecond cap{0};
};

/// What each actor (a channel of a rank) of the exact simulation hands to SimGrid, in its order. Slices that
/// cross no resource that can be full are left out: the simulator adds up their time itself.
std::vector<std::vector<Transfer>> transfers_of(const SchedulePlan& plan);

std::uint64_t count(const std::vector<std::vector<Transfer>>& transfers);

/// The least that SimGrid needs for these transfers: one actor for each sequence, which puts each transfer
/// and waits for it. Same platform, routes, sizes and caps as the exact simulation, but no schedule, flags,
/// credits or overheads. Once a process.
ScheduleSimulation run_plain(const SchedulePlan& plan, const std::vector<std::vector<Transfer>>& transfers);

}  // namespace lanecast::bench
