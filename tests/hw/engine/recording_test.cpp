#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/schedule/ring.hpp"
#include "tests/hw/engine/engine_ranks.hpp"

namespace lanecast {
namespace {

constexpr int kRanks = 4;

EngineJob job() {
  EngineJob all;
  all.ranks = kRanks;
  all.options = patient_options();
  return all;
}

CallChoice one_channel() {
  CallChoice choice;
  choice.algorithm = Algorithm::ring;
  choice.protocol = Protocol::ll;
  choice.channels = 1;
  return choice;
}

/// What a ring all-reduce of n ranks is: design.md, the ring written once.
std::vector<TurnAction> ring_actions() {
  std::vector<TurnAction> actions = {TurnAction::send};
  for (int i = 0; i < kRanks - 2; ++i) actions.push_back(TurnAction::reduce_send);
  actions.push_back(TurnAction::reduce_keep_send);
  for (int i = 0; i < kRanks - 2; ++i) actions.push_back(TurnAction::copy_send);
  actions.push_back(TurnAction::copy);
  return actions;
}

TEST(EngineRecording, HoldsTheStepsOfTheLastCallInTheirOrder) {
  const std::uint64_t count = 4000;  // one loop of four chunks
  const auto outcomes = run_ranks(job(), [&](EngineRank& rank) {
    rank.communicator.record(100);
    EXPECT_EQ(sum_of_ones(rank, count, one_channel()), "");
    EXPECT_EQ(sum_of_ones(rank, count, one_channel()), "");
    const std::vector<SliceRecord> records = rank.communicator.recorded();
    const std::vector<TurnAction> actions = ring_actions();
    ASSERT_EQ(records.size(), actions.size());
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < records.size(); ++i) {
      EXPECT_EQ(records[i].step, static_cast<int>(i));
      EXPECT_EQ(records[i].action, static_cast<int>(actions[i]));
      if (sends(actions[i])) bytes += records[i].bytes;
    }
    EXPECT_EQ(bytes, count * sizeof(float) * 2 * (kRanks - 1) / kRanks);  // what a ring sends of equal chunks
  });
  for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.message, "");
}

TEST(EngineRecording, IsCutWhereItIsFullAndEndsWithZero) {
  const auto outcomes = run_ranks(job(), [](EngineRank& rank) {
    rank.communicator.record(3);
    EXPECT_EQ(sum_of_ones(rank, 4000, one_channel()), "");
    EXPECT_EQ(rank.communicator.recorded().size(), 3u);
    rank.communicator.record(0);
    EXPECT_EQ(sum_of_ones(rank, 4000, one_channel()), "");
    EXPECT_THROW(rank.communicator.recorded(), Error);
  });
  for (const Outcome& outcome : outcomes) {
    EXPECT_EQ(outcome.message, "");
    EXPECT_EQ(outcome.left_behind, 0u);
  }
}

TEST(EngineWay, IsSaidWithoutACall) {
  const auto outcomes = run_ranks(job(), [](EngineRank& rank) {
    Call call;
    call.size = Bytes(4000);
    const ChosenWay way = rank.communicator.way(call, one_channel());
    EXPECT_EQ(way.algorithm, Algorithm::ring);
    EXPECT_EQ(way.protocol, Protocol::ll);
    EXPECT_EQ(way.channels, 1);
    EXPECT_EQ(way.transport, Transport::p2p);
  });
  for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.message, "");
}

TEST(EngineWay, OfOneRankIsACopy) {
  EngineJob alone = job();
  alone.ranks = 1;
  const auto outcomes = run_ranks(alone, [&](EngineRank& rank) {
    Call call;
    call.size = Bytes(4000);
    const ChosenWay way = rank.communicator.way(call, {});
    EXPECT_EQ(way.blocks, 0);  // no kernel of the engine
    EXPECT_EQ(way.staging, Staging::kernels);
  });
  EXPECT_EQ(outcomes[0].message, "");
}

}  // namespace
}  // namespace lanecast
