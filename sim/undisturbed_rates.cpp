#include "sim/undisturbed_rates.hpp"

#include <algorithm>
#include <limits>
#include <set>

namespace lanecast {
namespace {

/// Strands that take each lane, of all channels.
std::vector<int> strands_by_lane(const SchedulePlan& plan) {
  std::vector<int> strands(plan.network.lanes.size(), 0);
  for (std::size_t c = 0; c < plan.resolved.work.size(); ++c) {
    for (const PositionPlan& position : plan.positions(c)) {
      for (const auto& kinds : position.strands) {
        std::set<int> lanes;
        for (const auto& parts : kinds) {
          for (const TurnPart& part : parts) {
            for (const FlowCost& flow : part.flows) {
              if (flow.lane >= 0 && flow.rate.value() > 0) lanes.insert(flow.lane);
            }
          }
        }
        for (const int lane : lanes) ++strands[static_cast<std::size_t>(lane)];
      }
    }
  }
  return strands;
}

/// Lanes in use that cross each resource.
std::vector<int> lanes_by_resource(const FlowNetwork& network, const std::vector<int>& strands) {
  std::vector<int> lanes(network.resources.size(), 0);
  for (std::size_t l = 0; l < network.lanes.size(); ++l) {
    if (strands[l] == 0) continue;
    const std::set<int> crossed(network.lanes[l].resources.begin(), network.lanes[l].resources.end());
    for (const int resource : crossed) ++lanes[static_cast<std::size_t>(resource)];
  }
  return lanes;
}

}  // namespace

void set_undisturbed_rates(SchedulePlan& plan) {
  FlowNetwork& network = plan.network;
  const std::vector<int> strands = strands_by_lane(plan);
  const std::vector<int> lanes = lanes_by_resource(network, strands);
  for (std::size_t l = 0; l < network.lanes.size(); ++l) {
    const std::vector<int>& crossed = network.lanes[l].resources;
    double narrowest = std::numeric_limits<double>::infinity();
    for (const int index : crossed) {
      const Resource& resource = network.resources[static_cast<std::size_t>(index)];
      const int flows = std::max(1, strands[l]);
      BytesPerSecond capacity = resource.capacity;
      if (resource.soft) {
        capacity = soft_capacity(capacity, *resource.soft, flows);
      } else if (lanes[static_cast<std::size_t>(index)] == 1) {
        capacity = resource.usable;
      }
      const auto times = std::count(crossed.begin(), crossed.end(), index);
      narrowest = std::min(narrowest, capacity.value() / (flows * static_cast<double>(times)));
    }
    network.lanes[l].undisturbed = BytesPerSecond(narrowest);
  }
}

}  // namespace lanecast
