#include "model/predict/ring_traffic.hpp"

#include <algorithm>

namespace lanecast {
namespace {

/// Executes nothing: adds up what it is asked to do.
class CountingPrimitives {
 public:
  explicit CountingPrimitives(const RingWork& work) : work_(work) {}

  void send(const Slice& s) { add(RingAction::send, s); }
  void keep_send(const Slice& s) { add(RingAction::keep_send, s); }
  void reduce_send(const Slice& s) { add(RingAction::reduce_send, s); }
  void reduce_keep_send(const Slice& s) { add(RingAction::reduce_keep_send, s); }
  void reduce_keep(const Slice& s) { add(RingAction::reduce_keep, s); }
  void copy_send(const Slice& s) { add(RingAction::copy_send, s); }
  void copy(const Slice& s) { add(RingAction::copy, s); }

  /// All full loops are alike: the first stands for them, then comes the last.
  std::uint64_t next_loop(std::uint64_t loop, std::uint64_t loops) {
    if (loop == 0 && loops > 2) {
      weight_ = loops - 1;
      return 0;
    }
    const bool skip = weight_ > 1;
    weight_ = 1;
    return skip ? loops - 1 : loop;
  }
  std::uint64_t next_step(std::uint64_t, std::uint64_t step, std::uint64_t) { return step; }

  const ActionTotals& totals() const { return totals_; }

 private:
  void add(RingAction action, const Slice& slice) {
    const auto i = static_cast<std::size_t>(action);
    totals_.bytes[i] += weight_ * slice.count * static_cast<std::uint64_t>(work_.element_bytes);
    totals_.slices[i] += weight_;
  }

  const RingWork& work_;
  std::uint64_t weight_ = 1;
  ActionTotals totals_;
};
static_assert(RingPrimitives<CountingPrimitives>);

/// Positions of one channel differ in their totals only by the last loop's short chunks; each is counted.
template <class Visit>
void for_each_total(const RingPlan& plan, Visit visit) {
  for (std::size_t c = 0; c < plan.resolved.work.size(); ++c) {
    for (std::size_t p = 0; p < plan.resolved.work[c].size(); ++p)
      visit(c, p, count_actions(plan.resolved.work[c][p]));
  }
}

/// Flights and fences of one slice around the ring; what the ranks do with it is counted with the channel's
/// work.
Seconds around_once(const RingPlan& plan) {
  const RingWork& work = plan.resolved.work.front().front();
  Seconds sum(0);
  const int turns = work.collective == Collective::broadcast || work.collective == Collective::reduce
                        ? work.ranks - 1
                        : ring_step_count(work.collective, work.ranks) - 1;
  for (int t = 0; t < turns; ++t) {
    const PositionPlan& at = plan.positions()[static_cast<std::size_t>(t) % plan.positions().size()];
    sum += at.to_next.flag + at.to_next.fence;
  }
  return sum;
}

}  // namespace

ActionTotals count_actions(const RingWork& work) {
  CountingPrimitives counter(work);
  run_ring(counter, work);
  return counter.totals();
}

std::vector<double> resource_wire_bytes(const RingPlan& plan) {
  std::vector<double> bytes(plan.network.resources.size(), 0.0);
  for_each_total(plan, [&](std::size_t channel, std::size_t position, const ActionTotals& totals) {
    for (std::size_t a = 0; a < ring_action_count; ++a) {
      const OperationCost& cost = plan.positions(channel)[position].operations[a];
      if (cost.lane < 0 || totals.bytes[a] == 0) continue;
      const double wire = static_cast<double>(totals.bytes[a]) * cost.wire_per_payload;
      for (const int r : plan.network.lanes[static_cast<std::size_t>(cost.lane)].resources) {
        bytes[static_cast<std::size_t>(r)] += wire;
      }
    }
  });
  return bytes;
}

LinkLimit link_limit(const FlowNetwork& network, const std::vector<double>& wire_bytes) {
  LinkLimit limit;
  for (std::size_t r = 0; r < network.resources.size(); ++r) {
    if (!network.resources[r].physical || wire_bytes[r] <= 0) continue;
    const Seconds time(wire_bytes[r] / network.resources[r].capacity.value());
    if (time > limit.time) limit = {time, static_cast<int>(r)};
  }
  return limit;
}

std::optional<Bottleneck> bottleneck(const FlowNetwork& network, const std::vector<double>& wire_bytes,
                                     Seconds time) {
  const LinkLimit limit = link_limit(network, wire_bytes);
  if (limit.resource < 0) return std::nullopt;
  const Resource& link = network.resources[static_cast<std::size_t>(limit.resource)];
  return Bottleneck{link.link, link.direction, limit.time / time};
}

Seconds closed_form_time(const RingPlan& plan) {
  if (plan.resolved.work.empty()) return plan.start;
  std::vector<double> busiest(plan.resolved.work.size(), 0.0);
  for_each_total(plan, [&](std::size_t channel, std::size_t position, const ActionTotals& totals) {
    double seconds = 0;
    for (std::size_t a = 0; a < ring_action_count; ++a) {
      const OperationCost& cost = plan.positions(channel)[position].operations[a];
      if (cost.rate.value() <= 0) continue;
      const double wire = static_cast<double>(totals.bytes[a]) * cost.wire_per_payload;
      seconds += wire / (cost.rate.value() * plan.channel_factor[channel]);
      if (totals.bytes[a] > 0) seconds += static_cast<double>(totals.slices[a]) * cost.overhead.value();
    }
    busiest[channel] = std::max(busiest[channel], seconds);
  });
  const double channels = *std::max_element(busiest.begin(), busiest.end());
  double links = 0;
  const std::vector<double> wire = resource_wire_bytes(plan);
  for (std::size_t r = 0; r < wire.size(); ++r) {
    links = std::max(links, wire[r] / plan.network.resources[r].usable.value());
  }
  return plan.start + around_once(plan) + Seconds(std::max(channels, links));
}

}  // namespace lanecast
