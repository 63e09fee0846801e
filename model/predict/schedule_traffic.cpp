#include "model/predict/schedule_traffic.hpp"

#include <algorithm>
#include <map>

namespace lanecast {
namespace {

/// Executes nothing: adds up what it is asked to do.
class CountingPrimitives {
 public:
  explicit CountingPrimitives(const ChannelWork& work) : work_(work) {
    totals_.bytes.resize(static_cast<std::size_t>(kind_count(work)));
    totals_.slices.resize(totals_.bytes.size());
    totals_.filled.resize(totals_.bytes.size());
  }

  void run(const Turn& turn, const Slice& slice) {
    const auto kind = static_cast<std::size_t>(turn.kind);
    totals_.bytes[kind] += weight_ * slice.count * static_cast<std::uint64_t>(work_.element_bytes);
    totals_.slices[kind] += weight_;
    if (slice.count > 0) totals_.filled[kind] += weight_;
  }

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

  const TurnTotals& totals() const { return totals_; }

 private:
  const ChannelWork& work_;
  std::uint64_t weight_ = 1;
  TurnTotals totals_;
};
static_assert(SchedulePrimitives<CountingPrimitives>);

/// Calls `visit(channel, position, strand, totals)`. Positions of one channel may differ in their totals by
/// what they are in the schedule and by the last loop's short parts; each is counted.
template <class Visit>
void for_each_total(const SchedulePlan& plan, Visit visit) {
  for (std::size_t c = 0; c < plan.resolved.work.size(); ++c) {
    for (std::size_t p = 0; p < plan.resolved.work[c].size(); ++p) {
      ChannelWork work = plan.resolved.work[c][p];
      const int strands = strand_count(work);
      for (work.strand = 0; work.strand < strands; ++work.strand)
        visit(c, p, static_cast<std::size_t>(work.strand), count_turns(work));
    }
  }
}

/// Seconds that one part of a turn takes a block that is alone; nothing for what takes no time.
double alone_seconds(const TurnPart& part, double payload_bytes, double slices, double channel_factor) {
  double slowest = 0;
  bool timed = false;
  for (const FlowCost& flow : part.flows) {
    if (flow.rate.value() <= 0) continue;
    timed = true;
    slowest = std::max(slowest, payload_bytes * flow.wire_per_payload / (flow.rate.value() * channel_factor));
  }
  if (!timed) return 0.0;
  const double mean_slice = slices > 0 ? payload_bytes / slices : 0.0;
  return slowest + slices * (part.overhead.value() + part.rounds.longer_seconds(mean_slice));
}

/// Seconds that a strand's block is at work, were it alone.
double busy_seconds(const std::vector<std::vector<TurnPart>>& kinds, const TurnTotals& totals,
                    double channel_factor) {
  double seconds = 0;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    if (totals.bytes[k] == 0) continue;
    for (const TurnPart& part : kinds[k]) {
      seconds += alone_seconds(part, static_cast<double>(totals.bytes[k]),
                               static_cast<double>(totals.filled[k]), channel_factor);
    }
  }
  return seconds;
}

/// Which phase a kind of turn belongs to: every rank is through one before much of the next can begin.
std::size_t phase_of(const ChannelWork& work, std::size_t kind) {
  switch (work.schedule) {
    case Schedule::ring:
    case Schedule::tree:
    case Schedule::one_shot:
      return 0;
    case Schedule::two_shot:
      return kind < static_cast<std::size_t>(work.ranks - 1) ? 0 : 1;
    case Schedule::halving_doubling:
      return kind / 2;
    case Schedule::hierarchical:
      return kind / static_cast<std::size_t>(ring_kinds);
  }
  return 0;
}

/// Flights and fences of one slice around the ring; what the ranks do with it is counted with the channel's
/// work.
Seconds around_once(const SchedulePlan& plan) {
  const ChannelWork& work = plan.resolved.work.front().front();
  Seconds sum(0);
  const int turns = work.collective == Collective::broadcast || work.collective == Collective::reduce
                        ? work.ranks - 1
                        : ring_step_count(work.collective, work.ranks) - 1;
  for (int t = 0; t < turns; ++t) {
    const HopCost& hop = plan.positions()[static_cast<std::size_t>(t) % plan.positions().size()].to_next();
    sum += hop.flag + hop.fence;
  }
  return sum;
}

/// Positions between `position` and the root of its tree.
int depth_of(const std::vector<ChannelWork>& works, int position) {
  int depth = 0;
  for (int up = works[static_cast<std::size_t>(position)].tree.up; up >= 0;
       up = works[static_cast<std::size_t>(up)].tree.up) {
    ++depth;
  }
  return depth;
}

int deepest(const std::vector<ChannelWork>& works) {
  int deepest = 0;
  for (const ChannelWork& work : works) deepest = std::max(deepest, depth_of(works, work.position));
  return deepest;
}

/// Flights that follow each other on the longest way of one slice through the schedule.
int flights(const std::vector<ChannelWork>& works) {
  const ChannelWork& work = works.front();
  const bool twice = work.collective == Collective::all_reduce;
  switch (work.schedule) {
    case Schedule::ring:
      return ring_step_count(work.collective, work.ranks) - 1;
    case Schedule::tree:
      return (twice ? 2 : 1) * deepest(works);
    case Schedule::one_shot:
      return 1;
    case Schedule::two_shot:
      return twice ? 2 : 1;
    case Schedule::halving_doubling: {
      const HalvingDoubling shape = halving_doubling_of(work);
      return twice ? 2 * shape.exchanges + 2 * shape.before : work.ranks - 1;
    }
    case Schedule::hierarchical: {
      const int groups = hierarchy_of(work).groups;
      const int between = work.outer_tree ? 2 * deepest(works) : 2 * (groups - 1);
      return 2 * (work.group_ranks - 1) + between;
    }
  }
  return 0;
}

/// What the ranks on the way from a leaf to the root, or back, do with the first slice, each on average.
/// Lines are passed on as they come: of a slice of them only the first counts.
Seconds handling(const SchedulePlan& plan) {
  double seconds = 0;
  double turns = 0;
  for (std::size_t p = 0; p < plan.positions().size(); ++p) {
    const ChannelWork& work = plan.resolved.work.front()[p];
    const Slice first = slice_of(work, chunk_of(work, 0, 0), 0, 0, 0);
    const double bytes = plan.flag_in_line ? 0.0 : static_cast<double>(first.count) * work.element_bytes;
    for (const auto& strand : plan.positions()[p].strands) {
      seconds += alone_seconds(strand.front().front(), bytes, 1.0, plan.channel_factor.front());
      ++turns;
    }
  }
  return Seconds(seconds / turns);
}

/// That many flights and fences of the mean connection; in trees each flight is to another rank, whose work
/// on the slice is no strand's alone.
Seconds longest_way(const SchedulePlan& plan) {
  if (plan.resolved.algorithm == Algorithm::ring) return around_once(plan);
  Seconds sum(0);
  double hops = 0;
  for (const PositionPlan& position : plan.positions()) {
    for (const auto& hop : position.hops) {
      sum += hop.second.flag + hop.second.fence;
      ++hops;
    }
  }
  const double flown = flights(plan.resolved.work.front());
  const bool tree = plan.resolved.work.front().front().schedule == Schedule::tree;
  return sum * (flown / hops) + (tree ? handling(plan) * flown : Seconds(0));
}

}  // namespace

TurnTotals count_turns(const ChannelWork& work) {
  CountingPrimitives counter(work);
  run_schedule(counter, work);
  return counter.totals();
}

std::vector<double> resource_wire_bytes(const SchedulePlan& plan) {
  std::vector<double> bytes(plan.network.resources.size(), 0.0);
  for_each_total(
      plan, [&](std::size_t channel, std::size_t position, std::size_t strand, const TurnTotals& totals) {
        const auto& kinds = plan.positions(channel)[position].strands[strand];
        for (std::size_t k = 0; k < kinds.size(); ++k) {
          for (const TurnPart& part : kinds[k]) {
            add_wire_bytes(plan.network, part, static_cast<double>(totals.bytes[k]), bytes);
          }
        }
      });
  return bytes;
}

void add_wire_bytes(const FlowNetwork& network, const TurnPart& part, double payload_bytes,
                    std::vector<double>& wire_bytes) {
  for (const FlowCost& flow : part.flows) {
    if (flow.lane < 0) continue;
    for (const int r : network.lanes[static_cast<std::size_t>(flow.lane)].resources)
      wire_bytes[static_cast<std::size_t>(r)] += payload_bytes * flow.wire_per_payload;
  }
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

Seconds closed_form_time(const SchedulePlan& plan) {
  if (plan.resolved.work.empty()) return plan.start;
  double busiest = 0;
  std::map<std::size_t, std::vector<double>> wire;  // by phase
  for_each_total(
      plan, [&](std::size_t channel, std::size_t position, std::size_t strand, const TurnTotals& totals) {
        const auto& kinds = plan.positions(channel)[position].strands[strand];
        busiest = std::max(busiest, busy_seconds(kinds, totals, plan.channel_factor[channel]));
        for (std::size_t k = 0; k < kinds.size(); ++k) {
          auto& bytes = wire[phase_of(plan.resolved.work[channel][position], k)];
          bytes.resize(plan.network.resources.size(), 0.0);
          for (const TurnPart& part : kinds[k])
            add_wire_bytes(plan.network, part, static_cast<double>(totals.bytes[k]), bytes);
        }
      });
  double links = 0;
  for (const auto& [phase, bytes] : wire) {
    double most = 0;
    for (std::size_t r = 0; r < bytes.size(); ++r)
      most = std::max(most, bytes[r] / plan.network.resources[r].usable.value());
    links += most;
  }
  return plan.start + longest_way(plan) + Seconds(std::max(busiest, links));
}

}  // namespace lanecast
