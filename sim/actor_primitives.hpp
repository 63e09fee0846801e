#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <simgrid/s4u.hpp>
#include <tuple>
#include <utility>
#include <vector>

#include "model/predict/schedule_plan.hpp"
#include "sim/folder.hpp"
#include "sim/platform.hpp"
#include "sim/schedule_simulation.hpp"

namespace lanecast {

/// The FIFO between two ranks on one channel, as times at which things become visible.
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

/// FIFOs of one channel, by the positions of sender and receiver.
using ChannelFifos = std::map<std::pair<int, int>, FifoTimes>;

/// What all actors of a simulation share.
struct SimulationState {
  SimulationState(const SchedulePlan& p, Platform& pl) : plan(p), platform(pl) {}

  const SchedulePlan& plan;
  Platform& platform;
  std::vector<ChannelFifos> fifos;                    // [channel]
  std::vector<std::unique_ptr<Folder>> loop_folders;  // one for each group of channels that share something
  std::vector<std::size_t> folder_of;                 // channel -> group
  std::vector<int> place_in_group;                    // channel -> its number within its group
  std::vector<std::vector<Folder::Channel>> groups;   // group -> its channels
  std::function<void(const IssuedSlice&)> on_issue;
  std::map<std::tuple<std::size_t, std::uint64_t, int>, std::unique_ptr<Folder>>
      step_folders;                  // group, loop, phase
  std::map<int, double> awake_from;  // PCIe link that was asleep -> when it is awake, once a flow has asked
  double end = 0;                    // of the last actor, with what folding left out
  std::vector<double> wire_bytes;
  std::uint64_t transfers = 0;
  bool fold_loops = false;
  bool fold_steps = false;
  bool folded = false;

  /// The FIFO from one position to another; in a plan reduced by symmetry, of those that stand for them.
  FifoTimes& fifo(int channel, int from, int to);
};

/// A schedule's primitives in simulated time: one object for each SimGrid actor, which is one strand.
class ActorPrimitives {
 public:
  /// @param actor  number of this actor among those of its channel
  ActorPrimitives(SimulationState& state, const ChannelWork& work, int actor, simgrid::s4u::Mailbox* mailbox);

  void run(const Turn& turn, const Slice& slice);
  std::uint64_t next_loop(std::uint64_t loop, std::uint64_t loops);
  std::uint64_t next_step(std::uint64_t loop, std::uint64_t step, std::uint64_t steps);

  /// After run_schedule: the actor's part is over.
  void finish();

 private:
  /// This end of a connection: to give into, or to take from.
  struct End {
    FifoTimes* fifo = nullptr;
    HopCost cost;
    std::uint64_t slices = 0;  // through this end so far
  };

  /// A kind of turn: what it costs, and whom it is with.
  struct Kind {
    const std::vector<TurnPart>* parts = nullptr;
    std::vector<std::size_t> sources;       // in `sources_`
    std::vector<std::size_t> destinations;  // in `destinations_`
    double payload_bytes = 0;               // through it so far
    double at_loop = 0;                     // `payload_bytes` when the last loop began
    double at_step = 0;
  };

  void find_kinds();
  std::size_t source(int position);
  std::size_t destination(int position);
  void take_part(const TurnPart& part, const Kind& kind, double payload_bytes, bool empty);
  double ready_time(const TurnPart& part, const Kind& kind, bool empty);
  void transfer(const TurnPart& part, double payload_bytes, double ready);
  void put_flows(const std::vector<FlowCost>& flows, double payload_bytes);
  double wake_links(const TurnPart& part, double ready);
  Folder* step_folder(std::uint64_t loop, std::uint64_t step);
  std::uint64_t fold(Folder& folder, std::uint64_t turn, double Kind::*at_turn);

  SimulationState& state_;
  const ChannelWork& work_;
  int actor_;
  const PositionPlan& plan_;
  simgrid::s4u::Mailbox* mailbox_;
  std::vector<Kind> kinds_;
  std::map<int, std::size_t> source_of_;       // position -> index
  std::map<int, std::size_t> destination_of_;  // position -> index
  std::vector<End> sources_;
  std::vector<End> destinations_;
  double factor_;
  double now_ = 0;  // may run ahead of SimGrid's clock while nothing is transferred
  std::uint64_t puts_ = 0;
  double step_offset_ = 0;
};
static_assert(SchedulePrimitives<ActorPrimitives>);

}  // namespace lanecast
