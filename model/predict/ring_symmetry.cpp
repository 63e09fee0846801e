#include "model/predict/ring_symmetry.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace lanecast {
namespace {

constexpr double kMostAdded = 1e-4;  // of a channel's share, by rounding it up to a multiple of the ranks

bool same_cost(const FlowCost& a, const FlowCost& b) {
  return (a.lane < 0) == (b.lane < 0) && a.rate == b.rate && a.wire_per_payload == b.wire_per_payload;
}

bool same_resource(const Resource& a, const Resource& b) {
  const bool soft =
      a.soft.has_value() == b.soft.has_value() &&
      (!a.soft || (a.soft->exponent == b.soft->exponent && a.soft->flow_rate == b.soft->flow_rate));
  return soft && a.capacity == b.capacity && a.usable == b.usable && a.physical == b.physical;
}

/// Where a rotation takes each resource; grows lane by lane and says when two lanes disagree.
class ResourceMap {
 public:
  explicit ResourceMap(std::size_t resources) : to_(resources, -1), from_(resources, -1) {}

  bool add(int from, int to) {
    int& forward = to_[static_cast<std::size_t>(from)];
    int& backward = from_[static_cast<std::size_t>(to)];
    if (forward < 0 && backward < 0) {
      forward = to;
      backward = from;
    }
    return forward == to && backward == from;
  }

  int image(int resource) const { return to_[static_cast<std::size_t>(resource)]; }

 private:
  std::vector<int> to_;
  std::vector<int> from_;
};

bool map_lane(const FlowNetwork& network, int from, int to, ResourceMap& map) {
  const Lane& a = network.lanes[static_cast<std::size_t>(from)];
  const Lane& b = network.lanes[static_cast<std::size_t>(to)];
  if (a.resources.size() != b.resources.size()) return false;
  for (std::size_t i = 0; i < a.resources.size(); ++i) {
    const Resource& ra = network.resources[static_cast<std::size_t>(a.resources[i])];
    const Resource& rb = network.resources[static_cast<std::size_t>(b.resources[i])];
    if (!same_resource(ra, rb) || !map.add(a.resources[i], b.resources[i])) return false;
  }
  return true;
}

bool map_part(const FlowNetwork& network, const TurnPart& from, const TurnPart& to, ResourceMap& map) {
  if (from.overhead != to.overhead || from.flows.size() != to.flows.size()) return false;
  for (std::size_t f = 0; f < from.flows.size(); ++f) {
    if (!same_cost(from.flows[f], to.flows[f])) return false;
    if (from.flows[f].lane < 0) continue;
    if (!map_lane(network, from.flows[f].lane, to.flows[f].lane, map)) return false;
  }
  return true;
}

bool map_position(const FlowNetwork& network, const PositionPlan& from, const PositionPlan& to,
                  ResourceMap& map) {
  if (!(from.to_next() == to.to_next())) return false;
  const auto& kinds = from.strands.front();
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    for (std::size_t part = 0; part < kinds[k].size(); ++part) {
      if (!map_part(network, kinds[k][part], to.strands.front()[k][part], map)) return false;
    }
  }
  return true;
}

/// Every ring is turned by as many positions.
std::optional<ResourceMap> rotation(const SchedulePlan& plan, std::size_t by) {
  ResourceMap map(plan.network.resources.size());
  for (const std::vector<PositionPlan>& ring : plan.rings) {
    for (std::size_t p = 0; p < ring.size(); ++p) {
      if (!map_position(plan.network, ring[p], ring[(p + by) % ring.size()], map)) return std::nullopt;
    }
  }
  return map;
}

/// Number of the orbit of each resource, and how many resources each orbit has. Unused resources have none
/// (-1).
struct Orbits {
  std::vector<int> of;
  std::vector<int> size;
  std::vector<int> representative;
};

Orbits orbits_of(const FlowNetwork& network, const ResourceMap& map) {
  Orbits orbits;
  orbits.of.assign(network.resources.size(), -1);
  for (std::size_t r = 0; r < network.resources.size(); ++r) {
    if (orbits.of[r] >= 0 || map.image(static_cast<int>(r)) < 0) continue;
    const auto orbit = static_cast<int>(orbits.size.size());
    orbits.size.push_back(0);
    orbits.representative.push_back(static_cast<int>(r));
    for (int at = static_cast<int>(r); orbits.of[static_cast<std::size_t>(at)] < 0; at = map.image(at)) {
      orbits.of[static_cast<std::size_t>(at)] = orbit;
      ++orbits.size.back();
    }
  }
  return orbits;
}

FlowNetwork reduced_network(const FlowNetwork& network, const Orbits& orbits, double share_of_positions) {
  FlowNetwork reduced;
  for (std::size_t o = 0; o < orbits.size.size(); ++o) {
    Resource resource = network.resources[static_cast<std::size_t>(orbits.representative[o])];
    // all copies of a flow together load the orbit's members equally; one copy of each flow is left
    const double scale = orbits.size[o] * share_of_positions;
    resource.capacity = resource.capacity * scale;
    resource.usable = resource.usable * scale;
    reduced.resources.push_back(resource);
  }
  for (const Lane& lane : network.lanes) {
    Lane mapped = lane;
    for (int& r : mapped.resources) r = orbits.of[static_cast<std::size_t>(r)];
    reduced.lanes.push_back(mapped);
  }
  return reduced;
}

/// Lanes that the kept positions use, renumbered.
void drop_unused_lanes(SchedulePlan& plan) {
  std::map<int, int> kept;
  FlowNetwork network{plan.network.resources, {}};
  const auto renumber = [&](FlowCost& cost) {
    if (cost.lane < 0) return;
    const auto [at, fresh] = kept.try_emplace(cost.lane, static_cast<int>(network.lanes.size()));
    if (fresh) network.lanes.push_back(plan.network.lanes[static_cast<std::size_t>(cost.lane)]);
    cost.lane = at->second;
  };
  for (auto& ring : plan.rings) {
    for (PositionPlan& position : ring) {
      for (auto& kind : position.strands.front()) {
        for (TurnPart& part : kind) std::for_each(part.flows.begin(), part.flows.end(), renumber);
      }
    }
  }
  plan.network = std::move(network);
}

bool all_ranks_alike(Collective collective) {
  return collective == Collective::all_reduce || collective == Collective::reduce_scatter ||
         collective == Collective::all_gather;
}

bool soft_spreads(const FlowNetwork& network, const Orbits& orbits, double share) {
  for (std::size_t o = 0; o < orbits.size.size(); ++o) {
    const bool soft = network.resources[static_cast<std::size_t>(orbits.representative[o])].soft.has_value();
    if (soft && orbits.size[o] * share != 1.0) return true;
  }
  return false;
}

}  // namespace

int rotation_period(const SchedulePlan& plan) {
  const auto ranks = static_cast<int>(plan.positions().size());
  const bool asleep = std::any_of(plan.network.lanes.begin(), plan.network.lanes.end(),
                                  [](const Lane& lane) { return !lane.sleeping.empty(); });
  // who wakes a link that two ranks use is not the same for all of them
  if (asleep || plan.resolved.algorithm != Algorithm::ring || !all_ranks_alike(plan.resolved.call.collective))
    return ranks;
  for (int period = 1; period < ranks; ++period) {
    if (ranks % period == 0 && rotation(plan, static_cast<std::size_t>(period))) return period;
  }
  return ranks;
}

std::optional<SchedulePlan> reduce_by_rotation(const SchedulePlan& plan, int period) {
  const std::size_t ranks = plan.positions().size();
  const auto kept = static_cast<std::size_t>(period);
  if (kept >= ranks) return std::nullopt;
  const auto map = rotation(plan, kept);
  if (!map) return std::nullopt;
  const double share = static_cast<double>(period) / static_cast<double>(ranks);
  const Orbits orbits = orbits_of(plan.network, *map);
  // a soft capacity counts its flows: only where it is one rank's own do the counts stay as they are
  if (soft_spreads(plan.network, orbits, share)) return std::nullopt;
  SchedulePlan reduced = plan;
  for (auto& channel : reduced.resolved.work) {
    channel.resize(kept);
    for (ChannelWork& work : channel) {
      const std::uint64_t even = round_up(work.count, parts_per_loop(work) * work.grain_count);
      if (static_cast<double>(even - work.count) > kMostAdded * static_cast<double>(work.count))
        return std::nullopt;
      work.count = even;
    }
  }
  reduced.network = reduced_network(plan.network, orbits, share);
  for (auto& ring : reduced.rings) ring.resize(kept);
  drop_unused_lanes(reduced);
  return reduced;
}

}  // namespace lanecast
