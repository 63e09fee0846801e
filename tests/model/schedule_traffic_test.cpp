#include "model/predict/schedule_traffic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/model/ring_calls.hpp"
#include "tests/support/machine_builders.hpp"

namespace lanecast {
namespace {

using namespace literals;

constexpr double kSmWeight = (128.0 + 24) / 128;  // facts.md C2, C9: SM stores in 128 B packets
constexpr double kRelative = 1e-12;               // sums of some hundred exact products
constexpr Protocol kProtocols[] = {Protocol::simple, Protocol::ll, Protocol::ll128};

void expect_close(double value, double expected, double relative = kRelative) {
  EXPECT_NEAR(value, expected, relative * expected);
}

std::uint64_t bytes_of(const TurnTotals& totals, TurnAction action) {
  return totals.bytes[static_cast<std::size_t>(action)];
}

ChannelWork whole_loops(int ranks, std::uint64_t loops) {
  ChannelWork work;
  work.ranks = ranks;
  work.chunk_count = 1024;
  work.slices_per_chunk = 2;
  work.count = loops * 1024 * static_cast<std::uint64_t>(ranks);
  return work;
}

TEST(CountTurns, OfAllReduceSendsReducesKeepsAndCopiesAsNcclDoes) {  // facts.md A1
  for (int ranks = 2; ranks <= 9; ++ranks) {
    const TurnTotals totals = count_turns(whole_loops(ranks, 3));
    const std::uint64_t chunk = 3 * 1024 * 4;  // bytes of all loops' chunks of one step
    const auto middle = static_cast<std::uint64_t>(ranks - 2);
    EXPECT_EQ(bytes_of(totals, TurnAction::send), chunk);
    EXPECT_EQ(bytes_of(totals, TurnAction::reduce_send), middle * chunk);
    EXPECT_EQ(bytes_of(totals, TurnAction::reduce_keep_send), chunk);
    EXPECT_EQ(bytes_of(totals, TurnAction::copy_send), middle * chunk);
    EXPECT_EQ(bytes_of(totals, TurnAction::copy), chunk);
    EXPECT_EQ(totals.slices[static_cast<std::size_t>(TurnAction::send)], 3u * 2);
  }
}

TEST(CountTurns, OfManyLoopsIsThatOfEachLoop) {
  for (const std::uint64_t rest : {0u, 1u, 1000u, 4000u}) {  // the last loop is short
    ChannelWork all = whole_loops(4, 50);
    all.count += rest;
    std::uint64_t sent = 0;
    for (int position = 0; position < all.ranks; ++position) {
      all.position = position;
      const TurnTotals totals = count_turns(all);
      for (std::size_t a = 0; a < static_cast<std::size_t>(ring_kinds); ++a) {
        if (sends(static_cast<TurnAction>(a))) sent += totals.bytes[a];
      }
    }
    EXPECT_EQ(sent, 2u * 3u * all.count * 4u) << rest << " elements in the last loop";
  }
}

TEST(WireBytesOfARing, AreTwiceTheSizeLessItsShareOnEachLinkAndDirection) {  // 2(n-1)/n
  for (const Protocol protocol : kProtocols) {
    for (const int ranks : {2, 3, 4, 8}) {
      const auto size = static_cast<double>(ranks) * 23'040'000;  // whole chunks of every protocol's grain
      const SchedulePlan plan =
          plan_of(support::one_switch(ranks),
                  forced_call(Bytes(static_cast<std::uint64_t>(size)), protocol, 2, Transport::p2p));
      const double wire = protocol_traits(protocol).wire_per_payload * kSmWeight;
      const double each_way = 2.0 * (ranks - 1) / ranks * size * wire;
      SCOPED_TRACE(std::string(to_string(protocol)) + ", " + std::to_string(ranks) + " ranks");
      for (int gpu = 0; gpu < ranks; ++gpu) {
        const std::string name = "gpu" + std::to_string(gpu);
        expect_close(wire_bytes_of(plan, name + " up"), each_way,
                     1e-3);  // the last loop's chunks differ by a grain
        expect_close(wire_bytes_of(plan, name + " down"), each_way, 1e-3);
        expect_close(wire_bytes_of(plan, name + " both"), 2 * each_way, 1e-3);
      }
    }
  }
}

TEST(WireBytesOfARing, AddUpExactlyWhateverTheSize) {
  for (const Protocol protocol : kProtocols) {
    for (const std::uint64_t size : {4ull, 1000ull, 65'540ull, 12'345'676ull}) {
      const SchedulePlan plan =
          plan_of(support::one_switch(5), forced_call(Bytes(size), protocol, 3, Transport::p2p));
      double up = 0;
      for (int gpu = 0; gpu < 5; ++gpu) up += wire_bytes_of(plan, "gpu" + std::to_string(gpu) + " up");
      expect_close(
          up, 2.0 * 4 * static_cast<double>(size) * protocol_traits(protocol).wire_per_payload * kSmWeight);
    }
  }
}

TEST(WireBytesOfARing, CrossAnUplinkOnceInEachDirection) {
  const double size = 32 << 20;
  const SchedulePlan plan =
      plan_of(support::two_switches(2), forced_call(32_MiB, Protocol::simple, 2, Transport::p2p));
  const double each_way = 2.0 * 3 / 4 * size * kSmWeight;
  for (const char* name : {"uplink0 up", "uplink0 down", "uplink1 up", "uplink1 down"}) {
    expect_close(wire_bytes_of(plan, name), each_way);
  }
}

TEST(WireBytesOfARing, CrossTheUplinkOnceMoreForEveryRankUnderAcs) {  // facts.md C7
  Machine machine = support::one_switch(4);
  machine.switches[0].acs = true;
  const SchedulePlan plan = plan_of(machine, forced_call(32_MiB, Protocol::simple, 2, Transport::p2p));
  expect_close(wire_bytes_of(plan, "uplink0 up"), 2.0 * 3 * (32 << 20) * kSmWeight);
  expect_close(wire_bytes_of(plan, "uplink0 down"), 2.0 * 3 * (32 << 20) * kSmWeight);
}

TEST(WireBytesOfARing, ThroughHostMemoryAreWrittenOnceAndReadOnce) {  // facts.md A7, SHM
  const SchedulePlan plan =
      plan_of(support::own_roots(4), forced_call(32_MiB, Protocol::simple, 2, Transport::shm));
  const double payload = 2.0 * 3 / 4 * (32 << 20);
  const double store = (128.0 + 24) / 128, load = (128.0 + 20) / 128 / 0.97;  // facts.md C2
  // a block that loads and stores at once is one flow, charged the heavier of its two packets
  const double most = payload * std::max(store, load), least = payload * std::min(store, load);
  for (const char* name : {"gpu0 up", "gpu3 down"}) {
    EXPECT_GE(wire_bytes_of(plan, name), least * (1 - kRelative)) << name;
    EXPECT_LE(wire_bytes_of(plan, name), most * (1 + kRelative)) << name;
  }
  EXPECT_GE(wire_bytes_of(plan, "memory cpu0 both"), 4 * 2 * least * (1 - kRelative));
  EXPECT_LE(wire_bytes_of(plan, "memory cpu0 both"), 4 * 2 * most * (1 + kRelative));
}

TEST(WireBytesOfARing,
     OfTheOtherCollectivesAreTheirOwnShareOfTheSize) {  // facts.md B1: (n-1)/n; 1 for a chain
  struct Row {
    Collective collective;
    double total;  // payload over all links, of the size
  };
  for (const Row& row : {Row{Collective::reduce_scatter, 3}, Row{Collective::all_gather, 3},
                         Row{Collective::broadcast, 3}, Row{Collective::reduce, 3}}) {
    Call call = forced_call(32_MiB, Protocol::simple, 2, Transport::p2p);
    call.collective = row.collective;
    const SchedulePlan plan = plan_of(support::one_switch(4), call);
    double up = 0;
    for (int gpu = 0; gpu < 4; ++gpu) {
      for (const Resource& resource : plan.network.resources) {
        const std::string name = "gpu" + std::to_string(gpu) + " up";
        if (name_of(resource) == name) up += wire_bytes_of(plan, name);
      }
    }
    expect_close(up, row.total * (32 << 20) * kSmWeight);
  }
}

TEST(LinkLimit, IsTheMostLoadedLinkOverItsCapacity) {
  const double size = 32 << 20, ranks = 4;
  const SchedulePlan plan =
      plan_of(support::one_switch(4), forced_call(32_MiB, Protocol::simple, 2, Transport::p2p));
  const double one_way = 16e9 * 16 * 128 / 130 / 8 * 0.98;         // facts.md C1, C9
  const double lost = 0.03 * (256.0 + 24) / (128 + 24);            // duplex, by packets
  const double wire = 2 * (ranks - 1) / ranks * size * kSmWeight;  // each way
  const LinkLimit limit = link_limit(plan.network, resource_wire_bytes(plan));
  expect_close(limit.time.value(), 2 * wire / (2 * one_way * (1 - lost)));
  EXPECT_EQ(plan.network.resources[static_cast<std::size_t>(limit.resource)].direction, "both");
}

TEST(LinkLimit, NamesTheDegradedLink) {
  for (const char* name : {"gpu2", "uplink1"}) {
    Machine machine = support::two_switches(2);
    support::link_named(machine, name).width = 4;
    const SchedulePlan plan = plan_of(machine, forced_call(32_MiB, Protocol::simple, 2, Transport::p2p));
    const auto most = bottleneck(plan.network, resource_wire_bytes(plan), Seconds(1));
    ASSERT_TRUE(most.has_value());
    EXPECT_EQ(most->link, name);
  }
}

TEST(LinkLimit, LeavesOutWhatIsNoLink) {
  const SchedulePlan plan =
      plan_of(support::own_roots(2), forced_call(32_MiB, Protocol::simple, 2, Transport::shm));
  const LinkLimit limit = link_limit(plan.network, resource_wire_bytes(plan));
  ASSERT_GE(limit.resource, 0);
  EXPECT_TRUE(plan.network.resources[static_cast<std::size_t>(limit.resource)].physical);
}

TEST(LinkLimit, OfNothingIsNoLink) {
  const FlowNetwork empty;
  EXPECT_EQ(link_limit(empty, {}).resource, -1);
  EXPECT_FALSE(bottleneck(empty, {}, Seconds(1)).has_value());
}

TEST(Bottleneck, UtilizationIsTheLimitsShareOfTheTime) {
  const SchedulePlan plan =
      plan_of(support::one_switch(2), forced_call(32_MiB, Protocol::simple, 2, Transport::p2p));
  const std::vector<double> wire = resource_wire_bytes(plan);
  const Seconds limit = link_limit(plan.network, wire).time;
  EXPECT_DOUBLE_EQ(bottleneck(plan.network, wire, limit * 4.0)->utilization, 0.25);
}

TEST(LinkLimitProperty, NeverFallsWhenALinkNarrows) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Machine machine = support::random_machine(seed);
    const Call call = forced_call(4_MiB, Protocol::simple, 2, Transport::shm);
    const SchedulePlan whole = plan_of(machine, call);
    const Seconds before = link_limit(whole.network, resource_wire_bytes(whole)).time;
    for (std::size_t i = 0; i < machine.links.size(); ++i) {
      if (machine.links[i].kind != LinkKind::pcie) continue;
      Machine narrow = machine;
      narrow.links[i].width = 1;
      const SchedulePlan plan = plan_of(narrow, call);
      EXPECT_GE(link_limit(plan.network, resource_wire_bytes(plan)).time, before)
          << "seed " << seed << ", link " << machine.links[i].name;
    }
  }
}

TEST(ClosedFormProperty, IsNeverBelowTheLimitOfTheLinks) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (const Protocol protocol : kProtocols) {
      for (const Bytes size : {1_KiB, 1_MiB, 64_MiB}) {
        const SchedulePlan plan = plan_of(support::random_machine(seed), forced_call(size, protocol, 4));
        EXPECT_GT(closed_form_time(plan), link_limit(plan.network, resource_wire_bytes(plan)).time)
            << "seed " << seed << ", " << to_string(protocol) << ", " << size.value() << " B";
      }
    }
  }
}

TEST(ClosedFormProperty, NeverFallsWhenTheSizeDoubles) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Machine machine = support::random_machine(seed);
    for (const Protocol protocol : kProtocols) {
      Seconds before(0);
      for (std::uint64_t size = 8; size <= 1ull << 28; size *= 2) {
        const Seconds now = closed_form_time(plan_of(machine, forced_call(Bytes(size), protocol, 4), seed));
        EXPECT_GE(now, before) << "seed " << seed << ", " << to_string(protocol) << ", " << size << " B";
        before = now;
      }
    }
  }
}

TEST(ClosedFormProperty, NeverFallsWhenTheSizeGrowsWithinOneConfiguration) {  // design.md section 3
  for (const int channels : {1, 4, 16}) {
    for (const Protocol protocol : kProtocols) {
      Seconds before(0);
      std::pair<int, int> blocks_before(0, 0);
      for (std::uint64_t cells = 1; cells < 400; ++cells) {
        const Call call = forced_call(Bytes(cells * 16384), protocol, channels, Transport::p2p);
        const SchedulePlan plan = plan_of(support::one_switch(4), call);
        const std::pair<int, int> blocks(plan.resolved.channels, plan.resolved.threads);
        if (blocks != blocks_before) before = Seconds(0);  // NCCL starts more of them: another configuration
        blocks_before = blocks;
        const Seconds now = closed_form_time(plan);
        EXPECT_GE(now, before) << channels << " channels, " << to_string(protocol) << ", " << cells
                               << " x 16 KiB";
        before = now;
      }
    }
  }
}

}  // namespace
}  // namespace lanecast
