#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <simgrid/s4u.hpp>
#include <tuple>
#include <vector>

#include "model/predict/ring_plan.hpp"
#include "sim/folder.hpp"
#include "sim/platform.hpp"
#include "sim/ring_simulation.hpp"

namespace lanecast {

/// The FIFO between a rank and the next on one channel, as times at which things become visible.
///
/// Flags and credits are timestamps, never flows (simgrid.md). Their wire bytes are not charged: a packet of
/// 32 B a slice for Simple's flag (0.08 % of a slice of 32 KiB, 1.3 % of one of 2 KiB), none in LL and LL128,
/// whose flags are in the lines; a packet of 32 B a slice the other way for the credit.
class FifoTimes {
 public:
  explicit FifoTimes(int slots);

  enum Event { begun, done, credit, event_count };

  /// The `number`-th event becomes visible at `when`; wakes whoever waits for it.
  void post(Event event, double when);

  /// When the `number`-th event becomes visible; blocks the calling actor until it has been posted.
  double wait(Event event, std::uint64_t number);

 private:
  struct Stream {
    std::vector<double> when;
    std::uint64_t posted = 0;
    simgrid::s4u::ActorPtr waiting;
  };

  std::size_t slots_;
  Stream streams_[event_count];
};

/// What all actors of a simulation share.
struct RingState {
  RingState(const RingPlan& p, Platform& pl) : plan(p), platform(pl) {}

  const RingPlan& plan;
  Platform& platform;
  std::vector<std::vector<FifoTimes>> fifos;          // [channel][position]: from it to the next
  std::vector<std::unique_ptr<Folder>> loop_folders;  // one for each group of channels that share something
  std::vector<std::size_t> folder_of;                 // channel -> group
  std::vector<int> place_in_group;                    // channel -> its number within its group
  std::vector<std::vector<Folder::Channel>> groups;   // group -> its channels
  std::function<void(const IssuedSlice&)> on_issue;
  std::map<std::tuple<std::size_t, std::uint64_t, int>, std::unique_ptr<Folder>>
      step_folders;  // group, loop, phase
  double end = 0;    // of the last actor, with what folding left out
  std::vector<double> wire_bytes;
  std::uint64_t transfers = 0;
  bool fold_loops = false;
  bool fold_steps = false;
  bool folded = false;
};

/// The ring's primitives in simulated time: one object for each SimGrid actor.
class ActorPrimitives {
 public:
  ActorPrimitives(RingState& state, const RingWork& work, simgrid::s4u::Mailbox* mailbox);

  void send(const Slice& s) { run(RingAction::send, s); }
  void keep_send(const Slice& s) { run(RingAction::keep_send, s); }
  void reduce_send(const Slice& s) { run(RingAction::reduce_send, s); }
  void reduce_keep_send(const Slice& s) { run(RingAction::reduce_keep_send, s); }
  void reduce_keep(const Slice& s) { run(RingAction::reduce_keep, s); }
  void copy_send(const Slice& s) { run(RingAction::copy_send, s); }
  void copy(const Slice& s) { run(RingAction::copy, s); }
  std::uint64_t next_loop(std::uint64_t loop, std::uint64_t loops);
  std::uint64_t next_step(std::uint64_t loop, std::uint64_t step, std::uint64_t steps);

  /// After run_ring: the actor's part is over.
  void finish();

 private:
  void run(RingAction action, const Slice& slice);
  void turn(RingAction action, const Slice& slice);
  double ready_time(RingAction action, const OperationCost& cost, bool empty);
  void transfer(const OperationCost& cost, double wire_bytes, double ready);
  double wake_links(int lane);
  Folder* step_folder(std::uint64_t loop, std::uint64_t step);
  std::uint64_t fold(Folder& folder, std::uint64_t turn, std::array<double, ring_action_count>& at_turn);

  RingState& state_;
  const RingWork& work_;
  const PositionPlan& plan_;
  simgrid::s4u::Mailbox* mailbox_;
  FifoTimes& from_previous_;
  FifoTimes& to_next_;
  Seconds credit_flight_;  // back to the previous rank
  double factor_;
  double now_ = 0;              // may run ahead of SimGrid's clock while nothing is transferred
  std::uint64_t received_ = 0;  // slices
  std::uint64_t sent_ = 0;
  std::uint64_t puts_ = 0;
  std::vector<bool> lane_awake_;
  std::array<double, ring_action_count> wire_bytes_{};
  std::array<double, ring_action_count> at_loop_{};  // wire_bytes_ when the last turn began
  std::array<double, ring_action_count> at_step_{};
  double step_offset_ = 0;
};
static_assert(RingPrimitives<ActorPrimitives>);

}  // namespace lanecast
