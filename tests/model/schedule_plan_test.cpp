#include "model/predict/schedule_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/model/ring_calls.hpp"
#include "tests/support/machine_builders.hpp"

namespace lanecast {
namespace {

using namespace literals;

constexpr double kRelative = 1e-12;  // a handful of roundings

const FlowCost& cost_of(const SchedulePlan& plan, std::size_t position, TurnAction action) {
  return plan.positions()[position].flow(action);
}

/// Payload per second of one mean channel.
double payload_rate(const SchedulePlan& plan, TurnAction action) {
  const FlowCost& cost = cost_of(plan, 0, action);
  return cost.rate.value() / cost.wire_per_payload;
}

HopCost hop_of(const Machine& machine, Protocol protocol, std::optional<Transport> transport = {}) {
  Call call = forced_call(1_MiB, protocol, 1);
  call.transport = transport;
  return plan_of(machine, call).positions()[0].to_next();
}

void expect_close(double value, double expected) { EXPECT_NEAR(value, expected, kRelative * expected); }

TEST(ChannelFactors, AverageOneAndLieInTheSpread) {
  for (int channels = 1; channels <= 64; ++channels) {
    for (const std::uint64_t seed : {0u, 1u, 99u}) {
      const std::vector<double> factors = channel_factors(channels, 0.09, seed);
      ASSERT_EQ(factors.size(), static_cast<std::size_t>(channels));
      const double sum = std::accumulate(factors.begin(), factors.end(), 0.0);
      EXPECT_NEAR(sum / channels, 1.0, kRelative) << channels << " channels";
      for (const double factor : factors) {
        EXPECT_GE(factor, 1 - 0.09 - kRelative);
        EXPECT_LE(factor, 1 + 0.09 + kRelative);
      }
    }
  }
}

TEST(ChannelFactors, AreEvenlySpreadWhateverTheSeed) {
  for (const std::uint64_t seed : {0u, 7u}) {
    std::vector<double> factors = channel_factors(5, 0.1, seed);
    std::sort(factors.begin(), factors.end());
    const std::vector<double> expected{0.9, 0.95, 1.0, 1.05, 1.1};
    for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(factors[i], expected[i], kRelative);
  }
}

TEST(ChannelFactors, AreTheSameForTheSameSeedAndDealtAnewForAnother) {
  EXPECT_EQ(channel_factors(16, 0.09, 5), channel_factors(16, 0.09, 5));
  int different = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    different += channel_factors(16, 0.09, seed) != channel_factors(16, 0.09, seed + 1) ? 1 : 0;
  }
  EXPECT_EQ(different, 20);  // two of 16! orders are alike by chance once in 10^13
}

TEST(ChannelFactors, BeginWithTheSlowest) {  // the first channel never has less to do than another
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    EXPECT_NEAR(channel_factors(8, 0.09, seed).front(), 0.91, kRelative);
}

TEST(ChannelFactors, OfOneChannelIsOne) { EXPECT_EQ(channel_factors(1, 0.2, 3), std::vector<double>{1.0}); }

TEST(Hop, OverOneSwitchIsTheGpusAndTheSwitch) {  // facts.md C9
  for (const Protocol protocol : {Protocol::simple, Protocol::ll}) {
    const HopCost hop = hop_of(support::one_switch(2), protocol);
    EXPECT_NEAR(hop.flag.value(), 560e-9 + 115e-9, 1e-15);
    EXPECT_EQ(hop.credit, hop.flag);
  }
}

TEST(Hop, GrowsWithSwitchesRootsAndSockets) {
  const auto flag = [](const Machine& machine) { return hop_of(machine, Protocol::ll, Transport::p2p).flag; };
  EXPECT_LT(flag(support::one_switch(2)), flag(support::nested_switches(2, 1)));
  EXPECT_LT(flag(support::nested_switches(2, 1)), flag(support::two_switches(1)));
  EXPECT_LT(flag(support::own_roots(2)), flag(support::two_sockets()));
  EXPECT_LT(flag(support::own_roots(2)), flag(support::two_switches(1)));
}

TEST(Hop, ThroughHostMemoryIsHalfTheMeasuredRoundTrip) {  // facts.md C5: LL 3.60 us, both GPUs on one socket
  EXPECT_NEAR(hop_of(support::own_roots(2), Protocol::ll, Transport::shm).flag.value(), 1.80e-6, 0.01e-6);
}

TEST(Hop, OverNvlinkIsHalfTheMeasuredRoundTrip) {  // facts.md C5: LL 1.24 us
  EXPECT_NEAR(hop_of(support::nvlink_pair(), Protocol::ll).flag.value(), 0.62e-6, 1e-12);
}

TEST(Hop, FencesOnlyWhereTheFlagIsApartFromTheData) {  // facts.md A3, A4
  for (const Machine& machine : {support::one_switch(2), support::own_roots(2), support::nvlink_pair()}) {
    EXPECT_EQ(hop_of(machine, Protocol::ll).fence, Seconds(0));
    EXPECT_EQ(hop_of(machine, Protocol::ll128).fence, Seconds(0));
    EXPECT_GT(hop_of(machine, Protocol::simple).fence, Seconds(0.5e-6))
        << "a local fence and a flush of the stores";
  }
  EXPECT_FALSE(plan_of(support::one_switch(2), forced_call(1_MiB, Protocol::simple)).flag_in_line);
  EXPECT_TRUE(plan_of(support::one_switch(2), forced_call(1_MiB, Protocol::ll128)).flag_in_line);
}

TEST(
    Rates,
    OfSimpleAtFullThreadsAreThePriors) {  // h200-findings.md: 40, 24, 48 over peers; 45, 19, 21 over the host
  const SchedulePlan peer = plan_of(support::one_switch(4), forced_call(32_MiB));
  expect_close(payload_rate(peer, TurnAction::send), 40e9);
  expect_close(payload_rate(peer, TurnAction::reduce_send), 24e9);
  expect_close(payload_rate(peer, TurnAction::copy), 48e9);
  const SchedulePlan host =
      plan_of(support::one_switch(4), forced_call(32_MiB, Protocol::simple, 2, Transport::shm));
  expect_close(payload_rate(host, TurnAction::send), 45e9);
  expect_close(payload_rate(host, TurnAction::reduce_send), 19e9);
  expect_close(payload_rate(host, TurnAction::copy), 21e9);
}

TEST(Rates, NeverFallWithThreads) {
  for (const Protocol protocol : {Protocol::simple, Protocol::ll, Protocol::ll128}) {
    for (const Transport transport : {Transport::p2p, Transport::shm}) {
      std::array<double, std::size_t{ring_kinds}> before{};
      for (int threads = 64; threads <= protocol_traits(protocol).max_threads; threads *= 2) {
        Call call = forced_call(32_MiB, protocol, 2, transport);
        call.threads = threads;
        const SchedulePlan plan = plan_of(support::one_switch(4), call);
        for (std::size_t a = 0; a < static_cast<std::size_t>(ring_kinds); ++a) {
          const double now = payload_rate(plan, static_cast<TurnAction>(a));
          EXPECT_GE(now, before[a]) << to_string(protocol) << ", action " << a << ", " << threads
                                    << " threads";
          before[a] = now;
        }
      }
    }
  }
}

TEST(Rates, OfSimpleStoresPeakEarlierThanThoseOfReductions) {  // sm-rates.csv: stores at 170 threads
  Call call = forced_call(32_MiB);
  call.threads = 256;
  const SchedulePlan plan = plan_of(support::one_switch(4), call);
  expect_close(payload_rate(plan, TurnAction::send), 40e9);
  expect_close(payload_rate(plan, TurnAction::reduce_send), 24e9 * std::pow(0.5, 0.4));
}

TEST(Rates, OfLlThroughHostMemoryAreFourKibibytesARoundTrip) {  // h200-findings.md: 2.4 to 2.7 GB/s a channel
  const SchedulePlan plan =
      plan_of(support::own_roots(2), forced_call(32_MiB, Protocol::ll, 1, Transport::shm));
  const double rate = payload_rate(plan, TurnAction::reduce_send);
  expect_close(rate, 512 * 8 / 1.5e-6);
  EXPECT_GT(rate, 2.4e9);
  EXPECT_LT(rate, 2.9e9);
}

TEST(Rates, OfLlAreHigherWhileTheWorkingSetStaysInTheL2) {  // h200-findings.md: x 1.46 below 0.62 of the L2
  const auto rate = [](Bytes size, bool in_place, std::optional<Bytes> l2 = 40_MiB) {
    Machine machine = support::one_switch(2);
    for (Gpu& gpu : machine.gpus) gpu.l2 = l2;
    Call call = forced_call(size, Protocol::ll);
    call.in_place = in_place;
    return payload_rate(plan_of(machine, call), TurnAction::reduce_send);
  };
  const double cold = rate(64_MiB, false, std::nullopt);  // an unknown L2 promises nothing
  const auto gain = [](double working_set_mib) {          // half of it left at 0.62 of 40 MiB
    return 1 + 0.46 / (1 + std::pow(working_set_mib / (0.62 * 40), 4));
  };
  for (const std::uint64_t mib : {1u, 8u, 12u, 13u, 64u}) {
    expect_close(rate(Bytes(mib << 20), false), gain(2.0 * static_cast<double>(mib)) * cold);
    expect_close(rate(Bytes(mib << 20), true), gain(static_cast<double>(mib)) * cold);
  }
}

TEST(Rates, OfLlGoByTheWorkingSetThatTheCallNames) {
  Machine machine = support::one_switch(2);
  Call call = forced_call(1_MiB, Protocol::ll);
  call.working_set = 24_MiB;
  const double named = payload_rate(plan_of(machine, call), TurnAction::reduce_send);
  call = forced_call(12_MiB, Protocol::ll);
  expect_close(named, payload_rate(plan_of(machine, call), TurnAction::reduce_send));
}

TEST(Rates, OfLlAreThoseOfTheSmallestL2) {
  Machine small = support::one_switch(2);
  small.gpus[1].l2 = 4_MiB;
  Machine both = small;
  both.gpus[0].l2 = 4_MiB;
  const Call call = forced_call(8_MiB, Protocol::ll);
  expect_close(payload_rate(plan_of(small, call), TurnAction::reduce_send),
               payload_rate(plan_of(both, call), TurnAction::reduce_send));
}

TEST(Registration, MakesTheLastReceiveFreeAndCostsAnExchange) {  // h200-findings.md: about 2.0 us
  Call call = forced_call(32_MiB);
  const SchedulePlan plain = plan_of(support::one_switch(4), call);
  call.registration = Registration::on;
  const SchedulePlan registered = plan_of(support::one_switch(4), call);
  EXPECT_TRUE(registered.resolved.registered);
  EXPECT_EQ(cost_of(registered, 0, TurnAction::copy).rate, BytesPerSecond(0));
  EXPECT_GT(cost_of(plain, 0, TurnAction::copy).rate, BytesPerSecond(0));
  EXPECT_EQ(cost_of(registered, 0, TurnAction::copy_send).rate,
            cost_of(plain, 0, TurnAction::copy_send).rate);
  EXPECT_NEAR((registered.start - plain.start).value(), 2.0e-6, 1e-15);
}

TEST(LaunchTime, DependsOnKernelThreadsAndGraph) {  // h200-findings.md: 3.2, 7.4, 1.4, 2.5, 18 us
  const auto start_us = [](Protocol protocol, int threads, Launch launch, int iterations) {
    Call call = forced_call(32_MiB, protocol);
    call.threads = threads;
    call.launch = launch;
    call.iterations = iterations;
    return plan_of(support::nvlink_pair(), call).start.value() * 1e6;
  };
  const double channels = 0.03;  // the call has two: one more than the first
  EXPECT_NEAR(start_us(Protocol::ll, 512, Launch::stream, 20), 3.2 + 0.5 + channels, 1e-9);
  EXPECT_NEAR(start_us(Protocol::ll, 96, Launch::stream, 20), 3.2 + channels, 1e-9);
  EXPECT_NEAR(start_us(Protocol::ll, 512, Launch::graph, 20), 3.2 + 0.5 + channels + 18.0 / 20, 1e-9);
  EXPECT_NEAR(start_us(Protocol::ll, 512, Launch::graph, 10), 3.2 + 0.5 + channels + 18.0 / 10, 1e-9);
  EXPECT_NEAR(start_us(Protocol::simple, 96, Launch::stream, 20), 7.4 + channels, 1e-9);
  EXPECT_NEAR(start_us(Protocol::simple, 128, Launch::stream, 20), 7.4 + 1.4 + channels, 1e-9);
  EXPECT_NEAR(start_us(Protocol::simple, 512, Launch::stream, 20), 7.4 + 2.5 + channels, 1e-9);
  EXPECT_NEAR(start_us(Protocol::ll128, 640, Launch::stream, 20), 7.4 + 1.0 + channels, 1e-9);
  EXPECT_NEAR(start_us(Protocol::ll128, 320, Launch::stream, 20), 7.4 + channels, 1e-9);
}

TEST(StreamPeriod, IsTheSoftMaximumOfHostAndDevice) {
  const Profile profile;
  const Seconds period = profile.time(Param::stream_period);
  EXPECT_NEAR(with_stream_period(profile, Seconds(1e-3)) / Seconds(1e-3), 1.0, 1e-6);
  EXPECT_NEAR(with_stream_period(profile, Seconds(1e-9)) / period, 1.0, 1e-6);
  EXPECT_GT(with_stream_period(profile, period), period);
}

TEST(SingleRank, IsALaunchAndACopyWhereItIsOutOfPlace) {
  const Profile profile;
  Call call;
  call.size = 600'000'000_B;
  const Seconds out = single_rank_time(profile, call);
  call.in_place = true;
  EXPECT_NEAR((out - single_rank_time(profile, call)).value(), 1e-3, 1e-12);  // 600 GB/s
}

TEST(Lanes, OfPeersLeaveReceivesInsideTheGpu) {
  const SchedulePlan plan = plan_of(support::one_switch(3), forced_call(32_MiB));
  for (std::size_t p = 0; p < 3; ++p) {
    EXPECT_EQ(cost_of(plan, p, TurnAction::copy).lane, -1);
    EXPECT_EQ(cost_of(plan, p, TurnAction::reduce_keep).lane, -1);
    EXPECT_GE(cost_of(plan, p, TurnAction::send).lane, 0);
    EXPECT_EQ(cost_of(plan, p, TurnAction::send).lane, cost_of(plan, p, TurnAction::reduce_send).lane);
  }
}

TEST(Lanes,
     OfARankBetweenHostMemoryAndAPeerCrossBoth) {  // two switches: 0 to 1 by peer access, 1 to 2 by the host
  const SchedulePlan plan = plan_of(support::two_switches(2), forced_call(32_MiB));
  ASSERT_EQ(plan.resolved.links()[3].transport, Transport::shm);
  ASSERT_EQ(plan.resolved.links()[0].transport, Transport::p2p);
  std::vector<std::string> names;
  for (const int r :
       plan.network.lanes[static_cast<std::size_t>(cost_of(plan, 0, TurnAction::reduce_send).lane)]
           .resources) {
    names.push_back(name_of(plan.network.resources[static_cast<std::size_t>(r)]));
  }
  for (const char* crossed : {"gpu0 down", "uplink0 down", "memory cpu0 both", "gpu0 up", "gpu1 down"}) {
    EXPECT_EQ(std::count(names.begin(), names.end(), crossed), 1) << crossed;
  }
}

TEST(Usable, IsThePowerMeanOfDemandAndCapacityForPeerTrafficOnPcie) {
  const SchedulePlan plan = plan_of(support::one_switch(2), forced_call(32_MiB, Protocol::simple, 4));
  const Resource& up = resource_named(plan.network, "gpu0 up");
  const double asked =
      4 * 24e9 * (128.0 + 24) / 128;  // four channels that reduce and send, their factors average 1
  const double capacity = 16e9 * 16 * 128 / 130 / 8 * 0.98;
  expect_close(up.capacity.value(), capacity);
  expect_close(up.usable.value(), std::pow(std::pow(asked, -3) + std::pow(capacity, -3), -1.0 / 3));
}

TEST(UsableProperty, NeverExceedsCapacityAndNeverSlowsASingleBlock) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const SchedulePlan plan = plan_of(support::random_machine(seed), forced_call(4_MiB, Protocol::simple, 1));
    for (const Resource& resource : plan.network.resources) {
      EXPECT_LE(resource.usable, resource.capacity) << name_of(resource) << " of seed " << seed;
      EXPECT_GE(resource.usable, resource.capacity * std::pow(2, -1.0 / 3) * (1 - kRelative))
          << name_of(resource);
    }
  }
}

TEST(Demand, IsTheFastestActionOfEachPositionOverAllChannels) {
  const SchedulePlan plan = plan_of(support::one_switch(2), forced_call(32_MiB, Protocol::simple, 4));
  const std::vector<BytesPerSecond> asked = demand(plan);
  for (std::size_t r = 0; r < asked.size(); ++r) {
    const bool both = plan.network.resources[r].direction == "both";
    expect_close(asked[r].value(),
                 (both ? 2 : 1) * 4 * 40e9 * (128.0 + 24) / 128);  // sends are the fastest: 40 GB/s
  }
}

}  // namespace
}  // namespace lanecast
