#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <simgrid/s4u.hpp>
#include <tuple>
#include <vector>

#include "model/predict/schedule_plan.hpp"
#include "sim/folder.hpp"
#include "sim/loop_folding.hpp"
#include "sim/platform.hpp"
#include "sim/schedule_simulation.hpp"
#include "sim/strand.hpp"

namespace lanecast {

/// What all actors of a simulation share.
struct SimulationState {
  SimulationState(const SchedulePlan& p, Platform& pl);

  const SchedulePlan& plan;
  Platform& platform;
  StrandContext strands;
  LoopFolding loops;
  std::vector<simgrid::s4u::ActorPtr> asleep;  // [strand]: waits for a post; null: runs
  std::function<void(const IssuedSlice&)> on_issue;
  std::map<std::tuple<std::size_t, std::uint64_t, int>, std::unique_ptr<Folder>>
      step_folders;  // group, loop, phase
  double end = 0;    // of the last actor, with what folding left out
  std::vector<double> wire_bytes;
  bool fold_steps = false;
  bool folded = false;
};

/// A schedule's primitives in simulated time: one object for each SimGrid actor, which is one strand.
class ActorPrimitives {
 public:
  /// @param number  of the strand among all
  /// @param actor   number of this actor among those of its channel
  ActorPrimitives(SimulationState& state, const ChannelWork& work, int number, int actor,
                  simgrid::s4u::Mailbox* mailbox);

  void run(const Turn& turn, const Slice& slice);
  std::uint64_t next_loop(std::uint64_t loop, std::uint64_t loops);
  std::uint64_t next_step(std::uint64_t loop, std::uint64_t step, std::uint64_t steps);

  /// After run_schedule: the actor's part is over.
  void finish();

 private:
  /// Payload that went through the turns of a kind.
  struct Carried {
    double bytes = 0;
    double at_loop = 0;  // `bytes` when the last loop began
    double at_step = 0;
  };

  void put_flows();
  Folder* step_folder(std::uint64_t loop, std::uint64_t step);
  std::uint64_t fold(Folder& folder, std::uint64_t turn, double Carried::*at_turn);

  SimulationState& state_;
  const ChannelWork& work_;
  Strand strand_;
  int number_;
  int actor_;
  simgrid::s4u::Mailbox* mailbox_;
  std::vector<Carried> carried_;  // [kind]
  std::uint64_t puts_ = 0;
  double step_offset_ = 0;
};
static_assert(SchedulePrimitives<ActorPrimitives>);

}  // namespace lanecast
