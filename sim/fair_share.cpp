#include "sim/fair_share.hpp"

#include <algorithm>
#include <limits>
#include <map>

namespace lanecast {
namespace {

constexpr double kRounding = 1e-12;  // of a flow's bytes, or of a resource's capacity

}  // namespace

FairShare::FairShare(const FlowNetwork& network, const std::vector<bool>& deciding) {
  std::vector<std::size_t> number(network.resources.size(), 0);
  for (std::size_t r = 0; r < network.resources.size(); ++r) {
    if (!deciding[r]) continue;
    const Resource& resource = network.resources[r];
    number[r] = resources_.size();
    resources_.push_back({resource.usable.value(), resource.soft.has_value(),
                          resource.soft.value_or(SoftCapacity{}), 0, 0, 0});
  }
  for (const Lane& lane : network.lanes) {
    std::map<std::size_t, double> times;
    for (const int r : lane.resources) {
      if (deciding[static_cast<std::size_t>(r)]) times[number[static_cast<std::size_t>(r)]] += 1;
    }
    lanes_.emplace_back();
    for (const auto& [resource, count] : times) lanes_.back().push_back({resource, count});
  }
}

void FairShare::add(int lane, double cap, double wire_bytes, int owner) {
  flows_.push_back(
      {static_cast<std::size_t>(lane), cap, wire_bytes, kRounding * wire_bytes, 0, owner, false});
  stale_ = true;
}

double FairShare::next_end() {
  if (stale_) find_rates();
  double soonest = std::numeric_limits<double>::infinity();
  for (const Flow& flow : flows_) soonest = std::min(soonest, flow.left / flow.rate);
  return soonest;
}

std::vector<double> FairShare::rates() {
  if (stale_) find_rates();
  std::vector<double> rates;
  for (const Flow& flow : flows_) rates.push_back(flow.rate);
  return rates;
}

void FairShare::advance(double seconds, std::vector<int>& ended) {
  if (stale_) find_rates();
  std::size_t kept = 0;
  for (Flow& flow : flows_) {
    flow.left -= flow.rate * seconds;
    if (flow.left > flow.negligible) {
      flows_[kept++] = flow;
    } else {
      ended.push_back(flow.owner);
    }
  }
  stale_ = stale_ || kept != flows_.size();
  flows_.resize(kept);
}

void FairShare::load_resources() {
  for (Shared& resource : resources_) {
    resource.weight = 0;
    resource.flows = 0;
  }
  for (Flow& flow : flows_) {
    flow.fixed = false;
    for (const Crossing& crossing : lanes_[flow.lane]) {
      resources_[crossing.resource].weight += crossing.times;
      ++resources_[crossing.resource].flows;
    }
  }
  for (Shared& resource : resources_) {
    resource.left =
        resource.is_soft && resource.flows > 0
            ? soft_capacity(BytesPerSecond(resource.capacity), resource.soft, resource.flows).value()
            : resource.capacity;
  }
}

void FairShare::fix(Flow& flow, double rate) {
  flow.fixed = true;
  flow.rate = rate;
  for (const Crossing& crossing : lanes_[flow.lane]) {
    Shared& resource = resources_[crossing.resource];
    resource.left -= rate * crossing.times;
    resource.weight -= crossing.times;
  }
}

/// @return  whether any flow had less than `level` as its cap
bool FairShare::fix_capped(double level, std::size_t& open) {
  const std::size_t before = open;
  for (Flow& flow : flows_) {
    if (flow.fixed || flow.cap > level) continue;
    fix(flow, flow.cap);
    --open;
  }
  return open < before;
}

void FairShare::fix_at_bottleneck(double level, std::size_t& open) {
  for (Flow& flow : flows_) {
    if (flow.fixed) continue;
    const auto& crossings = lanes_[flow.lane];
    const bool stopped = std::any_of(crossings.begin(), crossings.end(), [&](const Crossing& crossing) {
      const Shared& resource = resources_[crossing.resource];
      return resource.left <= level * resource.weight + kRounding * resource.capacity;
    });
    if (!stopped) continue;
    fix(flow, level);
    --open;
  }
}

void FairShare::find_rates() {
  load_resources();
  std::size_t open = flows_.size();
  while (open > 0) {
    double level = std::numeric_limits<double>::infinity();
    for (const Shared& resource : resources_) {
      if (resource.weight > 0.5) level = std::min(level, std::max(resource.left, 0.0) / resource.weight);
    }
    if (!fix_capped(level, open)) fix_at_bottleneck(level, open);
  }
  stale_ = false;
}

}  // namespace lanecast
