#include "model/predict/band.hpp"

#include <algorithm>
#include <cmath>

#include "model/predict/call_kind.hpp"
#include "model/predict/schedule_traffic.hpp"
#include "model/profile/coordinate.hpp"

namespace lanecast {
namespace {

constexpr double kSmallBytes = 64.0 * 1024;        // up to here latency decides
constexpr double kLargeBytes = 4.0 * 1024 * 1024;  // from here bandwidth does
constexpr double kStep = 0.01;                     // of a coordinate, for differences

// Standard deviations of log time, by rule: what a fit says of calls outside its data (docs/calibration.md).
constexpr double kOtherKind = 0.20;         // algorithm, protocol or class of path that was not measured
constexpr double kOtherLinks = 0.10;        // another generation or width
constexpr double kOtherLaunch = 0.10;       // stream for graph, or the other way
constexpr double kOtherCollective = 0.10;   // all-gather for all-reduce
constexpr double kEachDoubledRanks = 0.05;  // more ranks, or fewer, than were measured
constexpr double kEachFactorFour = 0.03;    // of size or channels beyond those measured
constexpr double kMostDeviation = 2.0;      // a factor of 27 each way says enough
constexpr double kUnknownSpread = 0.05;     // where no spread is on record for such a call

Band assumed_band(const Profile& profile, Bytes size) {
  const double small = profile.value(Param::band_latency);
  const double large = profile.value(Param::band_bandwidth);
  const double bytes = std::clamp(static_cast<double>(size.value()), kSmallBytes, kLargeBytes);
  const double share = std::log(bytes / kSmallBytes) / std::log(kLargeBytes / kSmallBytes);
  const double width = small + share * (large - small);
  return {1.0 / (1.0 + width), 1.0 + width, {}};
}

double time_with(const Machine& machine, const Profile& profile, const SchedulePlan& plan) {
  const SchedulePlan moved = plan_schedule(machine, profile, plan.resolved, plan.seed);
  return closed_form_time(moved).value();
}

/// Whether a call's closed form can depend on a parameter at all: what belongs to another protocol, path or
/// engine is not looked at.
bool can_matter(Param parameter, const ResolvedCall& resolved) {
  const std::string& name = info(parameter).name;
  const auto begins = [&](const char* head) { return name.rfind(head, 0) == 0; };
  const bool shm = std::any_of(resolved.connections.begin(), resolved.connections.end(),
                               [](const Connection& c) { return c.transport == Transport::shm; });
  const bool nvlink = std::any_of(resolved.connections.begin(), resolved.connections.end(),
                                  [](const Connection& c) { return c.nvlink; });
  if (begins("staged.") || begins("pcie.copy_payload") || name == "nvlink.copy_efficiency") return false;
  if (name == "gpu.stream_period" || name == "gpu.local_copy") return false;
  if (begins("simple.") && resolved.protocol != Protocol::simple) {
    return name == "simple.host.reduce_send" && shm;  // the joint capacity counts with it
  }
  if ((begins("ll.") || begins("gpu.l2_")) && resolved.protocol != Protocol::ll) return false;
  if (begins("ll128.") && resolved.protocol != Protocol::ll128) return false;
  if ((begins("nvlink.") || name == "latency.nvlink") && !nvlink) return false;
  const bool pulls_data = pulls(resolved.algorithm);  // loads from a peer are like those from the host
  return shm || pulls_data || !(begins("host.") || begins("simple.host.") || name == "duplex.host");
}

/// Variance of log time that the parameters leave.
double parameter_variance(const Machine& machine, const Profile& profile, const SchedulePlan& plan) {
  const FitRecord& fit = *profile.fit;
  std::vector<Param> parameters;
  for (const FittedParameter& fitted : fit.parameters) parameters.push_back(fitted.parameter);
  const std::size_t known = parameters.size();
  for (std::size_t i = 0; i < parameter_count; ++i) {
    const auto parameter = static_cast<Param>(i);
    const bool fitted = std::find(parameters.begin(), parameters.end(), parameter) != parameters.end();
    if (!fitted && group_of(parameter) != ParameterGroup::band) parameters.push_back(parameter);
  }
  std::vector<Param> asked;
  for (const Param parameter : parameters) {
    if (can_matter(parameter, plan.resolved)) asked.push_back(parameter);
  }
  const std::vector<double> found = log_time_derivatives(machine, profile, plan, asked);
  std::vector<double> slope(parameters.size(), 0.0);
  for (std::size_t k = 0, next = 0; k < parameters.size(); ++k) {
    if (next < asked.size() && asked[next] == parameters[k]) slope[k] = found[next++];
  }
  double variance = 0;
  for (std::size_t a = 0; a < known; ++a) {
    if (slope[a] == 0) continue;
    for (std::size_t b = 0; b < known; ++b) variance += slope[a] * fit.covariance[a * known + b] * slope[b];
  }
  for (std::size_t k = known; k < parameters.size(); ++k)
    variance += std::pow(slope[k] * Coordinate(parameters[k]).prior_sd(), 2);
  return std::max(variance, 0.0);
}

/// What fitted times left, for calls like this one: of its protocol and transport, at the nearest sizes;
/// where there are none, the most of any.
double spread_of(const FitRecord& fit, const ResolvedCall& resolved) {
  const bool shm = transport_name(resolved) != "p2p";
  double best = kUnknownSpread;
  for (const ResidualSpread& spread : fit.spread) best = std::max(best, spread.spread);
  double nearest = -1;
  for (const ResidualSpread& spread : fit.spread) {
    if (spread.protocol != resolved.protocol || (spread.transport == Transport::shm) != shm ||
        spread.launch != resolved.call.launch)
      continue;
    const auto size = static_cast<double>(resolved.call.size.value());
    const double below = std::log(std::max(1.0, static_cast<double>(spread.from.value()) / size));
    const double above = std::log(std::max(1.0, size / static_cast<double>(spread.to.value())));
    const double away = below + above;
    if (nearest >= 0 && away >= nearest) continue;
    nearest = away;
    best = spread.spread;
  }
  return best;
}

bool holds(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

/// How many factors of `base` a value lies outside a range.
double factors_outside(double value, double from, double to, double base) {
  if (from <= 0 || to <= 0) return 0;
  return std::log(std::max({1.0, from / value, value / to})) / std::log(base);
}

/// Adds up the ways in which a call lies outside the data of a fit.
class Outside {
 public:
  Outside(const Machine& machine, const CalibratedRange& range, const ResolvedCall& resolved) {
    const Call& call = resolved.call;
    const std::string kind = call_kind(resolved);
    const std::string links = call_links(machine, resolved);
    if (!holds(range.kinds, kind)) add(kOtherKind, "calls of the kind " + kind + " were not measured");
    if (!holds(range.links, links)) add(kOtherLinks, "links of " + links + " were not measured");
    if (!holds(range.launches, to_string(call.launch)))
      add(kOtherLaunch, std::string("launches in a ") + to_string(call.launch) + " were not measured");
    if (!holds(range.collectives, to_string(call.collective)))
      add(kOtherCollective, std::string(to_string(call.collective)) + " was not measured");
    const auto ranks = static_cast<double>(resolved.order().size());
    const double doublings = factors_outside(ranks, range.ranks_from, range.ranks_to, 2.0);
    if (doublings > 0) {
      add(kEachDoubledRanks * doublings,
          range.ranks_from == range.ranks_to
              ? "only " + std::to_string(range.ranks_from) + " ranks were measured"
              : "only " + std::to_string(range.ranks_from) + " to " + std::to_string(range.ranks_to) +
                    " ranks were measured");
    }
    const auto bytes = static_cast<double>(call.size.value());
    variance_ +=
        std::pow(kEachFactorFour * factors_outside(bytes, static_cast<double>(range.size_from.value()),
                                                   static_cast<double>(range.size_to.value()), 4.0),
                 2);
    variance_ += std::pow(
        kEachFactorFour * factors_outside(resolved.channels, range.channels_from, range.channels_to, 4.0), 2);
  }

  double variance() const { return variance_; }
  const std::vector<std::string>& reasons() const { return reasons_; }

 private:
  void add(double deviation, std::string reason) {
    variance_ += deviation * deviation;
    reasons_.push_back(std::move(reason));
  }

  double variance_ = 0;
  std::vector<std::string> reasons_;
};

}  // namespace

std::vector<double> log_time_derivatives(const Machine& machine, const Profile& profile,
                                         const SchedulePlan& plan, const std::vector<Param>& parameters) {
  const double here = time_with(machine, profile, plan);
  std::vector<double> derivatives;
  for (const Param parameter : parameters) {
    const Coordinate coordinate(parameter);
    const double x = coordinate.of_value(profile.value(parameter));
    const double step = coordinate.beyond(x + kStep) > 0 ? -kStep : kStep;
    Profile moved = profile;
    moved.set(parameter, coordinate.value(x + step));
    derivatives.push_back(std::log(time_with(machine, moved, plan) / here) / step);
  }
  return derivatives;
}

Band band_of(const Machine& machine, const Profile& profile, const SchedulePlan& plan) {
  if (!profile.fit || plan.resolved.work.empty()) return assumed_band(profile, plan.resolved.call.size);
  const Outside outside(machine, profile.fit->range, plan.resolved);
  const double spread = spread_of(*profile.fit, plan.resolved);
  const double known =
      std::sqrt(parameter_variance(machine, profile, plan) + spread * spread + outside.variance());
  Band band;
  band.high =
      std::exp(kBandDeviations * (std::isfinite(known) ? std::min(known, kMostDeviation) : kMostDeviation));
  band.low = 1.0 / band.high;
  for (const std::string& reason : outside.reasons()) {
    band.warnings.push_back({"LC-BAND-01", "outside the data of profile `" + profile.name + "`: " + reason +
                                               "; the band is wider by rule"});
  }
  return band;
}

}  // namespace lanecast
