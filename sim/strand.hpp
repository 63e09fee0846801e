#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "model/predict/schedule_plan.hpp"
#include "sim/fifo_times.hpp"

namespace lanecast {

/// What all strands of a simulation share, whoever runs them.
struct StrandContext {
  StrandContext(const SchedulePlan& p, std::vector<bool> lanes)
      : plan(p), shared_lanes(std::move(lanes)), fifos(p.resolved.work.size()) {}

  const SchedulePlan& plan;
  std::vector<bool> shared_lanes;    // [lane]: crosses something that can be full
  std::vector<ChannelFifos> fifos;   // [channel]
  std::map<int, double> awake_from;  // PCIe link that was asleep -> when it is awake, once a flow has asked
  std::function<void(int)> wake;     // a strand that waited for a FIFO may go on
  std::uint64_t transfers = 0;       // slices with data
  bool accounts = false;             // also keep where times come from; needs `Lane::undisturbed`

  /// The FIFO from one position to another; in a plan reduced by symmetry, of those that stand for them.
  FifoTimes& fifo(int channel, int from, int to);
};

/// What one strand of one channel of one rank does with a slice, in simulated time: waits for credits and
/// flags, pays overheads, lets its flows run, posts credits and flags.
///
/// It says what it waits for and is told when that has come; who drives it (SimGrid's actors, or the event
/// loop of `event_simulation`) decides how. This is the only place that knows what a slice costs in time.
class Strand {
 public:
  enum class Wait {
    nothing,  // the slice is through
    post,     // for another strand: `StrandContext::wake` names this one when it may go on
    clock,    // until `until()`
    flows     // until the flows of `part()` that cross something shared have carried `payload_bytes()` each
  };

  /// @param number  by which `StrandContext::wake` calls it
  Strand(StrandContext& context, const ChannelWork& work, int number);

  /// Takes a slice of a turn of this kind. The one before is through.
  void begin(int kind, double payload_bytes);

  /// Goes on as far as it can at simulated time `clock`.
  Wait go_on(double clock);

  double until() const { return ready_; }
  const TurnPart& part() const { return (*kinds_[kind_].parts)[part_]; }
  double payload_bytes() const { return payload_; }

  /// Relative rate of the strand's channel: multiplies the cap of its flows.
  double factor() const { return factor_; }

  /// May run ahead of the clock while nothing is transferred.
  double now() const { return now_; }

  /// Where `now()` comes from; nothing but zeros where the context keeps no accounts.
  const TimeAccount& account() const { return account_; }

  /// Kinds of turn that the strand takes, and the parts of each; null where it takes none of a kind.
  std::size_t kind_count() const { return kinds_.size(); }
  const std::vector<TurnPart>* parts(std::size_t kind) const { return kinds_[kind].parts; }

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
  };

  enum class Phase { await_peers, await_wake, start_flows, await_clock, flowing, await_last_lines };

  void find_kinds(const ChannelWork& work);
  std::size_t source(const ChannelWork& work, int position);
  std::size_t destination(const ChannelWork& work, int position);
  bool peers_are_ready();
  bool last_lines_are_here();
  void set_ready();
  void begin_lines();
  bool must_wake() const;
  double wake_links(double ready);
  bool start_flows();
  void finish_part();
  bool crosses_shared(const FlowCost& flow) const;
  bool empty() const { return payload_ == 0; }
  void post_later(FifoTimes& fifo, FifoTimes::Event event, double fence, double flight);
  void follow(const FifoTimes& fifo, std::uint64_t slice);
  double undisturbed_seconds(const FlowCost& flow) const;
  void charge_transfer();

  StrandContext& context_;
  const PositionPlan& plan_;
  int number_;
  std::vector<Kind> kinds_;
  std::map<int, std::size_t> source_of_;       // position -> index
  std::map<int, std::size_t> destination_of_;  // position -> index
  std::vector<End> sources_;
  std::vector<End> destinations_;
  double factor_;

  std::size_t kind_ = 0;
  std::size_t part_ = 0;
  Phase phase_ = Phase::await_peers;
  double payload_ = 0;
  double ready_ = 0;
  double now_ = 0;
  TimeAccount account_;        // of `now_`
  TimeAccount ready_account_;  // of `ready_`
};

}  // namespace lanecast
