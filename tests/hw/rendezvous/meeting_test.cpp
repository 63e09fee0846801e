#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>
#include <vector>

#include "hw/rendezvous/exchange.hpp"
#include "tests/hw/rendezvous/rank_process.hpp"

namespace lanecast {
namespace {

using std::chrono::milliseconds;

/// Long enough for a busy machine; only failures wait that long.
constexpr milliseconds kPatient{10'000};

/// Meets and returns all contributions, one after the other.
std::string meet_and_gather(const MeetingPoint& point, const std::string& mine) {
  const std::unique_ptr<Exchange> exchange = meet(point);
  std::string all;
  for (const std::string& each : exchange->all_gather(mine, "words")) all += each + " ";
  exchange->leave();
  return all;
}

RankProcess gathering(const std::string& job, int rank, int ranks) {
  return RankProcess([=](const RankProcess::Say&) {
    return meet_and_gather({job, rank, ranks, kPatient}, job + std::to_string(rank));
  });
}

class Meeting : public testing::Test {
 protected:
  OwnRuntimeFolder folder_;
};

TEST_F(Meeting, GivesEveryRankEveryContributionByRank) {
  constexpr int kRanks = 8;
  constexpr int kRounds = 200;
  std::vector<RankProcess> processes;
  for (int rank = 0; rank < kRanks; ++rank) {
    processes.emplace_back([=](const RankProcess::Say&) -> std::string {
      const std::unique_ptr<Exchange> exchange = meet({"many", rank, kRanks, kPatient});
      for (int round = 0; round < kRounds; ++round) {
        const auto all = exchange->all_gather(std::to_string(1000 * rank + round), "numbers");
        if (all.size() != kRanks) return "not all came";
        for (int other = 0; other < kRanks; ++other) {
          const std::string& theirs = all[static_cast<std::size_t>(other)];
          if (theirs != std::to_string(1000 * other + round)) return "wrong: " + theirs;
        }
      }
      exchange->leave();
      return "right";
    });
  }
  for (RankProcess& each : processes) EXPECT_EQ(each.hear(), "right");
}

TEST_F(Meeting, OfOneRankNeedsNobody) {
  EXPECT_EQ(meet_and_gather({"alone", 0, 1, milliseconds(100)}, "me"), "me ");
}

TEST_F(Meeting, WaitsForARankZeroThatComesLast) {
  RankProcess first([](const RankProcess::Say& say) {
    say("here");
    return meet_and_gather({"a", 1, 2, kPatient}, "a1");
  });
  ASSERT_EQ(first.hear(), "here");
  RankProcess last = gathering("a", 0, 2);
  EXPECT_EQ(last.hear(), "a0 a1 ");
  EXPECT_EQ(first.hear(), "a0 a1 ");
}

TEST_F(Meeting, WaitsForAnyRankThatComesLast) {
  RankProcess zero = gathering("a", 0, 3);
  RankProcess two = gathering("a", 2, 3);
  ASSERT_TRUE(folder_.appears("a.sock"));
  RankProcess one = gathering("a", 1, 3);
  for (RankProcess* each : {&zero, &one, &two}) EXPECT_EQ(each->hear(), "a0 a1 a2 ");
}

TEST_F(Meeting, KeepsTwoJobsApart) {
  std::vector<RankProcess> processes;
  for (int rank = 0; rank < 3; ++rank) {
    processes.push_back(gathering("a", rank, 3));
    processes.push_back(gathering("b", rank, 3));
  }
  for (std::size_t i = 0; i < processes.size(); ++i) {
    EXPECT_EQ(processes[i].hear(), i % 2 == 0 ? "a0 a1 a2 " : "b0 b1 b2 ");
  }
}

TEST_F(Meeting, CanBeRepeatedUnderOneName) {
  std::vector<RankProcess> processes;
  for (int rank = 0; rank < 3; ++rank) {
    processes.emplace_back([=](const RankProcess::Say&) -> std::string {
      for (int i = 0; i < 30; ++i) {
        if (meet_and_gather({"again", rank, 3, kPatient}, std::to_string(rank)) != "0 1 2 ") return "wrong";
      }
      return "right";
    });
  }
  for (RankProcess& each : processes) EXPECT_EQ(each.hear(), "right");
}

TEST_F(Meeting, IsOpenToItsUserOnlyAndLeavesNoFiles) {
  RankProcess zero = gathering("a", 0, 2);
  ASSERT_TRUE(folder_.appears("a.sock"));
  struct stat facts {};
  ASSERT_EQ(stat(folder_.meeting_file("").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0700U);
  ASSERT_EQ(stat(folder_.meeting_file("a.lock").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0600U);
  RankProcess one = gathering("a", 1, 2);
  EXPECT_EQ(zero.hear(), "a0 a1 ");
  EXPECT_EQ(one.hear(), "a0 a1 ");
  EXPECT_EQ(folder_.files(), 0);
}

TEST_F(Meeting, ClearsAwayWhatAKilledRankZeroLeft) {
  RankProcess crashed = gathering("a", 0, 2);
  ASSERT_TRUE(folder_.appears("a.sock"));
  crashed.kill();
  ASSERT_GT(folder_.files(), 0);
  RankProcess one = gathering("a", 1, 2);
  RankProcess zero = gathering("a", 0, 2);
  EXPECT_EQ(zero.hear(), "a0 a1 ");
  EXPECT_EQ(one.hear(), "a0 a1 ");
  EXPECT_EQ(folder_.files(), 0);
}

}  // namespace
}  // namespace lanecast
