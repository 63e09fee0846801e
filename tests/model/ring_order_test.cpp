#include "model/advice/ring_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "model/error.hpp"
#include "model/predict/plan_call.hpp"
#include "tests/model/ring_calls.hpp"
#include "tests/support/machine_builders.hpp"

namespace lanecast {
namespace {

constexpr double kRelative = 1e-9;  // the loads are counted to 1e-11 or better

std::vector<int> first_gpus(int count) {
  std::vector<int> gpus(static_cast<std::size_t>(count));
  std::iota(gpus.begin(), gpus.end(), 0);
  return gpus;
}

std::vector<int> all_gpus(const Machine& machine) {
  return first_gpus(static_cast<int>(machine.gpus.size()));
}

RingOrders orders_of(const Machine& machine, std::optional<Transport> transport = Transport::p2p) {
  return best_ring_order(machine, Profile(), implementation_from_string("nccl"), transport,
                         all_gpus(machine));
}

RingLoad load_of(const Machine& machine, const std::vector<int>& order,
                 std::optional<Transport> transport = Transport::p2p) {
  return ring_load(machine, Profile(), implementation_from_string("nccl"), transport, order);
}

double gain(const RingLoad& a, const RingLoad& b) { return a.busbw / b.busbw; }

/// Eight cards dealt in turn to the nodes.
void deal(Machine& machine, const std::vector<NodeId>& nodes) {
  for (std::size_t i = 0; i < 8; ++i) support::add_gpu(machine, nodes[i % nodes.size()]);
}

/// Cards 0, 2, 4, 6 below one switch, 1, 3, 5, 7 below the other, the switches' uplinks half as wide as
/// cards.
Machine interleaved_switches() {
  Machine machine;
  const NodeId cpu = support::add_cpu(machine);
  std::vector<NodeId> switches;
  for (int i = 0; i < 2; ++i) {
    const NodeId root = support::add_root(machine, cpu);
    switches.push_back(support::add_switch(machine, root, {PcieRate::gen4, 8}));
  }
  deal(machine, switches);
  return machine;
}

/// Even cards on the root of one socket, odd ones on the other's; 5 GB/s between the sockets.
Machine interleaved_sockets() {
  Machine machine;
  std::vector<NodeId> roots;
  for (int i = 0; i < 2; ++i) roots.push_back(support::add_root(machine, support::add_cpu(machine)));
  deal(machine, roots);
  support::add_socket_link(machine, {NodeKind::cpu, 0}, {NodeKind::cpu, 1}, 5);
  return machine;
}

/// Cards 0 and 4, 1 and 5 ... share a port, which is half as wide as they are, of one switch.
Machine shared_ports() {
  Machine machine;
  const NodeId root = support::add_root(machine, support::add_cpu(machine));
  const NodeId top = support::add_switch(machine, root);
  std::vector<NodeId> leaves;
  for (int i = 0; i < 4; ++i) leaves.push_back(support::add_switch(machine, top, {PcieRate::gen4, 8}));
  deal(machine, leaves);
  return machine;
}

/// Which side of two a card is on changes that often around the ring.
int changes_of_side(const std::vector<int>& order) {
  int changes = 0;
  for (std::size_t i = 0; i < order.size(); ++i)
    changes += order[i] % 2 != order[(i + 1) % order.size()] % 2 ? 1 : 0;
  return changes;
}

TEST(BestRingOrder, CrossesEachOfTwoUplinksOnceInEachDirection) {
  const RingOrders orders = orders_of(support::two_switches(4, {PcieRate::gen4, 16}));
  EXPECT_EQ(orders.best.order, first_gpus(8));
  Machine narrow = support::two_switches(4);
  for (const char* name : {"uplink0", "uplink1"}) support::link_named(narrow, name).width = 4;
  const RingLoad best = orders_of(narrow).best;
  EXPECT_EQ(best.link, "uplink0");
  EXPECT_EQ(best.direction, "both");
  EXPECT_EQ(best.crossings, 2);
}

TEST(BestRingOrder, BeatsTheOrderOfIndicesFourfoldWhereTwoSwitchesAlternate) {
  const RingOrders orders = orders_of(interleaved_switches());
  EXPECT_EQ(changes_of_side(orders.best.order), 2);
  EXPECT_EQ(orders.best.crossings, 2);
  EXPECT_EQ(orders.as_is.crossings, 8);  // four hops up and four down, of eight
  EXPECT_NEAR(gain(orders.best, orders.as_is), 4.0, 4 * kRelative);
  EXPECT_NEAR(gain(orders.as_is, orders.worst), 1.0, kRelative);
  EXPECT_TRUE(orders.exact);
}

TEST(BestRingOrder, CrossesTheSocketLinkOnceInEachDirection) {
  for (const Transport transport : {Transport::p2p, Transport::shm}) {
    const RingOrders orders = orders_of(interleaved_sockets(), transport);
    EXPECT_EQ(changes_of_side(orders.best.order), 2) << to_string(transport);
    EXPECT_EQ(orders.best.link, "upi0") << to_string(transport);
    EXPECT_EQ(orders.as_is.link, "upi0") << to_string(transport);
    EXPECT_NEAR(gain(orders.best, orders.as_is), 4.0, 4 * kRelative) << to_string(transport);
  }
}

TEST(BestRingOrder, VisitsCardsThatShareAPortOneAfterTheOther) {
  const RingOrders orders = orders_of(shared_ports());
  EXPECT_EQ(orders.best.order, (std::vector<int>{0, 1, 5, 2, 6, 3, 7, 4}));  // the first of equals
  EXPECT_EQ(orders.best.crossings, 2);
  EXPECT_EQ(orders.as_is.crossings, 4);  // into either card and out of it
  EXPECT_NEAR(gain(orders.best, orders.as_is), 2.0, 2 * kRelative);
}

TEST(BestRingOrder, UsesEveryNvlinkOfPairsThatPcieJoins) {
  Machine machine = support::own_roots(8);
  for (int i = 0; i < 4; ++i) support::add_nvlink(machine, {NodeKind::gpu, i}, {NodeKind::gpu, i + 4});
  const std::vector<int> best = orders_of(machine).best.order;
  int joined = 0;
  for (std::size_t i = 0; i < 8; ++i) joined += std::abs(best[i] - best[(i + 1) % 8]) == 4 ? 1 : 0;
  EXPECT_EQ(joined, 4);
}

TEST(EveryRingOrder, IsAsGoodWhereNoTwoCardsAreFurtherApartThanOthers) {
  Machine narrow = support::one_switch(8);
  support::link_named(narrow, "gpu3").width = 4;
  for (const Machine& machine :
       {support::one_switch(8), support::with_nvswitch(8), support::one_root(8), narrow}) {
    for (const auto transport : {std::optional<Transport>(), std::optional(Transport::shm)}) {
      const RingOrders orders = orders_of(machine, transport);
      EXPECT_EQ(orders.best.order, first_gpus(8)) << machine.name;
      EXPECT_NEAR(gain(orders.best, orders.worst), 1.0, kRelative) << machine.name;
    }
  }
  EXPECT_EQ(orders_of(narrow).best.link, "gpu3");
}

TEST(BestRingOrder, OfTwoRanksIsTheOnlyOne) {
  const RingOrders orders = orders_of(support::one_switch(2));
  EXPECT_EQ(orders.best.order, first_gpus(2));
  EXPECT_EQ(orders.looked_at, 1u);
}

TEST(BestRingOrder, IsOverTheRanksThatTakePart) {
  const RingOrders orders = best_ring_order(interleaved_switches(), Profile(),
                                            implementation_from_string("nccl"), Transport::p2p, {1, 2, 5, 6});
  EXPECT_EQ(orders.as_is.order, (std::vector<int>{1, 2, 5, 6}));
  EXPECT_EQ(orders.best.order, (std::vector<int>{1, 2, 6, 5}));
}

TEST(BestRingOrder, IsRefusedWhereWhatIsForcedCannotBe) {
  Machine machine = support::one_switch(3);
  machine.p2p.enabled = false;
  EXPECT_THROW(orders_of(machine, Transport::p2p), Error);
  EXPECT_NO_THROW(orders_of(machine, std::nullopt));
}

TEST(BestRingOrder, LooksAtOneOfTheOrdersThatExchangeableCardsMakeEqual) {
  EXPECT_EQ(orders_of(support::one_switch(8)).looked_at, 1u);
  EXPECT_EQ(orders_of(support::two_switches(4)).looked_at, 35u);  // 7! / (3! 4!): the first card is no twin
  EXPECT_EQ(orders_of(support::own_roots(8)).looked_at, 1u);
}

TEST(BestRingOrder, IsExactForSixteenCardsBelowTwoSwitches) {
  const RingOrders orders = orders_of(support::two_switches(8));
  EXPECT_TRUE(orders.exact);
  EXPECT_EQ(orders.looked_at, 6435u);  // 15! / (7! 8!)
  EXPECT_EQ(orders.best.order, first_gpus(16));
}

TEST(BestRingOrder, OfManyCardsGoesDownTheTree) {
  Machine machine = support::nested_switches(8, 8);
  for (int i = 1; i <= 8; ++i) support::link_named(machine, "uplink" + std::to_string(i)).width = 4;
  const RingOrders orders = orders_of(machine);
  EXPECT_FALSE(orders.exact);
  EXPECT_EQ(orders.best.crossings, 2);
  EXPECT_GT(gain(orders.best, orders.worst), 4.0);
}

TEST(RingLoad, IsThatOfAnyRotation) {
  const Machine machine = interleaved_switches();
  const RingLoad load = load_of(machine, {0, 2, 1, 3, 5, 4, 6, 7});
  const RingLoad rotated = load_of(machine, {5, 4, 6, 7, 0, 2, 1, 3});
  EXPECT_EQ(load.order, rotated.order);
  EXPECT_EQ(load.link, rotated.link);
  EXPECT_EQ(load.crossings, rotated.crossings);
  EXPECT_NEAR(gain(load, rotated), 1.0, kRelative);
}

TEST(RingLoad, HasTheLatencyOfEveryHop) {
  const Machine machine = support::one_switch(4);
  const double hop =
      Profile().time(Param::latency_gpu).value() + Profile().time(Param::latency_switch).value();
  EXPECT_NEAR(load_of(machine, first_gpus(4)).latency.value(), 4 * hop, 1e-14);  // rounded to femtoseconds
}

/// What a planned call is told that the links allow.
BytesPerSecond planned_limit(const Machine& machine, const std::vector<int>& order,
                             std::optional<Transport> transport) {
  Call call = forced_call(Bytes(order.size() << 32), Protocol::simple, 2);
  call.transport = transport;
  call.ranks = order;
  call.order_given = true;
  const SchedulePlan plan = plan_of(machine, call);
  const LinkLimit limit = link_limit(plan.network, resource_wire_bytes(plan));
  return (call.size / limit.time) * busbw_factor(call.collective, static_cast<int>(order.size()));
}

TEST(RingLoadProperty, IsTheLimitOfAPlannedCallInThatOrder) {
  std::minstd_rand random(7);
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Machine machine = support::random_machine(seed);
    std::vector<int> order = present_gpus(machine);
    for (std::size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[random() % (i + 1)]);
    for (const auto transport : {std::optional<Transport>(), std::optional(Transport::shm)}) {
      const double planned = planned_limit(machine, order, transport).value();
      EXPECT_NEAR(load_of(machine, order, transport).busbw.value() / planned, 1.0, 1e-6)
          << "seed " << seed;  // the last chunks of a call are not full
    }
  }
}

TEST(RingOrdersProperty, AreBoundedByTheBestAndTheWorst) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Machine machine = support::random_machine(seed);
    const std::vector<int> gpus = present_gpus(machine);
    if (gpus.size() > 8) continue;
    const RingOrders orders =
        best_ring_order(machine, Profile(), implementation_from_string("nccl"), {}, gpus);
    EXPECT_LE(orders.worst.busbw, orders.as_is.busbw) << "seed " << seed;
    EXPECT_LE(orders.as_is.busbw, orders.best.busbw) << "seed " << seed;
    EXPECT_EQ(orders.as_is.order, gpus);
    EXPECT_NEAR(load_of(machine, orders.best.order, {}).busbw / orders.best.busbw, 1.0, kRelative);
  }
}

/// The same machine with its cards numbered backwards.
Machine renumbered(Machine machine) {
  std::reverse(machine.gpus.begin(), machine.gpus.end());
  const int last = static_cast<int>(machine.gpus.size()) - 1;
  for (Link& link : machine.links) {
    for (NodeId* end : {&link.from, &link.to}) {
      if (end->kind == NodeKind::gpu) end->index = last - end->index;
    }
  }
  return machine;
}

TEST(RingOrdersProperty, AllowTheSameHoweverTheCardsAreNumbered) {
  int compared = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Machine machine = support::random_machine(seed);
    if (present_gpus(machine).size() > 8) continue;
    const Machine other = renumbered(machine);
    const Implementation nccl = implementation_from_string("nccl");
    const RingOrders one = best_ring_order(machine, Profile(), nccl, {}, present_gpus(machine));
    const RingOrders two = best_ring_order(other, Profile(), nccl, {}, present_gpus(other));
    EXPECT_NEAR(gain(one.best, two.best), 1.0, kRelative) << "seed " << seed;
    EXPECT_NEAR(gain(one.worst, two.worst), 1.0, kRelative) << "seed " << seed;
    ++compared;
  }
  EXPECT_GT(compared, 15);
}

TEST(ExplainedRingOrder, NamesTheLinkAndHowOftenEitherOrderCrossesIt) {
  const std::string text = explain(orders_of(interleaved_switches()));
  EXPECT_EQ(text.find("0-1-3-5-7-2-4-6 crosses uplink0:both twice, which allows "), 0u) << text;
  EXPECT_NE(text.find("the order of the cards' numbers crosses uplink0:both 8 times, which allows "),
            std::string::npos)
      << text;
}

TEST(ExplainedRingOrder, NamesTheWorstOrderWhereThatOfIndicesIsAsGood) {
  Machine machine = support::two_switches(2);
  for (const char* name : {"uplink0", "uplink1"}) support::link_named(machine, name).width = 4;
  const std::string text = explain(orders_of(machine));
  EXPECT_NE(text.find("; the worst order, 0-2-1-3, crosses uplink0:both 4 times"), std::string::npos) << text;
}

TEST(ExplainedRingOrder, SaysThatNoOrderDiffers) {
  EXPECT_EQ(explain(orders_of(support::one_switch(4))).find("every order loads the links alike: gpu"), 0u);
}

}  // namespace
}  // namespace lanecast
