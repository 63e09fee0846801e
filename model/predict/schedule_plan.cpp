#include "model/predict/schedule_plan.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "model/predict/turn_costs.hpp"

namespace lanecast {
namespace {

std::uint64_t mix(std::uint64_t x) {  // splitmix64 (Vigna): a seed to well-mixed bits
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

}  // namespace

std::vector<double> channel_factors(int channels, double spread, std::uint64_t seed) {
  std::vector<double> factors;
  for (int c = 0; c < channels; ++c) {
    const double place = channels == 1 ? 0.0 : 2.0 * c / (channels - 1) - 1.0;
    factors.push_back(1.0 + spread * place);
  }
  for (std::size_t i = factors.size(); i > 1; --i) std::swap(factors[i - 1], factors[mix(seed + i) % i]);
  // The last channel may have less to do than the others. Were it the slowest, a larger call could take less
  // time.
  if (!factors.empty()) std::iter_swap(factors.begin(), std::min_element(factors.begin(), factors.end()));
  return factors;
}

namespace {

/// What larger blocks pay besides (h200-findings.md).
Seconds block_start(const Profile& profile, Protocol protocol, int threads) {
  switch (protocol) {
    case Protocol::simple:
      if (threads >= 256) return profile.time(Param::block_start_256);
      return threads >= 128 ? profile.time(Param::block_start_128) : Seconds(0);
    case Protocol::ll:
      return std::clamp((threads - 96) / 416.0, 0.0, 1.0) * profile.time(Param::block_start_ll);
    case Protocol::ll128:
      return std::clamp((threads - 320) / 320.0, 0.0, 1.0) * profile.time(Param::block_start_ll128);
  }
  return Seconds(0);
}

}  // namespace

Seconds launch_time(const Profile& profile, const ResolvedCall& resolved) {
  Seconds time = profile.time(resolved.specialised ? Param::base_specialised : Param::base_generic);
  time += block_start(profile, resolved.protocol, resolved.threads);
  time += (resolved.channels - 1) * profile.time(Param::channel_start);
  const bool host = std::any_of(resolved.connections.begin(), resolved.connections.end(),
                                [](const Connection& c) { return c.transport == Transport::shm; });
  if (host && resolved.protocol == Protocol::simple) time += profile.time(Param::simple_host_start);
  if (resolved.registered) time += profile.time(Param::registration_exchange);
  if (resolved.call.launch == Launch::graph) {
    time += profile.time(Param::graph_replay) * (1.0 / resolved.call.iterations);
  }
  return time;
}

Seconds with_stream_period(const Profile& profile, Seconds device_time) {
  constexpr double kSoftness = 4;
  const double period = profile.time(Param::stream_period).value();
  return Seconds(
      std::pow(std::pow(period, kSoftness) + std::pow(device_time.value(), kSoftness), 1.0 / kSoftness));
}

Seconds single_rank_time(const Profile& profile, const Call& call) {
  ResolvedCall alone;
  alone.call = call;
  alone.threads = 96;
  Seconds time = launch_time(profile, alone);
  if (!call.in_place) time += call.size / profile.rate(Param::local_copy);
  return time;
}

namespace {

/// Rates of all channels of a ring together, in mean channels.
double sum_of_factors(const SchedulePlan& plan, std::size_t ring) {
  double sum = 0;
  for (std::size_t c = 0; c < plan.channel_factor.size(); ++c) {
    if (plan.resolved.ring_index(c) == ring) sum += plan.channel_factor[c];
  }
  return sum;
}

using Rates = std::map<int, double>;  // of each resource, wire bytes per second

void add_rates(const SchedulePlan& plan, const TurnPart& part, Rates& rates) {
  for (const FlowCost& flow : part.flows) {
    if (flow.lane < 0) continue;
    for (const int r : plan.network.lanes[static_cast<std::size_t>(flow.lane)].resources)
      rates[r] += flow.rate.value();
  }
}

/// The most that any turn of a strand asks of each resource.
void add_most(const SchedulePlan& plan, const std::vector<std::vector<TurnPart>>& kinds, Rates& rates) {
  Rates most;
  for (const std::vector<TurnPart>& kind : kinds) {
    for (const TurnPart& part : kind) {
      Rates here;
      add_rates(plan, part, here);
      for (const auto& [r, rate] : here) most[r] = std::max(most[r], rate);
    }
  }
  for (const auto& [r, rate] : most) rates[r] += rate;
}

void add_to(std::vector<BytesPerSecond>& asked, const Rates& rates, double channels) {
  for (const auto& [r, rate] : rates) asked[static_cast<std::size_t>(r)] += BytesPerSecond(rate * channels);
}

/// What the passing on of data asks of each resource: the bulk of a ring's work, and what links are
/// approached with. Other schedules have no such turn: what they ask at most serves.
std::vector<BytesPerSecond> relay_demand(const SchedulePlan& plan) {
  if (plan.resolved.algorithm != Algorithm::ring) return demand(plan);
  const Collective collective = plan.resolved.call.collective;
  const bool reduces = collective != Collective::all_gather && collective != Collective::broadcast;
  const TurnAction relay = reduces ? TurnAction::reduce_send : TurnAction::copy_send;
  std::vector<BytesPerSecond> asked(plan.network.resources.size(), BytesPerSecond(0));
  for (std::size_t ring = 0; ring < plan.rings.size(); ++ring) {
    Rates rates;
    for (const PositionPlan& position : plan.rings[ring]) {
      for (const TurnPart& part : position.strands.front()[static_cast<std::size_t>(relay)])
        add_rates(plan, part, rates);
    }
    add_to(asked, rates, sum_of_factors(plan, ring));
  }
  return asked;
}

}  // namespace

double LoadRounds::longer_seconds(double payload_bytes) const {
  if (pack_bytes <= 0) return 0;
  return hunk_bytes > pack_bytes && payload_bytes > pack_bytes ? round_trip.value() : 0.0;
}

const HopCost& PositionPlan::hop(int to) const {
  return std::lower_bound(hops.begin(), hops.end(), to,
                          [](const auto& hop, int at) { return hop.first < at; })
      ->second;
}

std::vector<BytesPerSecond> demand(const SchedulePlan& plan) {
  std::vector<BytesPerSecond> asked(plan.network.resources.size(), BytesPerSecond(0));
  for (std::size_t ring = 0; ring < plan.rings.size(); ++ring) {
    for (const PositionPlan& position : plan.rings[ring]) {
      Rates rates;
      for (const auto& strand : position.strands) add_most(plan, strand, rates);
      add_to(asked, rates, sum_of_factors(plan, ring));
    }
  }
  return asked;
}

SchedulePlan plan_schedule(const Machine& machine, const Profile& profile, const ResolvedCall& resolved,
                           std::uint64_t seed) {
  SchedulePlan plan;
  plan.resolved = resolved;
  TurnCosts costs(machine, profile, resolved);
  plan.rings.assign(resolved.rings.size(), {});
  for (std::size_t c = 0; c < resolved.work.size(); ++c) {
    std::vector<PositionPlan>& positions = plan.rings[resolved.ring_index(c)];
    if (positions.empty()) positions = costs.positions(resolved.work[c], resolved.ring(c).order);
  }
  plan.network = costs.network();
  plan.channel_factor = channel_factors(resolved.channels, profile.value(Param::channel_spread), seed);
  const ProtocolTraits traits = protocol_traits(resolved.protocol);
  plan.seed = seed;
  plan.flag_in_line = traits.flag_in_line;
  plan.fifo_slices = resolved.fifo_slices;
  plan.empty_overhead = traits.flag_in_line ? Seconds(0) : profile.time(Param::simple_empty_slice);
  plan.start = launch_time(profile, resolved);
  const std::vector<BytesPerSecond> asked = relay_demand(plan);
  for (std::size_t r = 0; r < asked.size(); ++r) {
    Resource& resource = plan.network.resources[r];
    if (!resource.soft_approach || resolved.channels == 1) continue;
    // fewer blocks than fill the link don't make it slower for one of them
    resource.usable = approach(resource.capacity, std::max(asked[r], resource.capacity),
                               profile.value(Param::pcie_approach_exponent));
  }
  return plan;
}

}  // namespace lanecast
