#pragma once
#include <optional>
#include <vector>

#include "model/predict/schedule_plan.hpp"
#include "model/protocol/protocol.hpp"

namespace lanecast {

/// What the turns of a call cost on a machine: lanes, rates, overheads, flags. Builds the plan's network as
/// it goes.
///
/// A turn with several peers makes a flow for each, side by side; the block's rate is shared among them, and
/// what is reduced from n sources takes n times as long as from one.
class TurnCosts {
 public:
  TurnCosts(const Machine& machine, const Profile& profile, const ResolvedCall& resolved);

  /// Costs of every position of one channel.
  /// @param works  of the channel, by position
  /// @param order  GPU at each position
  std::vector<PositionPlan> positions(const std::vector<ChannelWork>& works, const std::vector<int>& order);

  FlowNetwork network() { return builder_.take(); }

 private:
  /// One way through a turn: from at most one source, to at most one destination.
  struct Stream {
    const Connection* in = nullptr;
    const Connection* out = nullptr;
  };

  PositionPlan position(ChannelWork work, const std::vector<int>& order);
  void add_ring_kinds(const ChannelWork& work, const std::vector<int>& order, PositionPlan& plan);
  void add_kinds(const ChannelWork& work, const std::vector<int>& order, PositionPlan& plan);
  void add_hop(int to, const std::vector<int>& order, PositionPlan& plan) const;
  const Connection* usual_source(const ChannelWork& work, const std::vector<int>& order) const;
  std::vector<Stream> streams_of(const Turn& turn, const std::vector<int>& order) const;
  std::vector<TurnPart> parts(TurnAction action, const std::vector<Stream>& streams);
  TurnPart part(TurnAction action, const std::vector<Stream>& streams);
  FlowCost flow(TurnAction action, const Stream& stream, std::size_t streams);
  HopCost hop(const Connection& link) const;

  int lane(const Stream& stream);
  std::optional<int> memory_lane(const Stream& stream);
  std::optional<int> peer_lane(const Stream& stream);
  BytesPerSecond joint_flow(const Stream& stream) const;

  BytesPerSecond payload_rate(const Stream& stream, TurnAction action) const;
  BytesPerSecond simple_rate(const Stream& stream, TurnAction action) const;
  BytesPerSecond pull_rate(const Connection& link) const;
  BytesPerSecond ll_rate(const Stream& stream, TurnAction action) const;
  BytesPerSecond ll128_rate(const Stream& stream, TurnAction action) const;
  Seconds overhead(TurnAction action, const Stream& stream) const;
  LoadRounds rounds(const Stream& stream) const;
  double thread_share() const;
  double fifo_share() const;
  double l2_gain() const;

  bool pulled(const Connection* link) const;
  int fifo_cpu(const Connection& link) const;
  Route store_route(const Connection& link) const;
  Route load_route(const Connection& link) const;
  Route peer(const Connection& link) const;
  Seconds host_round_trip(const Connection& link) const;

  const Machine& machine_;
  const Profile& profile_;
  const ResolvedCall& resolved_;
  ProtocolTraits traits_;
  FlowNetworkBuilder builder_;
  int gpu_ = 0;                         // whose turns are being costed
  int threads_ = 0;                     // of the strand
  const Connection* source_ = nullptr;  // what the GPU takes from; over host memory where any is
};

}  // namespace lanecast
