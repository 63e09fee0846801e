// Closed forms: turns, bytes and flights of each schedule.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "tests/schedule/symbolic_schedule.hpp"

namespace lanecast::support {
namespace {

constexpr int max_ranks = 33;

int floor_log2(int value) { return std::bit_width(static_cast<unsigned>(value)) - 1; }

SymbolicSchedule ran(const ScheduleShape& shape, Collective collective, int ranks, int root = 0) {
  SymbolicSchedule schedule(channel_of(shape, collective, ranks, root));
  EXPECT_EQ(schedule.run(), "") << describe(shape, collective, ranks);
  return schedule;
}

/// Every rank sends and receives `times` times the data of the call.
void expect_size_fraction(const SymbolicSchedule& schedule, int ranks, int numerator, int denominator) {
  for (int position = 0; position < ranks; ++position) {
    EXPECT_EQ(schedule.parts_sent(position) * denominator, numerator * schedule.parts()) << position;
    EXPECT_EQ(schedule.parts_received(position) * denominator, numerator * schedule.parts()) << position;
  }
}

void expect_steps(const ScheduleShape& shape, Collective collective, int ranks, int steps) {
  for (const ChannelWork& work : channel_of(shape, collective, ranks)) EXPECT_EQ(step_count(work), steps);
}

TEST(ScheduleCost, ARingTakesTwoNLessOneTurnsAndFlightsAndSendsTwoNLessOneOverNOfTheSize) {
  for (int n = 2; n <= max_ranks; ++n) {
    const ScheduleShape ring{Schedule::ring};
    const SymbolicSchedule schedule = ran(ring, Collective::all_reduce, n);
    expect_steps(ring, Collective::all_reduce, n, 2 * n - 1);
    expect_size_fraction(schedule, n, 2 * (n - 1), n);
    EXPECT_EQ(schedule.flights(), 2 * (n - 1));
  }
}

TEST(ScheduleCost, ARingsHalvesAndTwoShotsHalvesMoveNLessOneBlocksInNLessOneFlightsOrOne) {
  for (const Collective half : {Collective::reduce_scatter, Collective::all_gather}) {
    for (int n = 2; n <= max_ranks; ++n) {
      const SymbolicSchedule ring = ran({Schedule::ring}, half, n);
      expect_steps({Schedule::ring}, half, n, n);
      expect_size_fraction(ring, n, n - 1, n);
      EXPECT_EQ(ring.flights(), n - 1);
      const SymbolicSchedule direct = ran({Schedule::two_shot}, half, n);
      expect_steps({Schedule::two_shot}, half, n, n);
      expect_size_fraction(direct, n, n - 1, n);
      EXPECT_EQ(direct.flights(), 1);
    }
  }
}

TEST(ScheduleCost, ARingFromOrToARootIsAChainOfNLessOneFlightsWithoutTheLastConnection) {
  for (int n = 2; n <= max_ranks; ++n) {
    for (int root = 0; root < n; ++root) {
      const SymbolicSchedule broadcast = ran({Schedule::ring}, Collective::broadcast, n, root);
      const SymbolicSchedule reduce = ran({Schedule::ring}, Collective::reduce, n, root);
      EXPECT_EQ(broadcast.flights(), n - 1);
      EXPECT_EQ(reduce.flights(), n - 1);
      for (int position = 0; position < n; ++position) {
        EXPECT_EQ(broadcast.parts_sent(position), (position + 1) % n == root ? 0 : 1);
        EXPECT_EQ(broadcast.parts_received(position), position == root ? 0 : 1);
        EXPECT_EQ(reduce.parts_sent(position), position == root ? 0 : 1);
        EXPECT_EQ(reduce.parts_received(position), (position + n - 1) % n == root ? 0 : 1);
      }
    }
  }
}

TEST(ScheduleCost, OneShotTakesOneFlightAndSendsTheSizeNLessOneTimes) {
  for (int n = 2; n <= max_ranks; ++n) {
    const SymbolicSchedule schedule = ran({Schedule::one_shot}, Collective::all_reduce, n);
    expect_steps({Schedule::one_shot}, Collective::all_reduce, n, 2);
    expect_size_fraction(schedule, n, n - 1, 1);
    EXPECT_EQ(schedule.flights(), 1);
  }
}

TEST(ScheduleCost, TwoShotTakesTwoFlightsAndSendsAsMuchAsARing) {
  for (int n = 2; n <= max_ranks; ++n) {
    const SymbolicSchedule schedule = ran({Schedule::two_shot}, Collective::all_reduce, n);
    expect_steps({Schedule::two_shot}, Collective::all_reduce, n, 2 * n - 1);
    expect_size_fraction(schedule, n, 2 * (n - 1), n);
    EXPECT_EQ(schedule.flights(), 2);
  }
}

TEST(ScheduleCost, HalvingDoublingOfAPowerOfTwoTakesTwoLogNFlightsAndSendsAsMuchAsARing) {
  for (int n = 2; n <= 64; n *= 2) {
    const SymbolicSchedule schedule = ran({Schedule::halving_doubling}, Collective::all_reduce, n);
    expect_steps({Schedule::halving_doubling}, Collective::all_reduce, n, 4 * floor_log2(n));
    expect_size_fraction(schedule, n, 2 * (n - 1), n);
    EXPECT_EQ(schedule.flights(), 2 * floor_log2(n));
  }
}

TEST(ScheduleCost, ARankBeyondThePowerOfTwoAddsTwoFlightsAndTheSizeBothWaysForItAndItsPartner) {
  for (int n = 3; n <= max_ranks; ++n) {
    const int core = 1 << floor_log2(n);
    if (core == n) continue;
    const SymbolicSchedule schedule = ran({Schedule::halving_doubling}, Collective::all_reduce, n);
    EXPECT_EQ(schedule.flights(), 2 * floor_log2(n) + 2);
    for (const ChannelWork& work : channel_of({Schedule::halving_doubling}, Collective::all_reduce, n)) {
      const bool beyond = work.position >= core;
      const bool has_extra = !beyond && work.position + core < n;
      const int parts = (beyond ? 0 : 2 * (core - 1)) + (beyond || has_extra ? core : 0);  // of size / core
      EXPECT_EQ(schedule.parts_sent(work.position), parts);
      EXPECT_EQ(schedule.parts_received(work.position), parts);
      EXPECT_EQ(step_count(work), beyond ? 2 : 4 * floor_log2(core) + (has_extra ? 2 : 0));
    }
  }
}

TEST(ScheduleCost, DoublingOfBlocksMovesThemOneByOneInAsManyFlightsAsARing) {
  // Each block has a turn of its own, and waits for the partner's before it: 1 + 2 + 4 + ... = n - 1.
  for (int n = 2; n <= 64; n *= 2) {
    const SymbolicSchedule schedule = ran({Schedule::halving_doubling}, Collective::all_gather, n);
    expect_steps({Schedule::halving_doubling}, Collective::all_gather, n, 2 * (n - 1));
    expect_size_fraction(schedule, n, n - 1, n);
    EXPECT_EQ(schedule.flights(), n - 1);
  }
}

/// The longest way to a root, in a channel whose works have trees.
int tree_depth(const std::vector<ChannelWork>& strands) {
  std::vector<int> up(static_cast<std::size_t>(strands.at(0).ranks), -1);
  for (const ChannelWork& work : strands) up[static_cast<std::size_t>(work.position)] = work.tree.up;
  int depth = 0;
  for (int position : up) {
    int way = 0;
    for (; position >= 0; position = up[static_cast<std::size_t>(position)]) ++way;
    depth = std::max(depth, way);
  }
  return depth;
}

TEST(ScheduleCost, EveryEdgeOfATreeCarriesTheSizeUpAndDown) {
  for (int n = 2; n <= max_ranks; ++n) {
    for (const ScheduleShape& shape : shapes_for(Collective::broadcast, n)) {
      if (shape.schedule != Schedule::tree) continue;
      const SymbolicSchedule both = ran(shape, Collective::all_reduce, n);
      const SymbolicSchedule down = ran(shape, Collective::broadcast, n);
      const SymbolicSchedule up = ran(shape, Collective::reduce, n);
      for (const ChannelWork& work : channel_of(shape, Collective::broadcast, n)) {
        EXPECT_EQ(step_count(work), 1);
        const int parent = work.tree.up >= 0 ? 1 : 0;
        const int children = work.tree.down.count;
        EXPECT_EQ(both.parts_sent(work.position), parent + children);
        EXPECT_EQ(both.parts_received(work.position), parent + children);
        EXPECT_EQ(down.parts_sent(work.position), children);
        EXPECT_EQ(down.parts_received(work.position), parent);
        EXPECT_EQ(up.parts_sent(work.position), parent);
        EXPECT_EQ(up.parts_received(work.position), children);
      }
      const int depth = tree_depth(channel_of(shape, Collective::all_reduce, n));
      EXPECT_EQ(both.flights(), 2 * depth) << describe(shape, Collective::all_reduce, n);
      EXPECT_EQ(down.flights(), depth);
      EXPECT_EQ(up.flights(), depth);
    }
  }
}

TEST(ScheduleCost, AChainTakesTwoNLessOneFlightsABinaryTreeAboutTwoLogNAStarTwo) {
  for (int n = 2; n <= max_ranks; ++n) {
    EXPECT_EQ(ran({Schedule::tree, TreeShape::chain}, Collective::all_reduce, n).flights(), 2 * (n - 1));
    const int binary = ran({Schedule::tree, TreeShape::binary}, Collective::all_reduce, n).flights();
    EXPECT_LE(binary, 2 * (1 + floor_log2(n)));
    EXPECT_GE(binary, 2 * floor_log2(n));
    EXPECT_EQ(ran({Schedule::tree, TreeShape::star}, Collective::all_reduce, n).flights(), 2);
  }
}

TEST(ScheduleCost, TheCentreOfAStarSendsAndReceivesTheSizeNLessOneTimesTheOthersOnce) {
  for (int n = 2; n <= max_ranks; ++n) {
    const SymbolicSchedule star = ran({Schedule::tree, TreeShape::star}, Collective::all_reduce, n);
    for (int position = 0; position < n; ++position) {
      EXPECT_EQ(star.parts_sent(position), position == 0 ? n - 1 : 1);
      EXPECT_EQ(star.parts_received(position), position == 0 ? n - 1 : 1);
    }
  }
}

/// Parts that the rank at `position` sends to its own group, or to others.
int sent_within(const SymbolicSchedule& schedule, int position, int ranks, int group_ranks, bool within) {
  int parts = 0;
  for (int to = 0; to < ranks; ++to) {
    if ((to / group_ranks == position / group_ranks) == within) parts += schedule.parts_sent(position, to);
  }
  return parts;
}

TEST(ScheduleCost, AHierarchySendsLikeARingWithinItsGroupsAndOneGthOfThatBetweenThem) {
  for (int n = 2; n <= max_ranks; ++n) {
    for (int g = 1; g <= n; ++g) {
      if (n % g != 0) continue;
      const ScheduleShape shape{Schedule::hierarchical, TreeShape::chain, g, false};
      const int m = n / g;
      const SymbolicSchedule schedule = ran(shape, Collective::all_reduce, n);
      ASSERT_EQ(schedule.parts(), n);  // of size / n: size / g = m parts
      for (int position = 0; position < n; ++position) {
        EXPECT_EQ(sent_within(schedule, position, n, g, true), 2 * (g - 1) * m);
        EXPECT_EQ(sent_within(schedule, position, n, g, false), 2 * (m - 1));
        EXPECT_EQ(schedule.parts_received(position), 2 * (g - 1) * m + 2 * (m - 1));
      }
      expect_steps(shape, Collective::all_reduce, n, (g > 1 ? 2 * g : 0) + (m > 1 ? 2 * m - 1 : 0));
      EXPECT_EQ(schedule.flights(), 2 * (g - 1) + 2 * (m - 1));
    }
  }
}

TEST(ScheduleCost, AHierarchyWithAnOuterTreeSendsOneGthOfTheSizeUpAndDownEachEdgeBetweenItsGroups) {
  for (int n = 2; n <= max_ranks; ++n) {
    for (int g = 1; g <= n; ++g) {
      if (n % g != 0) continue;
      const ScheduleShape shape{Schedule::hierarchical, TreeShape::chain, g, true};
      const int m = n / g;
      const SymbolicSchedule schedule = ran(shape, Collective::all_reduce, n);
      ASSERT_EQ(schedule.parts(), g);
      const std::vector<ChannelWork> channel = channel_of(shape, Collective::all_reduce, n);
      for (const ChannelWork& work : channel) {
        const int edges = m == 1 ? 0 : work.tree.down.count + (work.tree.up >= 0 ? 1 : 0);
        EXPECT_EQ(sent_within(schedule, work.position, n, g, true), 2 * (g - 1));
        EXPECT_EQ(sent_within(schedule, work.position, n, g, false), edges);
        const int outer_steps = m == 1 ? 0 : (work.tree.up >= 0 ? 2 : 1);
        EXPECT_EQ(step_count(work), (g > 1 ? 2 * g : 0) + outer_steps);
      }
      EXPECT_EQ(schedule.flights(), 2 * (g - 1) + (m == 1 ? 0 : 2 * tree_depth(channel)));
      EXPECT_LE(schedule.flights(), 2 * (g - 1) + 2 * (1 + floor_log2(m)));
    }
  }
}

TEST(ScheduleCost, NcclsRingOverNodesCrossesBetweenNodesOnceForEachNode) {
  for (const int node_ranks : {2, 4, 8}) {
    const int n = 4 * node_ranks;
    const SymbolicSchedule ring =
        ran({Schedule::ring, TreeShape::chain, node_ranks}, Collective::all_reduce, n);
    for (int position = 0; position < n; ++position) {
      const bool last_of_node = position % node_ranks == node_ranks - 1;
      EXPECT_EQ(sent_within(ring, position, n, node_ranks, false), last_of_node ? 2 * (n - 1) : 0);
    }
  }
}

}  // namespace
}  // namespace lanecast::support
