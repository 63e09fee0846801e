// What each algorithm asks of a machine: groups, orders, connections and bytes on the links, by closed forms.
#include "model/predict/algorithm.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "model/error.hpp"
#include "model/implementation/engine_defaults.hpp"
#include "model/implementation/engine_ways.hpp"
#include "model/implementation/groups.hpp"
#include "model/implementation/nccl/thread_rules.hpp"
#include "model/predict/plan_call.hpp"
#include "tests/model/ring_calls.hpp"
#include "tests/support/machine_builders.hpp"

namespace lanecast {
namespace {

using namespace literals;

constexpr Collective kCollectives[] = {Collective::all_reduce, Collective::reduce_scatter,
                                       Collective::all_gather, Collective::broadcast, Collective::reduce};

Implementation engine() { return implementation_from_string("lanecast"); }

SchedulePlan engine_plan(const Machine& machine, Algorithm algorithm, Bytes size,
                         Collective collective = Collective::all_reduce) {
  Call call = forced_call(size, Protocol::simple, 2, Transport::p2p);
  call.algorithm = algorithm;
  call.collective = collective;
  return plan_call(machine, Profile(), engine(), call, 1);
}

/// Payload bytes on a link, in units of the call's size.
double sizes_on(const SchedulePlan& plan, const std::string& name) {
  const double weight = plan.network.lanes.front().wire_per_payload;
  return wire_bytes_of(plan, name) / weight / static_cast<double>(plan.resolved.call.size.value());
}

void expect_on_every_gpu(const SchedulePlan& plan, double sizes) {
  for (const int gpu : plan.resolved.order()) {
    const std::string name = "gpu" + std::to_string(gpu);
    EXPECT_NEAR(sizes_on(plan, name + " up"), sizes, 1e-3 * sizes) << name;
    EXPECT_NEAR(sizes_on(plan, name + " down"), sizes, 1e-3 * sizes) << name;
  }
}

TEST(AlgorithmNames, AreReadBack) {
  for (const std::string& name : algorithm_names()) {
    const auto algorithm = algorithm_from_string(name);
    ASSERT_TRUE(algorithm.has_value()) << name;
    EXPECT_EQ(to_string(*algorithm), name);
    for (const Algorithm variant : variants_of(*algorithm)) {
      EXPECT_EQ(variants_of(variant), std::vector<Algorithm>{variant}) << "a variant leaves nothing open";
      EXPECT_EQ(family_of(variant), family_of(*algorithm));
    }
  }
  EXPECT_FALSE(algorithm_from_string("rings").has_value());
}

TEST(WireBytes, OfRingTwoShotAndHalvingDoublingAreTwiceTheSizeLessItsShare) {
  for (const int ranks : {2, 4, 8, 16}) {
    for (const Algorithm algorithm : {Algorithm::ring, Algorithm::two_shot, Algorithm::halving_doubling}) {
      SCOPED_TRACE(std::string(to_string(algorithm)) + ", " + std::to_string(ranks) + " ranks");
      expect_on_every_gpu(engine_plan(support::one_switch(ranks), algorithm, 64_MiB),
                          2.0 * (ranks - 1) / ranks);
    }
  }
}

TEST(WireBytes, OfOneShotAreTheSizeForEachOther) {
  for (const int ranks : {2, 3, 8})
    expect_on_every_gpu(engine_plan(support::one_switch(ranks), Algorithm::one_shot, 16_MiB), ranks - 1);
}

TEST(WireBytes, OfAStarAreAllAtItsCentre) {
  const SchedulePlan plan = engine_plan(support::one_switch(8), Algorithm::star, 16_MiB);
  for (const char* way : {" up", " down"}) {
    EXPECT_NEAR(sizes_on(plan, std::string("gpu0") + way), 7.0, 1e-2);
    EXPECT_NEAR(sizes_on(plan, std::string("gpu5") + way), 1.0, 1e-3);
  }
}

TEST(WireBytes, OfTreesAreTheSizeUpAndDownEveryEdge) {
  for (const int ranks : {2, 3, 5, 8}) {
    const SchedulePlan plan = engine_plan(support::one_switch(ranks), Algorithm::tree, 16_MiB);
    double up = 0;
    for (int gpu = 0; gpu < ranks; ++gpu) up += sizes_on(plan, "gpu" + std::to_string(gpu) + " up");
    EXPECT_NEAR(up, 2.0 * (ranks - 1), 1e-2);
  }
}

TEST(WireBytes, OfAHierarchyBetweenGroupsAreLessThanThoseOfARing) {
  const Machine machine = support::two_switches(4);  // 2 groups of 4
  const double ring = sizes_on(engine_plan(machine, Algorithm::ring, 64_MiB), "uplink0 up");
  EXPECT_NEAR(ring, 2.0 * 7 / 8, 1e-2);  // one hop of the ring goes up each uplink
  for (const Algorithm algorithm : {Algorithm::hierarchical_ring, Algorithm::hierarchical_tree}) {
    const SchedulePlan plan = engine_plan(machine, algorithm, 64_MiB);
    EXPECT_EQ(plan.resolved.group_ranks, 4);
    EXPECT_NEAR(sizes_on(plan, "uplink0 up"), 1.0, 1e-2) << to_string(algorithm);  // 2(m-1)/m of it all
  }
}

TEST(WireBytes, OfDirectHalvesAreTheSizeLessItsShare) {
  for (const Collective collective : {Collective::reduce_scatter, Collective::all_gather}) {
    expect_on_every_gpu(engine_plan(support::one_switch(4), Algorithm::two_shot, 64_MiB, collective), 0.75);
  }
  expect_on_every_gpu(
      engine_plan(support::one_switch(4), Algorithm::halving_doubling, 64_MiB, Collective::all_gather), 0.75);
}

TEST(WireBytes, OfPullsCrossTheLinksTheSameWay) {
  const SchedulePlan push = engine_plan(support::one_switch(4), Algorithm::two_shot, 16_MiB);
  const SchedulePlan pull = engine_plan(support::one_switch(4), Algorithm::two_shot_pull, 16_MiB);
  EXPECT_NEAR(sizes_on(push, "gpu1 up"), sizes_on(pull, "gpu1 up"), 1e-3) << "in payload";
}

TEST(EveryAlgorithm, HasAFormOrSaysThatItHasNone) {
  const Machine machine = support::two_switches(3);
  for (const Algorithm algorithm : simulated_algorithms()) {
    for (const Collective collective : kCollectives) {
      const bool form = has_form(algorithm, collective, 6);
      SCOPED_TRACE(std::string(to_string(algorithm)) + ", " + to_string(collective));
      try {
        const SchedulePlan plan = engine_plan(machine, algorithm, Bytes(6 * 4096), collective);
        EXPECT_TRUE(form);
        EXPECT_EQ(plan.resolved.algorithm, algorithm);
      } catch (const Error& error) {
        EXPECT_FALSE(form) << error.what();
        EXPECT_EQ(error.kind(), ErrorKind::usage);
        EXPECT_NE(std::string(error.what()).find(to_string(algorithm)), std::string::npos);
      }
    }
  }
}

TEST(EveryAlgorithm, ConnectsExactlyTheRanksThatExchangeData) {
  for (const Algorithm algorithm : simulated_algorithms()) {
    const SchedulePlan plan = engine_plan(support::two_switches(2), algorithm, 1_MiB);
    std::set<std::pair<int, int>> pairs;
    for (const Connection& link : plan.resolved.connections)
      EXPECT_TRUE(pairs.insert({link.from_gpu, link.to_gpu}).second) << to_string(algorithm);
    std::set<std::pair<int, int>> used;
    for (std::size_t c = 0; c < plan.resolved.work.size(); ++c) {
      const std::vector<int>& order = plan.resolved.ring(c).order;
      for (const ChannelWork& work : plan.resolved.work[c]) {
        for_each_turn(work, [&](const ChannelWork& w, const Turn& turn) {
          for (int k = 0; k < turn.to.count; ++k)
            used.insert({order[static_cast<std::size_t>(w.position)],
                         order[static_cast<std::size_t>(turn.to.at(k))]});
        });
      }
    }
    EXPECT_EQ(pairs, used) << to_string(algorithm);
  }
}

TEST(Pulls, TakeSimpleOnly) {
  Call call = forced_call(1_MiB, Protocol::ll);
  call.algorithm = Algorithm::one_shot_pull;
  EXPECT_THROW(plan_call(support::one_switch(4), Profile(), engine(), call, 1), Error);
}

TEST(DirectExchanges, AreRefusedBeyondTheRanksThatTheyCanConnect) {
  Call call;
  call.size = 1_KiB;
  call.algorithm = Algorithm::two_shot;
  EXPECT_THROW(plan_call(support::one_switch(kMostDirectRanks + 1), Profile(), engine(), call, 1), Error);
}

TEST(Nccl, HasNoDirectExchange) {
  Call call;
  call.size = 1_KiB;
  call.algorithm = Algorithm::one_shot;
  EXPECT_THROW(plan_call(support::one_switch(4), Profile(), implementation_from_string("nccl"), call, 1),
               Error);
}

TEST(NcclTree, IsTheChainOfItsSearch) {
  Call call = forced_call(16_MiB);
  call.algorithm = Algorithm::tree;
  const Machine machine = support::one_switch(4);
  const SchedulePlan plan = plan_call(machine, Profile(), implementation_from_string("nccl"), call, 1);
  EXPECT_EQ(plan.resolved.algorithm, Algorithm::tree);
  for (const ChannelWork& work : plan.resolved.work.front()) {
    EXPECT_EQ(work.tree.up, work.position - 1);
    EXPECT_EQ(work.tree.down.count, work.position == 3 ? 0 : 1);
  }
  EXPECT_EQ(plan.resolved.slices_per_chunk, 1);  // facts.md A2: 1/1 but for Ring and Simple
  EXPECT_EQ(plan.resolved.chunk, 512_KiB);
}

TEST(EngineTree, HasTwoTreesInWhichDifferentRanksPassOn) {
  const SchedulePlan plan = engine_plan(support::one_switch(8), Algorithm::tree, 16_MiB);
  ASSERT_EQ(plan.resolved.rings.size(), 2u);
  EXPECT_EQ(plan.resolved.ring_of, (std::vector<int>{0, 1}));
  for (int gpu = 0; gpu < 8; ++gpu) {
    int inner = 0;
    for (std::size_t c = 0; c < 2; ++c) {
      const std::vector<int>& order = plan.resolved.ring(c).order;
      const auto position =
          static_cast<std::size_t>(std::find(order.begin(), order.end(), gpu) - order.begin());
      if (plan.resolved.work[c][position].tree.down.count > 0) ++inner;
    }
    EXPECT_EQ(inner, 1) << "gpu" << gpu;
  }
}

TEST(Strands, ShareTheThreadsOfABlock) {  // NVIDIA/nccl src/device/all_reduce.h, runTreeSplit
  EXPECT_EQ(strand_threads(Protocol::simple, 512, 0, 2), 320);
  EXPECT_EQ(strand_threads(Protocol::ll, 512, 0, 2), 352);
  EXPECT_EQ(strand_threads(Protocol::ll128, 640, 0, 2), 448);
  for (const Protocol protocol : {Protocol::simple, Protocol::ll, Protocol::ll128}) {
    for (int threads = 32; threads <= 640; threads += 32) {
      const int up = strand_threads(protocol, threads, 0, 2);
      const int down = strand_threads(protocol, threads, 1, 2);
      EXPECT_EQ(up + down, threads);
      EXPECT_GT(up, 0);
      EXPECT_GT(down, 0) << to_string(protocol) << ", " << threads << " threads";
      EXPECT_EQ(strand_threads(protocol, threads, 0, 1), threads);
    }
  }
}

TEST(Groups, AreOfTheCoarsestLevelThatDividesEqually) {
  const auto sizes = [](const Machine& machine) {
    const Groups groups = equal_groups(machine, present_gpus(machine), false);
    return std::pair(groups.groups(), groups.group_ranks);
  };
  EXPECT_EQ(sizes(support::two_switches(4)), std::pair(2, 4));
  EXPECT_EQ(sizes(support::two_sockets(2)), std::pair(2, 2));
  EXPECT_EQ(sizes(support::nested_switches(2, 4)), std::pair(2, 4));
  EXPECT_EQ(sizes(support::one_switch(8)), std::pair(1, 8));
  EXPECT_EQ(sizes(support::own_roots(4)), std::pair(1, 4)) << "groups of one rank are none";
  Machine uneven = support::two_switches(2);
  uneven.gpus[3].present = false;
  EXPECT_EQ(sizes(uneven), std::pair(1, 3));
}

TEST(Groups, AreBroughtTogetherUnlessTheOrderStands) {
  const Machine machine = support::two_switches(2);
  EXPECT_EQ(equal_groups(machine, {0, 2, 1, 3}, false).order, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(equal_groups(machine, {0, 2, 1, 3}, true).groups(), 1);
  EXPECT_EQ(equal_groups(machine, {3, 2, 0, 1}, true).order, (std::vector<int>{3, 2, 0, 1}));
  EXPECT_EQ(equal_groups(machine, {3, 2, 0, 1}, true).groups(), 2);
}

TEST(EngineWays, WeighLl128OnlyWhereAllThatExchangeDataAreJoinedByNvlink) {
  const Machine mesh = support::cube_mesh();  // 0-1-5-4 is a ring of NVLinks; 0 and 5 have none
  Call call;
  call.size = 1_MiB;
  call.ranks = {0, 1, 5, 4};
  call.order_given = true;
  const CommunicatorSetup communicator = open_communicator(mesh, engine(), call);
  for (const EngineWay& way : engine_ways(mesh, communicator, call)) {
    if (way.protocol != Protocol::ll128 || pulls(way.algorithm)) continue;
    EXPECT_EQ(way.refusal.empty(), way.algorithm == Algorithm::ring) << to_string(way.algorithm);
  }
}

TEST(Groups, ThatThereAreNoneOfIsSaid) {
  const auto codes = [](const Machine& machine) {
    return codes_of(engine_plan(machine, Algorithm::hierarchical_ring, 1_MiB).resolved.warnings);
  };
  const auto has = [](const std::vector<std::string>& all) {
    return std::find(all.begin(), all.end(), "LC-GROUP-01") != all.end();
  };
  EXPECT_TRUE(has(codes(support::one_switch(4))));
  EXPECT_FALSE(has(codes(support::two_switches(2))));
}

TEST(EngineKernels, AreAllSpecialised) {  // NCCL's are for LL only (h200-findings.md)
  for (const Protocol protocol : {Protocol::simple, Protocol::ll}) {
    Call call = forced_call(32_MiB, protocol, 1);
    call.registration = Registration::off;
    const Machine machine = support::one_switch(2);
    const Profile profile;
    const auto start = [&](const Implementation& implementation) {
      return launch_time(profile, resolve_call(machine, implementation, call));
    };
    const Seconds saved = start(implementation_from_string("nccl")) - start(engine());
    const double us = protocol == Protocol::ll ? 0.0 : 7.4 - 3.2;
    EXPECT_NEAR(saved.value() * 1e6, us, 1e-9) << to_string(protocol);
  }
}

TEST(EngineWays, LeaveOutWhatOnlyServesAsABaselineOrIsNotSafe) {
  const Machine machine = support::one_switch(4);
  Call call;
  call.size = 1_MiB;
  const CommunicatorSetup communicator = open_communicator(machine, engine(), call);
  std::set<Algorithm> weighed;
  for (const EngineWay& way : engine_ways(machine, communicator, call)) {
    if (way.refusal.empty()) {
      weighed.insert(way.algorithm);
      EXPECT_NE(way.protocol, Protocol::ll128) << "over PCIe";
    }
  }
  EXPECT_EQ(weighed, (std::set<Algorithm>{Algorithm::ring, Algorithm::tree, Algorithm::one_shot,
                                          Algorithm::two_shot, Algorithm::one_shot_pull,
                                          Algorithm::two_shot_pull, Algorithm::halving_doubling}));
}

TEST(CandidatePlans, AreOneWhereNothingIsOpenAndSeveralWhereTheEngineMayChoose) {
  const Machine machine = support::two_switches(4);
  Call call;
  call.size = 64_KiB;
  const CommunicatorSetup communicator = open_communicator(machine, engine(), call);
  const auto plans = [&](const Call& asked) {
    return candidate_plans(machine, Profile(), engine(), communicator, asked, 1);
  };
  EXPECT_GT(plans(call).size(), 1u);
  EXPECT_LE(plans(call).size(), 12u);
  call.algorithm = Algorithm::direct;
  for (const SchedulePlan& plan : plans(call))
    EXPECT_EQ(family_of(plan.resolved.algorithm), Algorithm::direct);
  call.algorithm = Algorithm::ring;
  call.protocol = Protocol::ll;
  EXPECT_EQ(plans(call).size(), 1u);
}

TEST(LinkLimit, OfAStarIsHalfTheRanksTimesThatOfARing) {
  for (const int ranks : {4, 8, 16}) {
    const auto limit = [&](Algorithm algorithm) {
      const SchedulePlan plan = engine_plan(support::one_switch(ranks), algorithm, 64_MiB);
      return link_limit(plan.network, resource_wire_bytes(plan)).time.value();
    };
    EXPECT_NEAR(limit(Algorithm::star) / limit(Algorithm::ring), ranks / 2.0, 1e-2);
  }
}

}  // namespace
}  // namespace lanecast
