// How far a prediction may be off: rules, and what a fit's covariance and spread mean for a call.
#include "model/predict/band.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "model/predict/call_kind.hpp"
#include "model/predict/schedule_traffic.hpp"
#include "model/profile/coordinate.hpp"
#include "tests/model/ring_calls.hpp"
#include "tests/support/machine_builders.hpp"

namespace lanecast {
namespace {

using support::nvlink_pair;
using support::one_switch;

constexpr double kRounding = 1e-9;
constexpr double kSpread = 0.08;

/// Every parameter but the band's own.
std::vector<Param> all_parameters() {
  std::vector<Param> all;
  for (std::size_t i = 0; i < parameter_count; ++i) {
    const auto parameter = static_cast<Param>(i);
    if (group_of(parameter) != ParameterGroup::band) all.push_back(parameter);
  }
  return all;
}

ResidualSpread spread_at(Protocol protocol, Transport transport, Bytes from, Bytes to, double spread) {
  ResidualSpread of;
  of.protocol = protocol;
  of.transport = transport;
  of.from = from;
  of.to = to;
  of.spread = spread;
  return of;
}

/// A record of a fit that knows every parameter exactly, to calls like the one below.
FitRecord exact_record() {
  FitRecord fit;
  for (const Param parameter : all_parameters()) {
    FittedParameter fitted;
    fitted.parameter = parameter;
    fit.parameters.push_back(fitted);
  }
  fit.covariance.assign(fit.parameters.size() * fit.parameters.size(), 0.0);
  fit.spread = {spread_at(Protocol::simple, Transport::p2p, Bytes(1024), Bytes(64u << 20), kSpread)};
  fit.range = {4,
               4,
               Bytes(1024),
               Bytes(64u << 20),
               1,
               16,
               {"ring/simple/p2p-pcie"},
               {"gen4 x16"},
               {"graph"},
               {"all_reduce"}};
  return fit;
}

Call usual_call(std::uint64_t size = 1u << 20) { return forced_call(Bytes(size), Protocol::simple, 4); }

Band band_with(const FitRecord& fit, const Call& call = usual_call(),
               const Machine& machine = one_switch(4)) {
  Profile profile;
  profile.name = "fitted";
  profile.fit = fit;
  return band_of(machine, profile, plan_of(machine, call));
}

double deviation_of(const Band& band) { return std::log(band.high) / kBandDeviations; }

std::size_t place_of(const FitRecord& fit, Param parameter) {
  for (std::size_t k = 0; k < fit.parameters.size(); ++k) {
    if (fit.parameters[k].parameter == parameter) return k;
  }
  return fit.parameters.size();
}

TEST(Band, OfAnUnfittedProfileIsTheAssumedOneBySize) {
  const Machine machine = one_switch(4);
  Profile profile;
  profile.set(Param::band_latency, 0.5);
  profile.set(Param::band_bandwidth, 0.2);
  const auto band = [&](std::uint64_t size) {
    return band_of(machine, profile, plan_of(machine, usual_call(size)));
  };
  for (const std::uint64_t small : {1024u, 64u << 10}) {
    EXPECT_NEAR(band(small).high, 1.5, kRounding);
    EXPECT_NEAR(band(small).low, 1 / 1.5, kRounding);
  }
  for (const std::uint64_t large : {4u << 20, 256u << 20}) EXPECT_NEAR(band(large).high, 1.2, kRounding);
  EXPECT_NEAR(band(512u << 10).high, 1.35, kRounding) << "half way, by the logarithm of the size";
  EXPECT_TRUE(band(1024).warnings.empty());
}

TEST(Band, OfAFitThatKnowsItsParametersIsTheSpreadOfItsResiduals) {
  const Band band = band_with(exact_record());
  EXPECT_NEAR(band.high, std::exp(1.645 * kSpread), kRounding);
  EXPECT_NEAR(band.low, std::exp(-1.645 * kSpread), kRounding);
  EXPECT_TRUE(band.warnings.empty());
}

TEST(Band, TakesTheSpreadOfTheNearestSizes) {
  FitRecord fit = exact_record();
  fit.spread = {spread_at(Protocol::ll, Transport::p2p, Bytes(1), Bytes(1u << 30), 0.9),
                spread_at(Protocol::simple, Transport::shm, Bytes(1), Bytes(1u << 30), 0.8),
                spread_at(Protocol::simple, Transport::p2p, Bytes(1024), Bytes(64u << 10), 0.10),
                spread_at(Protocol::simple, Transport::p2p, Bytes(128u << 10), Bytes(64u << 20), 0.02)};
  EXPECT_NEAR(deviation_of(band_with(fit, usual_call(4096))), 0.10, kRounding);
  EXPECT_NEAR(deviation_of(band_with(fit, usual_call(80u << 10))), 0.10, kRounding);
  EXPECT_NEAR(deviation_of(band_with(fit, usual_call(1u << 20))), 0.02, kRounding);
}

TEST(Band, GrowsWithTheCovarianceBySlopes) {
  const Machine machine = one_switch(4);
  const SchedulePlan plan = plan_of(machine, usual_call(65536));
  const std::vector<Param> two{Param::simple_overhead, Param::latency_gpu};
  const std::vector<double> slope = log_time_derivatives(machine, Profile(), plan, two);
  FitRecord fit = exact_record();
  const std::size_t a = place_of(fit, two[0]);
  const std::size_t b = place_of(fit, two[1]);
  const std::size_t n = fit.parameters.size();
  double before = kSpread;
  for (const double sd : {0.1, 0.2, 0.4}) {
    fit.covariance[a * n + a] = sd * sd;
    fit.covariance[b * n + b] = 4 * sd * sd;
    fit.covariance[a * n + b] = fit.covariance[b * n + a] = -sd * sd;
    const double variance =
        sd * sd * (slope[0] * slope[0] + 4 * slope[1] * slope[1] - 2 * slope[0] * slope[1]);
    const double deviation = deviation_of(band_with(fit, usual_call(65536)));
    EXPECT_NEAR(deviation, std::hypot(kSpread, std::sqrt(variance)), kRounding);
    EXPECT_GT(deviation, before);
    before = deviation;
  }
}

TEST(Band, CountsWhatTheFitDoesNotKnowWithItsPrior) {
  const Machine machine = one_switch(4);
  const SchedulePlan plan = plan_of(machine, usual_call(65536));
  FitRecord fit = exact_record();
  std::erase_if(fit.parameters,
                [](const FittedParameter& f) { return f.parameter == Param::simple_overhead; });
  fit.covariance.assign(fit.parameters.size() * fit.parameters.size(), 0.0);
  const double slope = log_time_derivatives(machine, Profile(), plan, {Param::simple_overhead}).front();
  EXPECT_NEAR(deviation_of(band_with(fit, usual_call(65536))),
              std::hypot(kSpread, slope * Coordinate(Param::simple_overhead).prior_sd()), kRounding);
}

TEST(Band, TakesTheDerivativesOfTheClosedForm) {
  const Machine machine = one_switch(4);
  const SchedulePlan plan = plan_of(machine, usual_call());
  const std::vector<Param> all = all_parameters();
  const std::vector<double> slopes = log_time_derivatives(machine, Profile(), plan, all);
  ASSERT_EQ(slopes.size(), all.size());
  const auto log_time = [&](Param parameter, double x) {
    Profile moved;
    moved.set(parameter, Coordinate(parameter).value(x));
    return std::log(closed_form_time(plan_schedule(machine, moved, plan.resolved, plan.seed)).value());
  };
  for (std::size_t k = 0; k < all.size(); ++k) {
    const Coordinate coordinate(all[k]);
    if (info(all[k]).unit == "B") continue;  // packets have whole bytes: there is no slope to compare with
    constexpr double kStep = 1e-4;
    const double x = coordinate.prior();
    const bool above = coordinate.beyond(x + kStep) == 0;
    const bool below = coordinate.beyond(x - kStep) == 0;
    if (!above && !below) continue;
    const double from = below ? x - kStep : x;
    const double to = above ? x + kStep : x;
    const double slope = (log_time(all[k], to) - log_time(all[k], from)) / (to - from);
    // a difference over 1 % of a coordinate; the closed form has kinks where another strand is the slowest
    EXPECT_NEAR(slopes[k], slope, 0.02 * std::abs(slope) + 1e-3) << info(all[k]).name;
  }
}

struct Rule {
  const char* named;  // what the warning must say
  double deviation;   // docs/calibration.md
  std::function<void(FitRecord&, Call&)> leave;
};

TEST(Band, IsWidenedByEachRuleWhichSaysWhatIsOutside) {
  const std::vector<Rule> rules{
      {"ring/simple/p2p-pcie", 0.20, [](FitRecord& f, Call&) { f.range.kinds = {"ring/ll/p2p-pcie"}; }},
      {"gen4 x16", 0.10,
       [](FitRecord& f, Call&) {
         f.range.links = {"gen5 x16", "nvlink"};
       }},
      {"stream", 0.10,
       [](FitRecord& f, Call& c) {
         c.launch = Launch::stream;
         f.spread.front().launch = Launch::stream;
       }},
      {"all_gather", 0.10, [](FitRecord&, Call& c) { c.collective = Collective::all_gather; }},
      {"only 2 ranks", 0.05, [](FitRecord& f, Call&) { f.range.ranks_from = f.range.ranks_to = 2; }},
      {"8 to 16 ranks", 0.05,
       [](FitRecord& f, Call&) {
         f.range.ranks_from = 8;
         f.range.ranks_to = 16;
       }},
  };
  for (const Rule& rule : rules) {
    FitRecord fit = exact_record();
    Call call = usual_call();
    rule.leave(fit, call);
    const Band band = band_with(fit, call);
    EXPECT_NEAR(deviation_of(band), std::hypot(kSpread, rule.deviation), kRounding) << rule.named;
    ASSERT_EQ(band.warnings.size(), 1u) << rule.named;
    EXPECT_EQ(band.warnings.front().code, "LC-BAND-01");
    EXPECT_NE(band.warnings.front().text.find(rule.named), std::string::npos) << band.warnings.front().text;
    EXPECT_NE(band.warnings.front().text.find("`fitted`"), std::string::npos) << band.warnings.front().text;
  }
}

TEST(Band, IsWidenedByEveryDoublingOfRanks) {
  FitRecord fit = exact_record();
  fit.range.ranks_from = fit.range.ranks_to = 2;
  EXPECT_NEAR(deviation_of(band_with(fit, usual_call(), one_switch(16))), std::hypot(kSpread, 3 * 0.05),
              kRounding);
}

TEST(Band, IsWidenedBeyondTheSizesAndChannelsMeasuredWithoutAWarning) {
  FitRecord fit = exact_record();
  fit.range.size_to = Bytes(64u << 10);  // the call is 16 times as large
  EXPECT_NEAR(deviation_of(band_with(fit)), std::hypot(kSpread, 2 * 0.03), kRounding);
  EXPECT_TRUE(band_with(fit).warnings.empty());
  fit = exact_record();
  fit.range.channels_from = 16;  // the call has 4
  EXPECT_NEAR(deviation_of(band_with(fit)), std::hypot(kSpread, 0.03), kRounding);
}

TEST(Band, AddsUpRulesAsVariances) {
  FitRecord fit = exact_record();
  fit.range.links = {"nvlink"};
  fit.range.collectives = {"reduce"};
  const Call call = usual_call();
  const Band band = band_with(fit, call);
  EXPECT_NEAR(deviation_of(band), std::sqrt(kSpread * kSpread + 2 * 0.10 * 0.10), kRounding);
  EXPECT_EQ(band.warnings.size(), 2u);
}

TEST(Band, IsNeverNarrowerOutsideTheDataThanInside) {
  for (const double spread : {0.01, 0.05, 0.25}) {
    FitRecord inside = exact_record();
    inside.spread.front().spread = spread;
    FitRecord outside = inside;  // of LL only: nothing is on record for such a call
    outside.spread.front().protocol = Protocol::ll;
    outside.range.kinds = {"ring/ll/p2p-pcie"};
    EXPECT_GT(deviation_of(band_with(outside)), deviation_of(band_with(inside))) << spread;
    outside = inside;  // of graphs only
    Call call = usual_call();
    call.launch = Launch::stream;
    EXPECT_GT(deviation_of(band_with(outside, call)), deviation_of(band_with(inside))) << spread;
  }
}

TEST(CallKind, SaysAlgorithmProtocolAndClassOfPath) {
  const auto kind = [](const Machine& machine, Protocol protocol, Transport transport) {
    return call_kind(resolve(machine, forced_call(Bytes(1u << 20), protocol, 2, transport)));
  };
  EXPECT_EQ(kind(one_switch(4), Protocol::simple, Transport::p2p), "ring/simple/p2p-pcie");
  EXPECT_EQ(kind(one_switch(4), Protocol::ll, Transport::shm), "ring/ll/shm");
  EXPECT_EQ(kind(nvlink_pair(), Protocol::ll128, Transport::p2p), "ring/ll128/p2p-nvlink");
  Machine pairs = one_switch(4);
  support::add_nvlink(pairs, {NodeKind::gpu, 0}, {NodeKind::gpu, 1});
  EXPECT_EQ(kind(pairs, Protocol::simple, Transport::p2p), "ring/simple/mixed");
  Call tree = usual_call();
  tree.algorithm = Algorithm::tree;
  EXPECT_EQ(call_kind(resolve(one_switch(4), tree)), "tree/simple/p2p-pcie");
}

TEST(CallLinks, NameTheNarrowestPcieLinkOfAGpuThatTakesPart) {
  Machine machine = one_switch(4, {PcieRate::gen5, 16, Bytes(256)});
  const auto links = [&](std::vector<int> ranks) {
    Call call = usual_call();
    call.ranks = std::move(ranks);
    return call_links(machine, resolve(machine, call));
  };
  EXPECT_EQ(links({}), "gen5 x16");
  support::link_named(machine, "gpu2").width = 4;
  EXPECT_EQ(links({}), "gen5 x4");
  EXPECT_EQ(links({0, 1}), "gen5 x16");
  support::link_named(machine, "uplink0").rate = PcieRate::gen1;  // x16: 2.5 GT/s against 8 of gen5 x4
  EXPECT_EQ(links({0, 1}), "gen1 x16");
}

TEST(CallLinks, AreNvlinkWhereAllDataCrossIt) {
  const Machine machine = nvlink_pair();
  Call call = forced_call(Bytes(1u << 20), Protocol::simple, 2, Transport::p2p);
  EXPECT_EQ(call_links(machine, resolve(machine, call)), "nvlink");
  call.transport = Transport::shm;
  EXPECT_EQ(call_links(machine, resolve(machine, call)), "gen4 x16");
}

TEST(TransportName, IsMixedWhereSomeNeighboursTalkThroughHostMemory) {
  const Machine machine = one_switch(2);
  EXPECT_EQ(transport_name(resolve(machine, forced_call(Bytes(4096), Protocol::ll, 1, Transport::p2p))),
            "p2p");
  EXPECT_EQ(transport_name(resolve(machine, forced_call(Bytes(4096), Protocol::ll, 1, Transport::shm))),
            "shm");
  // NVLink pairs on two sockets: within a pair directly, across by host memory
  Machine sockets = support::two_sockets(2);
  support::add_nvlink(sockets, {NodeKind::gpu, 0}, {NodeKind::gpu, 1});
  support::add_nvlink(sockets, {NodeKind::gpu, 2}, {NodeKind::gpu, 3});
  sockets.p2p.level = Distance::pix;
  EXPECT_EQ(transport_name(resolve(sockets, forced_call(Bytes(4096), Protocol::ll, 1))), "mixed");
}

}  // namespace
}  // namespace lanecast
